"""The cost cap: whatever a model does, its provider's own meter never shows more than the cap."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from billing.prices import LongContext, Price
from routines_app.agents.budget import MIN_OUTPUT, Tokens, TurnBudget
from routines_app.agents.model import ModelRuntime
from routines_app.agents.turn import TurnOutcome
from tests.agents.support import PROVIDERS, KeptSteps, choice_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import Answer, Fail, FakeProvider, Hang, Meter, Move, call
from tests.fakes.model_wire import Seen

CAPS = (1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000)

# A model that overspends in each way that it can: it talks to its limit, reads much, calls a
# lot at once, and thinks where nobody sees it.
MOVES: tuple[Callable[[int], Move], ...] = (
    lambda number: call("run_command", command=f"seq {3000 + number}"),
    lambda number: Answer(
        text="And another thing. " * 400, calls=(("run_command", {"command": f"seq {number}"}),)
    ),
    lambda number: Answer(thinking=3_000, calls=(("read_file", {"path": "big"}),) * 3),
    lambda number: call("write_file", path="big", text=f"{number}" + 'é"\\\n' * 3_000),
)


def overspender() -> Callable[[Seen], Move]:
    numbers = itertools.count()
    return lambda seen: MOVES[(number := next(numbers)) % len(MOVES)](number)


def take(home: Path, fake: FakeProvider, provider: str, cap: int) -> tuple[TurnOutcome, KeptSteps]:
    steps = KeptSteps()
    runtime = ModelRuntime(pauses=(0.0, 0.0), silence=0.4)
    wanted = request(model=choice_of(fake, provider), cap=cap, seconds=60.0, max_steps=500)
    return runtime.take_turn(wanted, FolderComputer(home), steps), steps


@pytest.mark.parametrize("cap", CAPS)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_endless_spender_stops_beneath_the_cap(tmp_path: Path, provider: str, cap: int) -> None:
    meter = Meter(bytes_per_token=2.5)
    with FakeProvider(overspender(), meter) as fake:
        outcome, steps = take(tmp_path, fake, provider, cap)
    assert outcome.code == "stop_cost"
    assert meter.billed <= outcome.spent <= cap
    assert steps.cost == outcome.spent
    assert outcome.facts["doing"]
    assert fake.problems == []
    if cap >= 250_000:
        assert meter.billed >= cap // 3, "a cap that stops far too early is no use"


@pytest.mark.parametrize("cap", CAPS)
def test_the_greediest_tokenizer_stays_beneath_the_cap_too(tmp_path: Path, cap: int) -> None:
    meter = Meter(bytes_per_token=1.0, written_share=1.0)
    with FakeProvider(overspender(), meter) as fake:
        outcome, _ = take(tmp_path, fake, "anthropic", cap)
    assert outcome.code == "stop_cost"
    assert meter.billed <= outcome.spent <= cap


@pytest.mark.parametrize("cap", CAPS)
def test_tries_that_fail_after_the_work_was_done_stay_beneath_the_cap(
    tmp_path: Path, cap: int
) -> None:
    numbers = itertools.count()
    moves: tuple[Callable[[int], Move], ...] = (
        lambda number: Fail(500, billed=True),
        lambda number: Fail(502, billed=True),
        lambda number: call("run_command", command=f"seq {2000 + number}"),
        lambda number: Fail(500, billed=True),
        lambda number: Answer(text="x" * 4_000, calls=(("list_files", {}),)),
    )

    def script(seen: Seen) -> Move:
        number = next(numbers)
        return moves[number % len(moves)](number)

    with FakeProvider(script, Meter(bytes_per_token=2.0)) as fake:
        outcome, steps = take(tmp_path, fake, "openai-compatible", cap)
    assert outcome.code in ("stop_cost", "fail_model")
    assert fake.meter.billed <= outcome.spent <= cap
    assert steps.cost == outcome.spent


def test_a_hung_request_that_was_billed_is_counted(tmp_path: Path) -> None:
    with FakeProvider([Hang(5.0)] * 3) as fake:
        outcome, steps = take(tmp_path, fake, "openai-compatible", 1_000_000)
    assert outcome.facts["variant"] == "didn't answer after three tries"
    assert 0 < fake.meter.billed <= outcome.spent <= 1_000_000
    assert steps.cost == outcome.spent


def test_a_cap_too_small_for_any_request_sends_none(tmp_path: Path) -> None:
    with FakeProvider() as fake:
        outcome, steps = take(tmp_path, fake, "anthropic", 1_000)
    assert (outcome.code, outcome.spent) == ("stop_cost", 0)
    assert outcome.facts["doing"] == "reading its instructions"
    assert fake.seen == []
    assert steps.steps == []


def test_an_answer_that_the_cap_cut_short_isnt_acted_on(tmp_path: Path) -> None:
    calls = (
        ("write_file", {"path": "half.txt", "text": "whole"}),
        ("write_file", {"path": "rest.txt", "text": "x" * 60_000}),
    )
    script = [Answer(calls=calls)]
    with FakeProvider(script, Meter(bytes_per_token=4.0)) as fake:
        outcome, steps = take(tmp_path, fake, "openai-compatible", 60_000)
    assert outcome.code == "stop_cost"
    assert not (tmp_path / "routines/morning-numbers/half.txt").exists()
    assert steps.cost == outcome.spent > 0


def test_a_call_that_the_length_limit_cut_is_told_to_the_model(tmp_path: Path) -> None:
    script = [call("write_file", path="long.txt", text="x" * 60_000)]
    with FakeProvider(script) as fake:
        outcome, _ = take(tmp_path, fake, "openai-compatible", 1_000_000)
    assert outcome.code == "done_changed"
    assert "cut off" in fake.seen[1].results[0]
    assert "xxxx" not in fake.seen[1].text, "what wasn't used isn't paid for again"
    assert not (tmp_path / "routines/morning-numbers/long.txt").exists()


PRICE = Price("m", input=3_000_000, output=15_000_000, cached_input=300_000, cache_write=3_750_000)


def test_a_reservation_never_costs_more_than_what_is_left() -> None:
    for cap in range(0, 40_000, 613):
        budget = TurnBudget(cap, PRICE)
        budget.add_text(500)
        reservation = budget.reserve()
        if reservation is not None:
            assert reservation.worst <= cap
            assert reservation.max_tokens >= MIN_OUTPUT


@pytest.mark.parametrize(("output", "answer_bytes"), [(5_000, 10), (10, 5_000)])
def test_the_next_request_is_bounded_by_the_last_one_and_its_answer(
    output: int, answer_bytes: int
) -> None:
    budget = TurnBudget(1_000_000, PRICE)
    budget.charge(Tokens(input=20_000, output=output), answer_bytes)
    budget.add_text(700)
    reservation = budget.reserve()
    assert reservation is not None
    assert 25_700 < reservation.input_tokens < 27_000


def test_a_request_that_may_grow_long_is_bounded_at_the_long_rate() -> None:
    long = LongContext(above=200_000, input=6_000_000, output=22_500_000)
    budget = TurnBudget(2_000_000, Price("m", input=3_000_000, output=15_000_000, long=long))
    budget.charge(Tokens(input=190_000, output=1_000), answer_bytes=100)
    budget.add_text(20_000)
    reservation = budget.reserve()
    assert reservation is not None
    assert reservation.worst >= 200_000 * 6


def test_a_free_model_is_never_stopped_for_its_cost() -> None:
    budget = TurnBudget(0, Price("local", input=0, output=0))
    assert budget.reserve() is not None
    budget.charge(Tokens(input=900_000, output=8_000), answer_bytes=9_000)
    assert budget.reserve() is not None
    assert budget.spent == 0


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_text_that_the_length_limit_cut_is_asked_for_again(tmp_path: Path, provider: str) -> None:
    script = [Answer(text="word " * 9_000), Answer(text="In short: four herons.")]
    with FakeProvider(script) as fake:
        outcome, steps = take(tmp_path, fake, provider, 2_000_000)
    assert outcome.code == "done_changed"
    assert outcome.headline == "In short: four herons."
    assert "Use smaller pieces" in fake.seen[1].text
    assert steps.cost == outcome.spent
