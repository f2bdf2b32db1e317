"""No-op fires a second, by two workers, beside a bare Celery job that writes one row."""

import subprocess
from contextlib import ExitStack
from uuid import uuid4

from django.db import connection

from foundation import database_clock
from routines_app.fires import FireRequest, request_fires
from routines_app.models import Routine, Run
from tests.bench.ground import Ground
from tests.bench.report import Result, median
from tests.bench.rows import doorbell_silent, settle
from tests.bench.scene import machine_each
from tests.bench.sizes import Sizes
from tests.tools import wait_until

_SECONDS = 240
_QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING")


def measure(ground: Ground, sizes: Sizes) -> list[Result]:
    """The peer, claim and record alone, and the whole life of a fire, alternating.

    Each rate is between the first row that was written and the last, by the database's clock,
    so neither the start of the workers nor the sending counts.
    """
    if ground.redis is None:
        return [Result("no-op fires a second", "", "", None, "redis-server isn't installed")]
    ground.use("queue")
    routines = machine_each(sizes.jobs, check="exit 1")
    few = routines[: sizes.whole_jobs]
    bare, taken, whole = [], [], []
    for _ in range(sizes.job_rounds):
        bare.append(_bare(ground, sizes.jobs))
        taken.append(_taken(ground, routines))
        whole.append(_whole(ground, few))
    ratio, whole_ratio = median(taken) / median(bare), median(whole) / median(bare)
    numbers = {
        "bare_per_s": median(bare), "taken_per_s": median(taken), "whole_per_s": median(whole)
    }  # fmt: skip
    return [
        Result(
            "no-op fires, each claimed and recorded, 2 workers",
            "at least 1.0 x a bare Celery + Redis job that writes one row; stretch 1.5 x",
            f"{median(taken):,.0f}/s beside {median(bare):,.0f}/s: {ratio:.2f} x",
            ratio >= 1.0,
            "" if ratio >= 1.0 else _WHY_TAKEN,
            {**numbers, "ratio": ratio},
        ),
        Result(
            "no-op fires, their whole life with a check that exits 1, 2 workers",
            "no goal of its own",
            f"{median(whole):,.0f}/s beside {median(bare):,.0f}/s: {whole_ratio:.2f} x",
            None,
            numbers={**numbers, "ratio": whole_ratio},
        ),
    ]


_WHY_TAKEN = (
    "the job is one insert. A fire is a claim under its machine's lock, an end that is read under "
    "lock, and an end that is written into run, fire and totals. Claims in batches would save a "
    "fifth, but a runner that holds fires it isn't working on keeps them from the others"
)


def _bare(ground: Ground, count: int) -> float:
    from tests.bench import peer

    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE bare_job")
    for number in range(count):
        peer.write_row.delay(number)
    command = ("celery", "-A", "tests.bench.peer", "worker", "-Q", "bare")
    with ground.process("peer", *command, "--pool", "prefork", "--concurrency", "2", *_QUIET):
        wait_until(lambda: _number("SELECT count(*) FROM bare_job") == count, _SECONDS)
    return (count - 1) / _number(
        "SELECT extract(epoch FROM max(started_at) - min(started_at)) FROM bare_job"
    )


def _taken(ground: Ground, routines: list[Routine]) -> float:
    """Two processes claim and record, without a broker between them and the queue."""
    batch = uuid4().hex
    with doorbell_silent():
        _ask(routines, batch)
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                ground.process(
                    f"taker{share}",
                    "tests.bench.taker",
                    str(share),
                    stdin=subprocess.PIPE,
                    DJANGO_SETTINGS_MODULE="routines_app.settings",
                )
            )
            for share in (0, 1)
        ]
        for each in started:
            assert each.stdout is not None
            assert each.stdout.readline() == b"ready\n", ground.said("taker0")
        for each in started:
            assert each.stdin is not None
            each.stdin.write(b"go\n")
            each.stdin.flush()
        codes = [each.wait(_SECONDS) for each in started]
    assert codes == [0, 0], ground.said("taker0") + ground.said("taker1")
    return _rate(batch, len(routines))


def _whole(ground: Ground, routines: list[Routine]) -> float:
    """Two worker processes take each fire from its doorbell to its row."""
    batch = uuid4().hex
    _ask(routines, batch)
    command = ("celery", "-A", "tests.bench.runner", "worker", "-Q", "runner")
    with ground.process("whole", *command, "--pool", "prefork", "--concurrency", "2", *_QUIET):
        wait_until(lambda: _over(batch) == len(routines), _SECONDS)
    return _rate(batch, len(routines))


def _ask(routines: list[Routine], batch: str) -> None:
    now = database_clock.now()
    request_fires([FireRequest(each.pk, "timer", batch, now) for each in routines], now)
    settle("routines_app_fire", "routines_app_run")


def _over(batch: str) -> int:
    return Run.objects.filter(fire__dedup_key=batch, finished_at__isnull=False).count()


def _rate(batch: str, count: int) -> float:
    quiet = Run.objects.filter(fire__dedup_key=batch, status="nothing_to_do").count()
    assert quiet == count, list(Run.objects.values_list("status", "facts")[:3])
    seconds = _number(
        "SELECT extract(epoch FROM max(finished_at) - min(finished_at)) FROM routines_app_run r "
        "JOIN routines_app_fire f ON f.id = r.fire_id WHERE f.dedup_key = %s",
        batch,
    )
    return (count - 1) / seconds


def _number(sql: str, *values: object) -> float:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return float(cursor.fetchone()[0])
