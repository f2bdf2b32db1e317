"""`python -m tests.bench`: measure, print a table, and the medians and ratios as JSON."""

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from tests.bench.ground import stand
from tests.bench.report import Result, table
from tests.bench.sizes import LARGE, QUICK, USUAL

MEASUREMENTS = ("scan", "herd", "throughput", "start", "pages", "wake", "rest")


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; 0 also when a goal is missed, since a gap is a finding."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    names = ", ".join(MEASUREMENTS)
    parser.add_argument(
        "--only",
        action="append",
        choices=MEASUREMENTS,
        metavar="NAME",
        help=f"measure only this, and again for more: {names}",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it works")
    parser.add_argument("--large", action="store_true", help="pages at 10,000,000 runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where JSON goes, not stdout")
    asked = parser.parse_args(arguments)
    sizes = QUICK if asked.quick else LARGE if asked.large else USUAL
    results: list[Result] = []
    with stand() as ground:
        for name in asked.only or MEASUREMENTS:
            began = perf_counter()
            new = importlib.import_module(f"tests.bench.{name}").measure(ground, sizes)
            print(f"{name}, {perf_counter() - began:.0f} s\n{table(new)}\n", flush=True)
            results += new
    written = json.dumps({"results": [each.as_json() for each in results]}, indent=2)
    if asked.json:
        asked.json.write_text(f"{written}\n")
    else:
        print(written)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
