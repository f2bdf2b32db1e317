"""What tokens cost, and the price table's seed."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.prices import (
    LongContext,
    Price,
    cost_of,
    default_model,
    output_within,
    seed_price,
    seed_prices,
    worst_cost_of,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PRICE = Price("m", input=3_000_000, output=15_000_000, cached_input=300_000, cache_write=3_750_000)
LONG = Price(
    "l",
    input=1_000_000,
    output=5_000_000,
    cached_input=100_000,
    long=LongContext(above=200_000, input=2_000_000, output=7_500_000, cached_input=200_000),
)


# An operator's own, dearer where a request is short.
ODD = Price("o", input=4_000_000, output=9_000_000, long=LongContext(1_000, 1_000_000, 2_000_000))


@pytest.mark.parametrize(
    ("tokens", "micro"),
    [
        ({"input_tokens": 0, "output_tokens": 0}, 0),
        ({"input_tokens": 1_000_000, "output_tokens": 0}, 3_000_000),
        ({"input_tokens": 0, "output_tokens": 1_000_000}, 15_000_000),
        ({"input_tokens": 1_000, "output_tokens": 100, "cached": 1_000}, 300 + 1_500),
        ({"input_tokens": 1_000, "output_tokens": 0, "written": 400}, 600 * 3 + 1_500),
        ({"input_tokens": 1_000, "output_tokens": 0, "cached": 500, "written": 500}, 150 + 1_875),
    ],
)
def test_each_kind_of_token_has_its_rate(tokens: dict[str, int], micro: int) -> None:
    assert cost_of(PRICE, **tokens) == micro


def test_a_part_of_a_micro_dollar_is_rounded_up() -> None:
    assert cost_of(Price("m", input=1, output=1), input_tokens=1, output_tokens=0) == 1
    assert cost_of(PRICE, input_tokens=1, output_tokens=0, cached=1) == 1


def test_without_a_cache_rate_cached_tokens_cost_as_input() -> None:
    plain = Price("m", input=2_000_000, output=0)
    assert cost_of(plain, input_tokens=100, output_tokens=0, cached=60, written=40) == 200


def test_a_long_request_pays_the_long_rate_for_all_of_its_tokens() -> None:
    assert cost_of(LONG, input_tokens=200_000, output_tokens=10) == 200_000 + 50
    assert cost_of(LONG, input_tokens=200_001, output_tokens=10) == 400_002 + 75


@pytest.mark.parametrize(
    "tokens",
    [
        {"input_tokens": -1, "output_tokens": 0},
        {"input_tokens": 1, "output_tokens": -1},
        {"input_tokens": 10, "output_tokens": 0, "cached": 6, "written": 5},
        {"input_tokens": 10, "output_tokens": 0, "cached": -1},
    ],
)
def test_counts_that_cant_be_are_refused(tokens: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="negative"):
        cost_of(PRICE, **tokens)


@given(
    bound=st.integers(0, 400_000),
    limit=st.integers(0, 20_000),
    shares=st.tuples(*[st.floats(0, 1)] * 4),
    price=st.sampled_from([PRICE, LONG, ODD]),
)
def test_no_request_within_its_bounds_costs_more_than_its_worst_case(
    bound: int, limit: int, shares: tuple[float, ...], price: Price
) -> None:
    used = int(bound * shares[0])
    cached = int(used * shares[1])
    cost = cost_of(
        price,
        input_tokens=used,
        output_tokens=int(limit * shares[3]),
        cached=cached,
        written=int((used - cached) * shares[2]),
    )
    assert cost <= worst_cost_of(price, input_tokens=bound, output_tokens=limit)


@given(
    bound=st.integers(0, 400_000),
    left=st.integers(0, 2_000_000),
    price=st.sampled_from([PRICE, LONG, ODD]),
)
def test_the_output_that_fits_is_the_most_that_does(bound: int, left: int, price: Price) -> None:
    most = output_within(price, input_tokens=bound, left=left)
    if most >= 0:
        assert worst_cost_of(price, input_tokens=bound, output_tokens=most) <= left
    assert worst_cost_of(price, input_tokens=bound, output_tokens=max(most, -1) + 1) > left


def test_the_seed_prices_the_three_providers() -> None:
    rows = seed_prices(NOW)
    assert {row.provider for row in rows} == {"anthropic", "openai", "google"}
    assert len({(row.provider, row.price.model) for row in rows}) == len(rows) > 50
    for row in rows:
        assert row.price.input > 0
        assert row.price.output > 0
        assert row.source == "genai-prices"


def test_a_seed_row_is_flat_values() -> None:
    rows = {row.price.model: row.columns() for row in seed_prices(NOW)}
    assert rows["claude-sonnet-5-5"] == {
        "provider": "anthropic",
        "model": "claude-sonnet-5-5",
        "input": 2_000_000,
        "output": 10_000_000,
        "cached_input": 100_000,
        "cache_write": 2_500_000,
        "long_above": None,
        "long_input": None,
        "long_output": None,
        "long_cached_input": None,
        "long_cache_write": None,
        "context_window": 1_000_000,
        "source": "genai-prices",
    }
    assert rows["gpt-6.1-terra"]["long_above"] == 272_000


def test_the_seed_holds_only_models_that_can_take_a_turn() -> None:
    names = " ".join(row.price.model for row in seed_prices(NOW))
    for word in ("embedding", "tts", "whisper", "realtime", "image", "moderation"):
        assert word not in names


def test_a_price_that_changes_on_a_date_is_the_one_of_that_date() -> None:
    before = seed_price("google", "gemini-3.8-flash", NOW)
    after = seed_price("google", "gemini-3.8-flash", datetime(2027, 1, 2, tzinfo=UTC))
    assert before is not None
    assert after is not None
    assert after.input == 2 * before.input


def test_a_model_is_found_by_its_dated_name_too() -> None:
    price = seed_price("anthropic", "claude-sonnet-4-5-20250929", NOW)
    assert price is not None
    assert (price.input, price.output, price.cached_input) == (3_000_000, 15_000_000, 300_000)
    assert price.long is not None
    assert (price.long.above, price.long.input) == (200_000, 6_000_000)


def test_an_unknown_model_has_no_price() -> None:
    assert seed_price("anthropic", "claude-of-my-own", NOW) is None
    assert seed_price("openai", "whisper-1", NOW) is None


@pytest.mark.parametrize("provider", ["anthropic", "openai", "google"])
def test_each_providers_default_model_has_a_price(provider: str) -> None:
    name = default_model(provider)
    assert name is not None
    assert seed_price(provider, name, NOW) is not None  # type: ignore[arg-type]
    assert name in {row.price.model for row in seed_prices(NOW)}


def test_a_compatible_server_has_no_default_model() -> None:
    assert default_model("openai-compatible") is None
