"""`python -m tests.chaos`: what comes of the product when it is killed, starved and crowded.

    killed   a process dies before and after the commit of each step: the table (the default)
    crowd    ten scanners and four runners at once, 1,000 occurrences
    outages  a runner killed in a turn; the scanner, Redis and PostgreSQL gone for a while

Each in both ways to run it unless one is named. Each topology runs in a process of its own, since
Django is set up on one database.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence

from tests.chaos.crowd import crowd
from tests.chaos.killed import CASES, SHARE, table
from tests.chaos.outages import outages


def main(arguments: Sequence[str]) -> int:
    """0 when nothing was violated."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="?", default="killed", choices=["killed", "crowd", "outages"])
    parser.add_argument("--topology", choices=["embedded", "production"])
    parser.add_argument("--only", default="", help="cases or faults, separated by commas")
    parser.add_argument("--share", action="store_true", help="what every test run takes")
    parser.add_argument("--list", action="store_true", help="name the cases of the table")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(case.name for case in CASES))
        return 0
    if options.topology is None:
        command = [sys.executable, "-m", "tests.chaos", *arguments, "--topology"]
        each = [
            subprocess.run([*command, name], check=False) for name in ("embedded", "production")
        ]
        return max(done.returncode for done in each)
    names = [name for name in options.only.split(",") if name]
    match options.what:
        case "crowd":
            size = (40, 2, 2) if options.share else (1_000, 10, 4)
            occurrences, scanners, runners = size
            wrong = crowd(
                options.topology, occurrences=occurrences, scanners=scanners, runners=runners
            )
        case "outages":
            wrong = outages(options.topology, names)
        case _:
            wrong = table(options.topology, names or (SHARE if options.share else []))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
