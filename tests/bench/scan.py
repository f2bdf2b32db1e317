"""One scan beside the number of routines, and what an edit adds to the next one."""

import itertools
from collections import defaultdict
from dataclasses import replace
from time import perf_counter
from typing import Any

from django.db import connection

from routines_app.configure.content import content_of
from routines_app.configure.routine import Configured, configure_routine
from routines_app.models import Routine
from routines_app.producers.timer import scan
from tests.bench.ground import Ground
from tests.bench.plans import sequential_scans
from tests.bench.report import Result, median, milliseconds
from tests.bench.rows import doorbell_silent
from tests.bench.scene import spread_routines
from tests.bench.sizes import Sizes
from tests.factories import owner_of

# Never the same ten twice: a routine asked for again within a second is asked for once.
_DUE = """
UPDATE routines_app_routine SET next_fire_at = clock_timestamp() - interval '1 second'
WHERE id IN (
    SELECT id FROM routines_app_routine
    WHERE enabled AND deleted_at IS NULL AND id > (
        SELECT min(id) FROM routines_app_routine) + %s
    ORDER BY id LIMIT 10)
"""
_steps = itertools.count(0, 12)


def measure(ground: Ground, sizes: Sizes) -> list[Result]:
    """Scans with 10 due, idle ones, and one after an edit, alternating between the sizes."""
    busy: dict[int, list[float]] = defaultdict(list)
    idle: dict[int, list[float]] = defaultdict(list)
    edited: list[float] = []
    walked: list[str] = []
    with doorbell_silent():
        for turn in range(sizes.scans + 1):
            for count in sizes.routines:
                if ground.use(f"scan_{count}"):
                    spread_routines(count)
                scan()  # the connection is new: it opens, and its caches fill
                idle[count].append(_timed(0))
                _make_due()
                busy[count].append(_timed(10))
                if count == sizes.routines[-1]:
                    _edit_one()
                    _make_due()
                    edited.append(_timed(10))
                    if turn == 0:
                        _make_due()
                        walked = sequential_scans(scan)
    return _judged(sizes, busy, idle, edited, walked)


def _make_due() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_DUE, [next(_steps) % 960])


def _timed(expected: int) -> float:
    began = perf_counter()
    scanned = scan()
    took = perf_counter() - began
    assert scanned.fired >= expected, scanned
    return took


def _edit_one() -> None:
    routine = Routine.objects.filter(enabled=True).order_by("-id")[0]
    content = content_of(routine)
    answer = configure_routine(
        routine,
        owner_of(routine.workspace),
        routine.version,
        replace(content, instructions=f"{content.instructions} # version {routine.version + 1}"),
    )
    assert isinstance(answer, Configured), answer


def _judged(
    sizes: Sizes,
    busy: dict[int, list[float]],
    idle: dict[int, list[float]],
    edited: list[float],
    walked: list[str],
) -> list[Result]:
    small, large = sizes.routines[0], sizes.routines[-1]
    numbers: dict[str, Any] = {}
    for count in sizes.routines:
        numbers[f"due_{count}_s"] = median(busy[count][1:])
        numbers[f"idle_{count}_s"] = median(idle[count][1:])
    ratio = numbers[f"due_{large}_s"] / numbers[f"due_{small}_s"]
    idle_ratio = numbers[f"idle_{large}_s"] / numbers[f"idle_{small}_s"]
    after_edit = median(edited[1:]) / numbers[f"due_{large}_s"]
    found = ", ".join(
        f"{milliseconds(numbers[f'due_{count}_s'])} at {count:,}" for count in sizes.routines
    )
    idle_found = ", ".join(
        f"{milliseconds(numbers[f'idle_{count}_s'])} at {count:,}" for count in sizes.routines
    )
    return [
        Result(
            "one scan with 10 due",
            f"{large:,} routines at most 1.2 x {small:,}",
            f"{found}; ratio {ratio:.2f}",
            ratio <= 1.2,
            numbers={**numbers, "ratio": ratio},
        ),
        Result(
            "an idle scan",
            f"{large:,} routines at most 2 x {small:,}",
            f"{idle_found}; ratio {idle_ratio:.2f}",
            idle_ratio <= 2,
            numbers={"ratio": idle_ratio},
        ),
        Result(
            "the scan's plans",
            "no sequential scan of routines, fires or runs",
            "none" if not walked else "; ".join(walked),
            not walked,
            numbers={"sequential_scans": len(walked)},
        ),
        Result(
            "the scan after one edit",
            "an edit adds nothing (at most 1.2 x)",
            f"{milliseconds(median(edited[1:]))}; ratio {after_edit:.2f}",
            after_edit <= 1.2,
            numbers={"edited_s": median(edited[1:]), "ratio": after_edit},
        ),
    ]
