"""Run it now: from its row to its start, beside a bare Celery push with its row."""

from uuid import uuid4

from django.db import connection

from routines_app.models import Run
from routines_app.producers.manual import run_it_now
from tests.bench.ground import Ground
from tests.bench.report import Result, median, milliseconds, percentile
from tests.bench.scene import machine_each
from tests.bench.sizes import Sizes
from tests.factories import owner_of
from tests.tools import wait_until

_QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING")
_ROUTINES = 20


def measure(ground: Ground, sizes: Sizes) -> list[Result]:
    """One at a time, alternating, with both workers idle in between."""
    name = "Run it now, from the row to the start"
    if ground.redis is None:
        return [Result(name, "", "", None, "redis-server isn't installed")]
    ground.use("start")
    routines = machine_each(_ROUTINES, check="exit 1")
    people = [owner_of(routine.workspace) for routine in routines]
    ours_worker = ("celery", "-A", "tests.bench.runner", "worker", "-Q", "runner",
                   "--pool", "threads", "--concurrency", "8")  # fmt: skip
    bare_worker = ("celery", "-A", "tests.bench.peer", "worker", "-Q", "bare",
                   "--pool", "prefork", "--concurrency", "2")  # fmt: skip
    bare, ours = [], []
    with (
        ground.process("starter", *ours_worker, *_QUIET),
        ground.process("pusher", *bare_worker, *_QUIET),
    ):
        for turn in range(sizes.starts + 4):
            bare.append(_bare())
            place = turn % _ROUTINES
            run = run_it_now(routines[place], people[place], uuid4().hex)
            wait_until(lambda run=run: Run.objects.get(pk=run.pk).finished_at, 60)  # type: ignore[misc]
            run.refresh_from_db()
            assert run.status == "nothing_to_do", (run.status, run.facts)
            assert run.waking_at is not None
            ours.append((run.waking_at - run.fire.requested_at).total_seconds())
    bare, ours = bare[4:], ours[4:]
    numbers = {
        "bare_p50_s": median(bare),
        "bare_p95_s": percentile(bare, 0.95),
        "ours_p50_s": median(ours),
        "ours_p95_s": percentile(ours, 0.95),
    }
    ratio = numbers["ours_p95_s"] / numbers["bare_p95_s"]
    return [
        Result(
            name,
            "p95 at most 1.5 x a bare Celery push with its row",
            f"p50 {milliseconds(numbers['ours_p50_s'])} beside "
            f"{milliseconds(numbers['bare_p50_s'])}, p95 {milliseconds(numbers['ours_p95_s'])} "
            f"beside {milliseconds(numbers['bare_p95_s'])}: {ratio:.2f} x",
            ratio <= 1.5,
            "" if ratio <= 1.5 else _WHY,
            {
                **numbers,
                "ratio": ratio,
                "ratio_p50": numbers["ours_p50_s"] / numbers["bare_p50_s"],
            },
        )
    ]


_WHY = (
    "the bare job has one insert and one update. Ours commits fire, run and number under the "
    "routine's lock, and claims under the machine's"
)


def _bare() -> float:
    """Seconds from a bare row to its job's start, by the database's clock."""
    from tests.bench import peer

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO bare_job (requested_at) VALUES (clock_timestamp()) RETURNING id"
        )
        row = int(cursor.fetchone()[0])
    peer.start_row.delay(row)
    found: list[float] = []

    def started() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT extract(epoch FROM started_at - requested_at) FROM bare_job WHERE id = %s "
                "AND started_at IS NOT NULL",
                [row],
            )
            found.extend(float(each[0]) for each in cursor.fetchall())
        return bool(found)

    wait_until(started, 60)
    return found[0]
