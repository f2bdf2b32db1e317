"""Asking for runs: one Fire and its queued Run, in one transaction, many at once."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from foundation.statements import send
from routines_app.fires.doorbell import ring_for_fires


@dataclass(frozen=True)
class FireRequest:
    """One wish that a routine run. `key` is unique within the routine: asking twice is once.

    `due_at` is the instant it was wanted for; `person_id` who asked, None for the schedule;
    `scheduled` when the schedule asked, so that changing the schedule withdraws it. With `until`
    the routine's schedule moves on in the same statement: evaluated until then, due at `next_at`.
    """

    routine_id: int
    source: str
    key: str
    due_at: datetime
    person_id: int | None = None
    scheduled: bool = False
    payload: dict[str, object] = field(default_factory=dict)
    until: datetime | None = None
    next_at: datetime | None = None


MOST_RUNG = 200
"""Doorbells for one batch of fires: enough to set every runner to work, and what a herd leaves over
is found by the sweep, so that no scan spends its time on messages."""


# The fire is written first; only a fire that is new takes the routine's next number and a run.
# Rows are locked in the routines' order, so that two scanners can't lock each other out.
_INSERT = """
WITH wanted AS (
    SELECT * FROM unnest(
        %(routine)s::bigint[], %(source)s::text[], %(key)s::text[],
        %(due)s::timestamptz[], %(person)s::bigint[], %(scheduled)s::boolean[],
        %(payload)s::jsonb[], %(until)s::timestamptz[], %(next)s::timestamptz[]
    ) AS w(routine_id, source, dedup_key, due_at, person_id, scheduled, payload, until, next_at)
),
held AS (
    SELECT r.id, r.workspace_id, r.machine_id, r.agent_id, r.schedule_version
    FROM routines_app_routine r
    WHERE r.id IN (SELECT routine_id FROM wanted) AND r.deleted_at IS NULL
    ORDER BY r.id
    FOR NO KEY UPDATE
),
fired AS (
    INSERT INTO routines_app_fire (
        routine_id, workspace_id, source, dedup_key, due_at, requested_at, requested_by_id,
        payload, schedule_version, covers_count, claimed_by, attempts)
    SELECT w.routine_id, h.workspace_id, w.source, w.dedup_key, w.due_at, %(now)s, w.person_id,
           w.payload, CASE WHEN w.scheduled THEN h.schedule_version END, 1, '', 0
    FROM wanted w JOIN held h ON h.id = w.routine_id
    ORDER BY w.due_at
    ON CONFLICT (routine_id, dedup_key) DO NOTHING
    RETURNING id, routine_id, workspace_id, due_at
),
counted AS (
    UPDATE routines_app_routine r
    SET run_counter = r.run_counter + COALESCE(n.count, 0),
        next_fire_at = CASE WHEN m.until IS NULL THEN r.next_fire_at ELSE m.next_at END,
        evaluated_until = GREATEST(r.evaluated_until, m.until)
    FROM held h
    LEFT JOIN (SELECT routine_id, count(*) AS count FROM fired GROUP BY routine_id) n
        ON n.routine_id = h.id
    LEFT JOIN (SELECT routine_id, max(next_at) AS next_at, max(until) AS until
               FROM wanted GROUP BY routine_id) m ON m.routine_id = h.id
    WHERE r.id = h.id AND (n.count IS NOT NULL OR m.until IS NOT NULL)
    RETURNING r.id, r.run_counter - COALESCE(n.count, 0) AS before
)
INSERT INTO routines_app_run (
    key, fire_id, routine_id, workspace_id, machine_id, agent_id, number, status, attempt, snapshot,
    queued_at, spent, input_tokens, cached_tokens, output_tokens, requests, headline, body,
    facts, doing, cause, state_before, state_after)
SELECT gen_random_uuid(), f.id, f.routine_id, f.workspace_id, h.machine_id, h.agent_id,
       c.before + row_number() OVER (PARTITION BY f.routine_id ORDER BY f.due_at, f.id),
       'queued', 0, '{}'::jsonb, %(now)s, 0, 0, 0, 0, 0, '', '', '{}'::jsonb, '{}'::jsonb,
       '', '', ''
FROM fired f JOIN held h ON h.id = f.routine_id JOIN counted c ON c.id = f.routine_id
RETURNING fire_id, id
"""


def request_fires(requests: Sequence[FireRequest], now: datetime) -> dict[int, int]:
    """Write what is new among `requests`; `now` is the database's clock.

    Returns {fire id: run id} of the new ones. A request whose key exists already adds nothing.
    The doorbell rings when the surrounding transaction commits; losing it only costs time.
    """
    if not requests:
        return {}
    values: dict[str, Any] = {
        "routine": [r.routine_id for r in requests],
        "source": [r.source for r in requests],
        "key": [r.key for r in requests],
        "due": [r.due_at for r in requests],
        "person": [r.person_id for r in requests],
        "scheduled": [r.scheduled for r in requests],
        "payload": [json.dumps(r.payload) for r in requests],
        "until": [r.until for r in requests],
        "next": [r.next_at for r in requests],
        "now": now,
    }
    with transaction.atomic(savepoint=False):
        # A plan made for one fire isn't a thousand's, so those are planned each time.
        rows = send(_INSERT, values, prepare=len(requests) == 1)
        made = {int(fire_id): int(run_id) for fire_id, run_id in rows}
        ring_for_fires(sorted(made)[:MOST_RUNG])
    return made
