"""What one long conversation costs: `python -m tests.agents.memory_cost` prints the tokens and the
cost of runs 1 to 10, fresh beside continued, all within the life of the provider's cache.

The provider is the fake one with prompt caching, over Anthropic's format, and bills what it
counted; each run reads one output of some 3,000 characters, looks once more, and finishes.
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from routines_app.agents.kept import KeptTurn, going_on, size_of
from routines_app.agents.model import ModelRuntime
from routines_app.agents.opening import budget_of, opening_of
from tests.agents.support import KeptSteps, choice_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import Answer, FakeProvider, call, finish
from tests.fakes.model_wire import Seen
from tests.fakes.prefix_cache import PrefixCache

RUNS = 10
CAP = 500_000  # micro-dollars: the usual one, beneath which the bound is met within ten runs


@dataclass(frozen=True)
class Line:
    """One run: tokens as the provider counted them, micro-dollars as it billed them."""

    run: int
    earlier: int
    size: int
    left_out: int
    read: int
    cached: int
    spent: int
    billed: int


def script(seen: Seen) -> Answer:
    """Two looks, then the end: whatever was said in the runs before."""
    mine = len(seen.results) - seen.text.count("which is over. Its instructions were") * 3
    if mine == 0:
        return call("run_command", command="seq 1000 1600")
    return call("list_files", path=".") if mine == 1 else finish("Nothing is amiss.")


def runs(*, continued: bool, cap: int = CAP, count: int = RUNS) -> list[Line]:
    """Take so many turns one after another and say what each came to."""
    lines: list[Line] = []
    turns: tuple[KeptTurn, ...] = ()
    meter = PrefixCache()
    with FakeProvider(script, meter) as fake, tempfile.TemporaryDirectory() as home:
        choice = choice_of(fake, "anthropic")
        assert choice.price is not None
        (Path(home) / "routines/morning-numbers").mkdir(parents=True)
        for number in range(1, count + 1):
            whole = request(model=choice, cap=cap, earlier=turns if continued else None)
            budget = budget_of(whole, opening_of(whole), choice.price)
            stay = going_on(turns, budget) if continued else ()
            wanted = replace(whole, earlier=stay if continued else None)
            before = meter.billed
            outcome = ModelRuntime().take_turn(wanted, FolderComputer(Path(home)), KeptSteps())
            assert outcome.code == "done_changed", outcome
            lines.append(
                Line(
                    run=number,
                    earlier=len(stay),
                    size=size_of(stay),
                    left_out=len(turns) - len(stay),
                    read=outcome.usage.input_tokens,
                    cached=outcome.usage.cached_tokens,
                    spent=outcome.spent,
                    billed=meter.billed - before,
                )
            )
            turns = stay
            if outcome.talk is not None:
                turns = (*stay, KeptTurn(number, outcome.talk))
        assert not fake.problems, fake.problems
        assert meter.asked == meter.requests, "each request asks its provider to cache it"
    return lines


def table(fresh: list[Line], continued: list[Line]) -> str:
    """Both side by side, a line a run."""
    head = f"{'':4}  {'fresh':^26}  {'continued':^50}".rstrip()
    names = (
        f"{'run':>4}  {'read':>8} {'cached':>8} {'cost':>8}  {'goes on from':>12} {'bytes':>7} "
        f"{'read':>8} {'cached':>8} {'cost':>8}  left out"
    )
    rows = [
        f"{a.run:>4}  {a.read:>8,} {a.cached:>8,} {_dollars(a.spent):>8}  {b.earlier:>7} "
        f"run{' ' if b.earlier == 1 else 's'} {b.size:>7,} {b.read:>8,} {b.cached:>8,} "
        f"{_dollars(b.spent):>8}  {b.left_out or ''}".rstrip()
        for a, b in zip(fresh, continued, strict=True)
    ]
    return "\n".join([head, names, *rows])


def _dollars(micro: int) -> str:
    return f"${micro / 1_000_000:.4f}"


def main() -> None:
    """Print the table."""
    print(table(runs(continued=False), runs(continued=True)))


if __name__ == "__main__":
    main()
