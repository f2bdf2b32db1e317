"""Rows for occurrences that nobody started, with one ring of the bell for all of them."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from routines_app.models import Notice, OnSpan, Routine
from routines_app.rules.grace import MissedRange
from routines_app.rules.occurrence import occurrence_key


@dataclass(frozen=True)
class Missed:
    """Occurrences of one routine that fell while nothing was scanning."""

    routine_id: int
    workspace_id: int
    span: MissedRange


# Written whole and final at once: a fire that is closed, its run, and the routine's counters.
_INSERT = """
WITH missed AS (
    SELECT * FROM unnest(
        %(routine)s::bigint[], %(key)s::text[], %(first)s::timestamptz[],
        %(last)s::timestamptz[], %(count)s::bigint[]
    ) AS m(routine_id, dedup_key, first, last, count)
),
held AS (
    SELECT r.id, r.workspace_id, r.machine_id, r.agent_id, r.schedule_version
    FROM routines_app_routine r WHERE r.id IN (SELECT routine_id FROM missed)
    ORDER BY r.id FOR NO KEY UPDATE
),
fired AS (
    INSERT INTO routines_app_fire (
        routine_id, workspace_id, source, dedup_key, due_at, requested_at, payload,
        schedule_version, covers_from, covers_to, covers_count, claimed_by, attempts, closed_at)
    SELECT m.routine_id, h.workspace_id, 'timer', m.dedup_key, m.last, %(now)s, '{}'::jsonb,
           h.schedule_version, m.first, m.last, m.count, '', 0, %(now)s
    FROM missed m JOIN held h ON h.id = m.routine_id
    ORDER BY m.first
    ON CONFLICT (routine_id, dedup_key) DO NOTHING
    RETURNING id, routine_id, workspace_id, due_at
),
counted AS (
    UPDATE routines_app_routine r SET run_counter = r.run_counter + n.count
    FROM (SELECT routine_id, count(*) AS count FROM fired GROUP BY routine_id) n
    WHERE r.id = n.routine_id
    RETURNING r.id, r.run_counter - n.count AS before, n.count
),
totalled AS (
    INSERT INTO routines_app_routinetotals AS t (routine_id, runs, refusals, failures, spent)
    SELECT id, 0, count, 0, 0 FROM counted
    ON CONFLICT (routine_id) DO UPDATE SET refusals = t.refusals + excluded.refusals
)
INSERT INTO routines_app_run (
    key, fire_id, routine_id, workspace_id, machine_id, agent_id, number, status, attempt, snapshot,
    queued_at, finished_at, spent, input_tokens, cached_tokens, output_tokens, requests,
    headline, body, facts, doing, cause, state_before, state_after)
SELECT gen_random_uuid(), f.id, f.routine_id, f.workspace_id, h.machine_id, h.agent_id,
       c.before + row_number() OVER (PARTITION BY f.routine_id ORDER BY f.due_at, f.id),
       'skip_missed', 0, '{}'::jsonb, %(now)s, %(now)s, 0, 0, 0, 0, 0,
       '', '', %(facts)s::jsonb
           || CASE WHEN f.routine_id = ANY(%(once)s) THEN '{"was_once": true}' ELSE '{}' END::jsonb,
       '{}'::jsonb, 'ours', '', ''
FROM fired f JOIN held h ON h.id = f.routine_id JOIN counted c ON c.id = f.routine_id
RETURNING workspace_id
"""


def record_missed(missed: Sequence[Missed], down_from: datetime, now: datetime) -> int:
    """Write a final row for each, and one digest a workspace for the whole time from `down_from`.

    An occurrence that has its row already adds nothing. Returns how many rows are new.
    """
    if not missed:
        return 0
    facts = {
        "down_from": down_from.isoformat(),
        "down_to": now.isoformat(),
        "embedded": settings.EMBEDDED,
    }
    values: dict[str, Any] = {
        "routine": [m.routine_id for m in missed],
        "key": [_key(m.span) for m in missed],
        "first": [m.span.first for m in missed],
        "last": [m.span.last for m in missed],
        "count": [m.span.count for m in missed],
        "now": now,
        "facts": json.dumps(facts),
    }
    with transaction.atomic():
        values["once"] = _turn_off_once(values["routine"], now)
        with connection.cursor() as cursor:
            cursor.execute(_INSERT, values)
            new = cursor.fetchall()
        if new:
            _digest(missed, facts, down_from, now)
    return len(new)


def _turn_off_once(routine_ids: list[int], now: datetime) -> list[int]:
    """A schedule that comes once is over when that once was missed; whose it was."""
    once = Routine.objects.filter(pk__in=routine_ids, schedule_kind="once", enabled=True)
    ids = list(once.order_by("pk").select_for_update().values_list("pk", flat=True))
    Routine.objects.filter(pk__in=ids).update(
        enabled=False, off_reason="once", off_at=now, off_by=None, next_fire_at=None
    )
    OnSpan.objects.filter(routine_id__in=ids, ended_at__isnull=True).update(ended_at=now)
    return ids


def _key(span: MissedRange) -> str:
    if span.count == 1:
        return occurrence_key(span.first)
    return f"{occurrence_key(span.first)} to {occurrence_key(span.last)}"


def _digest(
    missed: Sequence[Missed], facts: dict[str, object], down_from: datetime, now: datetime
) -> None:
    runs, routines = Counter[int](), Counter[int]()
    for each in missed:
        runs[each.workspace_id] += each.span.count
    for workspace_id, _ in {(m.workspace_id, m.routine_id) for m in missed}:
        routines[workspace_id] += 1
    for workspace_id, count in runs.items():
        notice, _ = Notice.objects.select_for_update().get_or_create(
            workspace_id=workspace_id,
            key=f"missed {occurrence_key(down_from)}",
            defaults={"rung_at": now, "facts": {}, "needs_someone": True},
        )
        before: dict[str, Any] = notice.facts
        notice.facts = {
            **facts,
            "count": before.get("count", 0) + count,
            "routines": before.get("routines", 0) + routines[workspace_id],
        }
        notice.save(update_fields=["facts"])
