"""The schedule: what is due is asked for, in batches; what was missed is told."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from django.db import connection, transaction

from foundation import database_clock
from foundation.failpoints import failpoint
from routines_app.fires import FireRequest, request_fires
from routines_app.fires.beats import beat, last_beat
from routines_app.fires.missed import Missed, record_missed
from routines_app.rules.cron import compile_cron, earliest
from routines_app.rules.grace import MOST_ROWS, CatchUp, MissedRange, catch_up
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
    """What a batch of due routines comes to."""

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
        first = min((m.span.first for m in batch.missed), default=now)
        down_from = min(first, last_scan) if last_scan else first
        told = record_missed(batch.missed, down_from, now)
        cursor.execute(_MOVE_ON, [batch.ids, batch.nexts, batch.untils])
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
    outcome, following = _outcome(next_at, tuple(expressions), zone, now, after, grace)
    if outcome.fires is not None:
        key = occurrence_key(outcome.fires)
        batch.requests.append(FireRequest(routine_id, "timer", key, outcome.fires, scheduled=True))
    batch.missed.extend(Missed(routine_id, workspace_id, span) for span in outcome.missed)
    batch.ids.append(routine_id)
    batch.nexts.append(following)
    batch.untils.append(now)


@lru_cache(maxsize=2 * BATCH)
def _outcome(
    next_at: datetime,
    expressions: tuple[str, ...],
    zone: str,
    now: datetime,
    after: datetime,
    grace: timedelta | None,
) -> tuple[CatchUp, datetime | None]:
    """What is due by now, judged, and what comes after `after`. The same for all routines of one
    schedule in one batch, so it is worked out once."""
    crons = [compile_cron(text) for text in expressions]
    following = earliest(crons, after, zone)
    due = [next_at]
    while (coming := earliest(crons, due[-1], zone)) is not None and coming <= now:
        due.append(coming)
        if len(due) > 2 * MOST_ROWS:
            return _very_many(due, expressions, zone, now, grace, following), following
    return catch_up(due, following, now, grace), following


def _very_many(
    due: list[datetime],
    expressions: tuple[str, ...],
    zone: str,
    now: datetime,
    grace: timedelta | None,
    following: datetime | None,
) -> CatchUp:
    """Past 2,000 only the number and the newest are needed, so nothing else is kept."""
    crons = [compile_cron(text) for text in expressions]
    first, newest, before, count = due[0], due[-1], due[-2], len(due)
    while (coming := earliest(crons, newest, zone)) is not None and coming <= now:
        before, newest, count = newest, coming, count + 1
    judged = catch_up([newest], following, now, grace)
    if judged.fires is None:
        return CatchUp(None, [MissedRange(first, newest, count)])
    return CatchUp(newest, [MissedRange(first, before, count - 1)])
