"""The table of prices: seeded, then the operator's, and what the cap goes by."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from billing.models import ModelPrice
from billing.prices import LongContext, Price, worst_cost_of
from billing.pricing import NotAPrice, forget_price, price_of, seed_price_table, set_price
from routines_app.agents.budget import TurnBudget

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 30, tzinfo=UTC)
OURS = ("anthropic", "claude-sonnet-4-5")
LONG = Price(
    OURS[1], 2_000_000, 10_000_000, 200_000, 2_500_000,
    LongContext(100_000, 4_000_000, 20_000_000, 400_000, 5_000_000),
)  # fmt: skip


def command(*words: str) -> str:
    out = StringIO()
    call_command("set_price", *words, stdout=out)
    return out.getvalue().strip()


def test_the_seed_has_cache_reads_and_writes_and_tiers() -> None:
    seed_price_table(NOW)
    price = price_of(*OURS)
    assert price is not None and price.long is not None
    assert price.cached_input is not None and price.cache_write is not None
    assert price.cached_input < price.input < price.cache_write
    assert price.long.above == 200_000 and price.long.input > price.input


def test_what_an_operator_set_no_seeding_changes() -> None:
    seed_price_table(NOW)
    before = price_of(*OURS)
    said = command(
        *OURS, "2", "10", "--cache-read", "0.2", "--cache-write", "2.5", "--long-above", "100000",
        "--long-input", "4", "--long-output", "20", "--long-cache-read", ".4",
        "--long-cache-write", "5",
    )  # fmt: skip
    assert said == (
        "anthropic claude-sonnet-4-5: $2.00 in, $10.00 out, $0.20 read from the cache, "
        "$2.50 written to the cache, above 100,000 tokens $4.00 in and $20.00 out, "
        "per million tokens."
    )
    assert price_of(*OURS) == LONG
    seed_price_table(NOW)
    assert price_of(*OURS) == LONG
    assert "$3.00 in" in command(*OURS, "--seeded")
    assert price_of(*OURS) == before
    seed_price_table(NOW)
    assert price_of(*OURS) == before


def test_a_model_that_the_seed_lacks_gets_a_price() -> None:
    name = "gpt-of-next-year"
    assert price_of("openai", name) is None
    assert command("openai", name, "0", "0.0000001") == (
        "openai gpt-of-next-year: $0.00 in, $0.000001 out, per million tokens."
    )
    seed_price_table(NOW)
    assert price_of("openai", name) == Price(name, 0, 1)
    assert "no price now, so no run uses it" in command("openai", name, "--seeded")
    assert price_of("openai", name) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("openai", "m"), "Write input, in dollars per million tokens. 0 is a price."),
        (("openai", "m", "1"), "Write output, in dollars"),
        (("openai", "m", "a", "1"), "'a' is no price."),
        (("openai", "m", "NaN", "1"), "'NaN' is no price."),
        (("openai", "m", "1", "1e9"), "'1e9' is no price."),
        (("openai", "m", "1", "1", "--long-input", "2"), "Say with --long-above"),
        (("openai", "m", "1", "1", "--long-above", "9"), "Write --long-input, in dollars"),
        (("custom", "m", "1", "1"), "'custom' has no table of prices. Choose one of: anthropic"),
    ],
)
def test_what_is_no_price_is_said(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError) as refused:
        command(*words)
    assert said in str(refused.value)
    assert not ModelPrice.objects.exists()


def test_no_price_is_below_nothing() -> None:
    assert set_price("openai", Price("m", -1, 0)) == NotAPrice("A price can't be below 0.")
    assert forget_price("openai", "m") is None


def test_a_cap_s_worst_case_goes_by_the_tier_that_the_next_request_may_reach() -> None:
    set_price(OURS[0], LONG)
    price = price_of(*OURS)
    assert price is not None
    # written to the cache is the dearest that input can cost, in either tier
    assert worst_cost_of(price, input_tokens=100_000, output_tokens=1_000) == 260_000
    assert worst_cost_of(price, input_tokens=100_001, output_tokens=1_000) == 520_005
    short, long = TurnBudget(400_000, price), TurnBudget(400_000, price)
    short.add_text(90_000)
    long.add_text(99_000)
    assert short.reserve() is not None  # $0.23 of input and 8,192 tokens of output fit $0.40
    assert long.reserve() is None  # $0.50 of input alone doesn't
