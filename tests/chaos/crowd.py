"""Many scanners and many runners at once make one run of each occurrence."""

import os
import re
import subprocess
import sys
import time
from collections import Counter

from tests.chaos.product import Product, Topology, installed
from tests.fakes.model_provider import FakeProvider, Meter
from tests.running_app import ROOT

_A_MACHINE = 25  # routines that share one
_WAVES = 50  # in five seconds, so that the scanners meet again and again

_SCAN = """
import sys, time
from pathlib import Path
import django
django.setup()
from routines_app.producers.timer import scan
go, fired = Path(sys.argv[1]), 0
print("ready", flush=True)
while not go.exists():
    time.sleep(0.002)
until = time.monotonic() + 10
while time.monotonic() < until:
    fired += scan().fired
print(fired)
"""


def crowd(topology: Topology, *, occurrences: int, scanners: int, runners: int) -> int:
    """Make so many occurrences due within five seconds and count their starts at the model.

    Returns the number of violations.
    """
    more = {"RUNNERS": str(runners), "RUNNER_THREADS": "2"}
    if topology == "embedded":
        more = {"RUNNER_THREADS": str(2 * runners)}
    with (
        FakeProvider((), Meter(bytes_per_token=2.5)) as fake,
        installed(topology, **more) as product,
    ):
        from tests.chaos.rows import Town

        town = Town(fake)
        places = [town.workspace() for _ in range(-(-occurrences // _A_MACHINE))]
        dues = [
            town.due("model", places[number % len(places)], quick=True, check_command="")
            for number in range(occurrences)
        ]
        began = time.monotonic()
        fired = _scanned(product, scanners, [due.routine.pk for due in dues])
        return _judged(topology, fake, [due.token for due in dues], fired, began)


def _scanned(product: Product, scanners: int, routine_ids: list[int]) -> list[int]:
    """Let the product's own scanner and so many more at the same due routines; what each fired."""
    from datetime import timedelta

    from foundation import database_clock
    from routines_app.models import Routine

    go = product.folder / "go"
    others = [
        subprocess.Popen(
            [sys.executable, "-c", _SCAN, str(go)],
            cwd=ROOT,
            env=dict(os.environ),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(scanners)
    ]
    for other in others:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
    now = database_clock.now().replace(microsecond=0)
    elsewhen = now + timedelta(hours=12)
    for wave in range(_WAVES):
        Routine.objects.filter(pk__in=routine_ids[wave::_WAVES]).update(
            enabled=True,
            next_fire_at=now + timedelta(seconds=4 + wave * 5 / _WAVES),
            expressions=[f"{elsewhen.minute} {elsewhen.hour} * * *"],
        )
    go.touch()
    fired = []
    for other in others:
        out, _ = other.communicate(timeout=120)
        assert other.returncode == 0
        fired.append(int(out))
    return fired


def _judged(
    topology: Topology, fake: FakeProvider, tokens: list[str], fired: list[int], began: float
) -> int:
    from routines_app.models import Fire, Run
    from tests.chaos.rows import comes_true

    over = comes_true(lambda: not Run.objects.filter(finished_at__isnull=True).exists(), 1800)
    seconds = time.monotonic() - began
    rows, fires = Run.objects.count(), Fire.objects.count()
    done = Run.objects.filter(status="done_changed").count()
    starts = Counter(re.findall(r"errand-quick-\d+", seen.text)[0] for seen in fake.seen)
    workers = len(set(Fire.objects.values_list("claimed_by", flat=True)))
    twice = sum(count > 1 for count in starts.values())
    wrong = abs(rows - len(tokens)) + abs(fires - len(tokens)) + abs(done - len(tokens))
    wrong += len(starts.keys() ^ set(tokens)) + twice + int(not over)
    print(
        f"{topology}: {len(tokens)} occurrences due in {_WAVES} waves; {len(fired)} more scanners, "
        f"of which {sum(map(bool, fired))} fired some ({sum(fired)} in all); "
        f"taken by {workers} runner processes\n"
        f"  fires {fires}, rows {rows}, done {done}, started at the model {len(starts)}, "
        f"started twice {twice}, in {seconds:.0f} s; {wrong} violations",
        flush=True,
    )
    return wrong
