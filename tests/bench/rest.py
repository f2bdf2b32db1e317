"""The embedded set at rest: how much memory it has, and how late a scheduled fire is."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import sleep

from django.db import connection

from foundation import clock, postgres
from foundation.embedded import DATABASE
from routines_app.models import Routine, Run
from tests.bench.ground import Ground
from tests.bench.report import Result, median, percentile
from tests.bench.sizes import Sizes
from tests.factories import make_machine, make_routine, make_workspace
from tests.running_app import RunningApp
from tests.tools import free_port

_MOST_MEGABYTES = 350
_EVERY = 5
"""Seconds between two occurrences of one routine; as many routines make one a second."""


def measure(ground: Ground, sizes: Sizes) -> list[Result]:
    """`manage.py up` in a folder of its own, looked at from beside it."""
    var = ground.folder / "embedded"
    app = RunningApp(var, free_port())
    app.start()
    try:
        server = postgres.running_server(var / "postgres")
        assert server is not None and app.process is not None
        assert app.answers()
        sleep(min(sizes.rest_seconds, 15))
        python = _megabytes(app.process.pid, apart_from=server.pid)
        database = _megabytes(server.pid)
        late = _lateness(server, sizes.rest_seconds)
        after = _megabytes(app.process.pid, apart_from=server.pid) + _megabytes(server.pid)
    finally:
        app.stop()
    return [_memory(python, database, after), _late(late)]


def _memory(python: float, database: float, after: float) -> Result:
    whole = python + database
    return Result(
        "memory of the embedded set at rest",
        f"at most {_MOST_MEGABYTES} MB",
        f"{whole:.0f} MB: process {python:.0f}, PostgreSQL {database:.0f} "
        f"(after a minute of runs {after:.0f})",
        whole <= _MOST_MEGABYTES,
        numbers={"process_mb": python, "postgres_mb": database, "after_runs_mb": after},
    )


def _late(late: list[tuple[float, float]]) -> Result:
    asked, started = [each[0] for each in late], [each[1] for each in late]
    p99 = percentile(started, 0.99)
    return Result(
        "lateness of a scheduled fire at rest",
        "p99 at most 2 s",
        f"p99 {p99:.2f} s to its start, {percentile(asked, 0.99):.2f} s to its row; "
        f"p50 {median(started):.2f} s; {len(late)} fires",
        p99 <= 2,
        numbers={
            "start_p99_s": p99,
            "start_p50_s": median(started),
            "row_p99_s": percentile(asked, 0.99),
            "fires": len(late),
        },
    )


def _lateness(server: postgres.Server, seconds: int) -> list[tuple[float, float]]:
    """Seconds from each due instant to its row and to its start, of a second's fires each."""
    connection.close()
    before = dict(connection.settings_dict)
    connection.settings_dict |= {
        "NAME": DATABASE, "OPTIONS": {}, "HOST": str(server.socket_folder)
    }  # fmt: skip
    try:
        workspace = make_workspace()
        now = clock.now()
        for place in range(_EVERY):
            expression = f"{place}-59/{_EVERY} * * * * *"
            make_routine(
                workspace,
                machine=make_machine(workspace, f"harbour-{place}"),
                schedule_kind="cron",
                schedule_values={"expressions": [expression]},
                expressions=[expression],
                check_command="exit 1",  # else five failures would turn it off
                next_fire_at=now + timedelta(seconds=2),
            )
        sleep(seconds)
        Routine.objects.update(enabled=False)
        sleep(2)
        started = Run.objects.filter(waking_at__isnull=False).select_related("fire")
        found = [
            (
                (run.queued_at - run.fire.due_at).total_seconds(),
                (run.waking_at - run.fire.due_at).total_seconds(),
            )
            for run in started
            if run.waking_at is not None and run.fire.due_at > now + timedelta(seconds=3)
        ]
        assert found, list(Run.objects.values_list("status", "facts")[:3])
        assert {run.status for run in started} == {"nothing_to_do"}, found[:3]
        return found
    finally:
        connection.close()
        connection.settings_dict.clear()
        connection.settings_dict.update(before)


def _megabytes(pid: int, apart_from: int = 0) -> float:
    """The memory of a process and all below it, shared pages shared out (PSS)."""
    kilobytes = 0
    for each in _tree(pid, apart_from):
        try:
            for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    kilobytes += int(line.split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended just now
    return kilobytes / 1000


def _tree(pid: int, apart_from: int) -> Iterator[int]:
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*"):
        for child in (task / "children").read_text().split():
            if int(child) != apart_from:
                yield from _tree(int(child), apart_from)
