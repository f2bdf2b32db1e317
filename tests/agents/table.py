"""The cap at scale: `python -m tests.agents.table [--sample N]` takes a turn with each of 500
scripted providers, and with one answer cut at each of its bytes, and prints what came of it.

It ends with 1 when one spent more than its cap by the provider's own meter, or ended otherwise
than it has to.
"""

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.agents.scripted import (
    CLOSING,
    Played,
    Scripted,
    cut_at,
    five_hundred,
    play,
    whole_stream,
)
from tests.fakes.model_provider import FakeProvider

WORKERS = 6


def play_all(scripted: Iterable[Scripted]) -> list[Played]:
    """Take a turn with each, several at a time, in the order given."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as workers:
        homes = (Path(folder) / str(number) for number in range(1_000_000))

        def one(each: tuple[Scripted, Path]) -> Played:
            each[1].mkdir()
            return play(*each)

        return list(workers.map(one, zip(scripted, homes, strict=False)))


def play_cuts(wire: str, each: int = 1) -> list[Played]:
    """One answer of a format, cut at each `each`-th of its bytes and whole.

    A cut before its closing mark must fail. After it there's one place from which on it counts as
    whole: `status` is what the cut has to end as, given where that place turned out to be.
    """
    with tempfile.TemporaryDirectory() as folder, FakeProvider() as fake:
        home = Path(folder)
        stream = whole_stream(wire, home)
        mark = stream.index(CLOSING[wire])
        places = sorted({*range(0, len(stream), each), len(stream)})
        found: list[Played] = []
        status = "fail_model"
        for place in places:
            played = play(cut_at(place, wire, status), home, fake)
            if place > mark and played.status == "done_changed" and status == "fail_model":
                status = "done_changed"  # and it stays so for each longer one
                played = play(cut_at(place, wire, status), home, fake)
            found.append(played)
        assert status == "done_changed", f"The whole answer in {wire} wasn't taken."
        return found


def print_table(played: list[Played]) -> None:
    """A line for each shape: how many, what they ended as, and the worst share of a cap."""
    shapes: dict[str, list[Played]] = defaultdict(list)
    for each in played:
        shapes[each.scripted.shape].append(each)
    print(f"{'shape':42} {'count':>6}  {'status':24} {'requests':>8} {'worst spent/cap':>16}")
    for shape, group in shapes.items():
        statuses = ", ".join(sorted({each.status for each in group}))
        worst = max(each.spent / each.scripted.cap for each in group)
        requests = sum(each.requests for each in group)
        print(f"{shape:42} {len(group):>6}  {statuses:24} {requests:>8} {worst:>15.1%}")


def main() -> int:
    """Play them, print the table, and say what isn't as it has to be."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--sample", type=int, default=1, help="only each Nth provider and byte")
    each = parser.parse_args().sample
    began = time.monotonic()
    played = play_all(five_hundred()[::each])
    scripts = len(played)
    with ThreadPoolExecutor(len(CLOSING)) as workers:
        for cuts in workers.map(lambda wire: play_cuts(wire, each), CLOSING):
            played += cuts
    print_table(played)
    wrong = [(each, fault) for each in played for fault in each.faults]
    for one, fault in wrong:
        print(f"WRONG: {one.scripted.shape}, {one.scripted.wire}, {one.scripted.rate}: {fault}")
    print(
        f"{scripts} scripted providers and {len(played) - scripts} cuts: "
        f"{len(played) - len({id(one) for one, _ in wrong})} of {len(played)} as they have to be, "
        f"{sum(one.billed for one in played) / 1e6:,.2f} dollars billed, "
        f"{sum(one.spent for one in played) / 1e6:,.2f} counted, "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
