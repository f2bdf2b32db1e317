"""`python -m tests.chaos`: what comes of the product when it is killed, starved and crowded.

Without more, the table of `killed` in both ways to run it. Each topology runs in a process of
its own, since Django is set up on one database.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence

from tests.chaos.killed import CASES, SHARE, table


def main(arguments: Sequence[str]) -> int:
    """0 when nothing was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("topology", nargs="*", help="embedded, production; both if none is named")
    parser.add_argument("--only", help="cases, separated by commas; --list names them")
    parser.add_argument("--share", action="store_true", help="the cases of every test run")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(case.name for case in CASES))
        return 0
    topologies = options.topology or ["embedded", "production"]
    if len(topologies) > 1:
        rest = [word for word in arguments if word not in topologies]
        commands = [[sys.executable, "-m", "tests.chaos", one, *rest] for one in topologies]
        return max(subprocess.run(command, check=False).returncode for command in commands)
    names = options.only.split(",") if options.only else SHARE if options.share else []
    return int(table(topologies[0], names) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
