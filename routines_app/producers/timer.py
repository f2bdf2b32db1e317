"""The schedule: what is due is asked for, in batches; what was missed is told."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import connection, transaction

from foundation import database_clock
from foundation.failpoints import failpoint
from routines_app.fires import FireRequest, request_fires
from routines_app.fires.beats import beat, last_beat
from routines_app.fires.missed import Missed, record_missed
from routines_app.fires.owed import down_since
from routines_app.rules.due import due_by
from routines_app.rules.occurrence import occurrence_key

BATCH = 1_000

_DUE = """
SELECT id, workspace_id, next_fire_at, evaluated_until, zone, expressions, grace
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


@dataclass(frozen=True)
class Scanned:
    """What one scan wrote: fires that wait for a runner, and rows of missed occurrences."""

    fired: int = 0
    missed: int = 0


@dataclass
class _Batch:
    """What a batch of due routines comes to. `ids` are those that ask for nothing: the others
    move on with their request."""

    requests: list[FireRequest] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    nexts: list[datetime | None] = field(default_factory=list)
    untils: list[datetime] = field(default_factory=list)


def scan() -> Scanned:
    """Ask for every routine that is due, and move each to its next occurrence.

    A batch is one transaction: the fires, their runs, the missed rows, the routines moved on.
    """
    before = last_beat("scan")
    fired = missed = 0
    while True:
        with transaction.atomic():
            now = database_clock.now()
            found, new = _one_batch(now, before)
        fired, missed = fired + new.fired, missed + new.missed
        if found < BATCH:
            beat("scan", database_clock.now())
            return Scanned(fired, missed)


def _one_batch(now: datetime, last_scan: datetime | None) -> tuple[int, Scanned]:
    with connection.cursor() as cursor:
        cursor.execute(_DUE, [now, BATCH])
        due = cursor.fetchall()
        if not due:
            return 0, Scanned()
        batch = _Batch()
        for row in due:
            _judge(batch, row, now)
        transaction.on_commit(lambda: failpoint("scan.after"))  # before the doorbell rings
        made = request_fires(batch.requests, now)
        if batch.ids:
            cursor.execute(_MOVE_ON, [batch.ids, batch.nexts, batch.untils])
        told = record_missed(batch.missed, down_since(batch.missed, last_scan, now), now)
    failpoint("scan.before")
    return len(due), Scanned(len(made), told)


def _judge(batch: _Batch, row: tuple[object, ...], now: datetime) -> None:
    routine_id, workspace_id, next_at, evaluated, zone, expressions, grace = row
    assert isinstance(routine_id, int) and isinstance(workspace_id, int)
    assert isinstance(next_at, datetime) and isinstance(zone, str)
    assert isinstance(expressions, list)
    assert evaluated is None or isinstance(evaluated, datetime)
    assert grace is None or isinstance(grace, timedelta)
    after = max(now, evaluated) if evaluated else now
    outcome, following = due_by(next_at, tuple(expressions), zone, now, after, grace)
    if outcome.fires is not None:
        key = occurrence_key(outcome.fires)
        batch.requests.append(
            FireRequest(
                routine_id, "timer", key, outcome.fires,
                scheduled=True, until=now, next_at=following,
            )
        )  # fmt: skip
    else:
        batch.ids.append(routine_id)
        batch.nexts.append(following)
        batch.untils.append(now)
    batch.missed.extend(Missed(routine_id, workspace_id, span) for span in outcome.missed)
