"""The schedule: what is due is asked for, in batches."""

from datetime import datetime

from django.db import connection, transaction

from foundation import database_clock
from routines_app.fires import FireRequest, request_fires
from routines_app.rules.cron import compile_cron, earliest
from routines_app.rules.occurrence import occurrence_key

BATCH = 1_000

_DUE = """
SELECT id, next_fire_at, evaluated_until, zone, expressions
FROM routines_app_routine
WHERE enabled AND deleted_at IS NULL AND next_fire_at <= %s
ORDER BY next_fire_at
LIMIT %s
FOR NO KEY UPDATE SKIP LOCKED
"""

_MOVE_ON = """
UPDATE routines_app_routine r
SET next_fire_at = d.next_at,
    evaluated_until = GREATEST(r.evaluated_until, d.until)
FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[]) AS d(id, next_at, until)
WHERE r.id = d.id
"""


def scan() -> int:
    """Ask for every routine that is due, and move each to its next occurrence; how many fires.

    A batch is one transaction: the fires, their runs, and the routines moved on.
    """
    asked = 0
    while True:
        with transaction.atomic():
            found, new = _one_batch(database_clock.now())
        asked += new
        if found < BATCH:
            return asked


def _one_batch(now: datetime) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(_DUE, [now, BATCH])
        due = cursor.fetchall()
        if not due:
            return 0, 0
        cache: dict[tuple[str, tuple[str, ...], datetime], datetime | None] = {}
        ids, nexts, untils = [], [], []
        for routine_id, _, evaluated, zone, expressions in due:
            after = max(now, evaluated) if evaluated else now
            name = (zone, tuple(expressions), after)
            if name not in cache:
                crons = [compile_cron(text) for text in expressions]
                cache[name] = earliest(crons, after, zone)  # a schedule of one date has none
            ids.append(routine_id)
            nexts.append(cache[name])
            untils.append(now)
        made = request_fires(
            [FireRequest(row[0], "timer", occurrence_key(row[1]), row[1], scheduled=True)
             for row in due],
            now,
        )  # fmt: skip
        cursor.execute(_MOVE_ON, [ids, nexts, untils])
    return len(due), len(made)
