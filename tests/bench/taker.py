"""One of two processes that take fires from the queue and record them, without a broker.

`python -m tests.bench.taker SHARE` says "ready", waits for a line, and takes those open fires
whose id leaves SHARE when halved.
"""

import sys

import django

django.setup()

from routines_app.fires import claim_fire, waiting_fires  # noqa: E402
from routines_app.rules.status import RunStatus  # noqa: E402
from routines_app.runner.ending import Ending  # noqa: E402
from routines_app.runner.record import finish  # noqa: E402
from routines_app.runner.run_fire import worker_name  # noqa: E402


def main(share: int) -> None:
    """Take this share of all that waits."""
    fires = [fire_id for fire_id in waiting_fires(limit=1_000_000) if fire_id % 2 == share]
    print("ready", flush=True)
    sys.stdin.readline()
    name = worker_name()
    for fire_id in fires:
        claim = claim_fire(fire_id, name)
        assert claim is not None
        assert finish(claim, Ending(RunStatus.NOTHING_TO_DO))


if __name__ == "__main__":
    main(int(sys.argv[1]))
