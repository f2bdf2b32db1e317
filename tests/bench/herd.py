"""Ten thousand routines due at once, beside bare inserts of the same rows."""

import itertools
from datetime import timedelta
from time import perf_counter

from django.db import connection, transaction

from foundation import clock, database_clock
from routines_app.models import Routine
from routines_app.producers.timer import BATCH, scan
from tests.bench.ground import Ground
from tests.bench.report import Result, median
from tests.bench.rows import doorbell_silent, settle
from tests.bench.scene import spread_routines
from tests.bench.sizes import Sizes

_FIRES = """
INSERT INTO routines_app_fire (
    routine_id, workspace_id, source, dedup_key, due_at, requested_at, payload,
    schedule_version, covers_count, claimed_by, attempts)
SELECT id, %(workspace)s, 'timer', %(key)s, %(now)s, %(now)s, '{}', 1, 1, '', 0
FROM unnest(%(routines)s::bigint[]) AS id
RETURNING id, routine_id
"""
_RUNS = """
INSERT INTO routines_app_run (
    key, fire_id, routine_id, workspace_id, machine_id, number, status, attempt, snapshot,
    queued_at, spent, input_tokens, cached_tokens, output_tokens, requests, headline, body,
    facts, doing, cause, state_before, state_after)
SELECT gen_random_uuid(), fire, routine, %(workspace)s, %(machine)s, %(number)s, 'queued', 0,
       '{}', %(now)s, 0, 0, 0, 0, 0, '', '', '{}', '{}', '', '', ''
FROM unnest(%(fires)s::bigint[], %(routines)s::bigint[]) AS u(fire, routine)
"""
# Each herd is due at a second of its own: a routine is asked for once a second at most.
_LONG_DUE = clock.now()
_ages = itertools.count(1)
_numbers = itertools.count(1_000_000)


def measure(ground: Ground, sizes: Sizes) -> list[Result]:
    """Bare inserts and our scan, alternating; then the scan with its messages to the broker."""
    ground.use("herd")
    spread_routines(sizes.herd)
    Routine.objects.update(enabled=True)
    settle("routines_app_routine")
    bare, ours, rung = [], [], []
    for _ in range(sizes.herds + 1):
        bare.append(sizes.herd / _bare())
        with doorbell_silent():
            ours.append(sizes.herd / _scan(sizes.herd))
        if ground.redis is not None:
            rung.append(sizes.herd / _scan(sizes.herd))
    share = median(ours[1:]) / median(bare[1:])
    numbers = {"bare_rows_per_s": median(bare[1:]), "ours_rows_per_s": median(ours[1:])}
    results = [
        Result(
            f"{sizes.herd:,} due at once",
            "at least 40 % of the rate of bare inserts of the same rows",
            f"{numbers['ours_rows_per_s']:,.0f}/s of {numbers['bare_rows_per_s']:,.0f}/s: "
            f"{share:.0%}",
            share >= 0.4,
            numbers={**numbers, "ratio": share},
        )
    ]
    if rung:
        seconds = 5_000 / median(rung[1:])
        results.append(
            Result(
                "a herd of 5,000, with a message to the broker for each",
                "all written within 10 s",
                f"{seconds:.1f} s",
                seconds <= 10,
                numbers={"herd_5000_s": seconds, "rung_rows_per_s": median(rung[1:])},
            )
        )
    return results


def _scan(count: int) -> float:
    """Seconds of one scan with all routines due."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE routines_app_routine SET evaluated_until = NULL, next_fire_at = %s",
            [_LONG_DUE - timedelta(seconds=next(_ages))],
        )
    settle("routines_app_routine")
    began = perf_counter()
    scanned = scan()
    took = perf_counter() - began
    assert scanned.fired == count, scanned
    return took


def _bare() -> float:
    """Seconds of writing the same fires and runs, a transaction a batch and nothing else."""
    routines = list(Routine.objects.order_by("id").values_list("id", flat=True))
    sample = Routine.objects.all()[0]
    number = next(_numbers)
    now = database_clock.now() - timedelta(seconds=1)
    common = {
        "workspace": sample.workspace_id,
        "machine": sample.machine_id,
        "number": number,
        "key": f"bare {number}",
        "now": now,
    }
    settle("routines_app_routine")
    began = perf_counter()
    for first in range(0, len(routines), BATCH):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_FIRES, {**common, "routines": routines[first : first + BATCH]})
            made = cursor.fetchall()
            fires, theirs = [row[0] for row in made], [row[1] for row in made]
            cursor.execute(_RUNS, {**common, "fires": fires, "routines": theirs})
    return perf_counter() - began
