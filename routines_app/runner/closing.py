"""Reading and writing a run's end: one message to the database each, since every answer that is
waited for costs more than its statement."""

import json
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from billing.holds import FREE_HOLD
from foundation import clock
from foundation.statements import send
from routines_app.rules.quiet import heard
from routines_app.rules.status import RunStatus
from routines_app.runner.ending import Ending


@dataclass(frozen=True)
class OpenRun:
    """An open fire with its run and its routine, all three locked, as its end is decided by.

    `now` is the database's clock. `spent` is micro-dollars. `attention`: a notice of the routine
    still needs someone.
    """

    now: datetime
    run_id: int
    key: uuid.UUID
    number: int
    status: RunStatus
    began: bool
    spent: int
    workspace_id: int
    fire_id: int
    due_at: datetime
    dedup_key: str
    routine_id: int
    routine_name: str
    streak: int
    enabled: bool
    schedule_kind: str
    notify: str
    attention: bool


# Locked in the order named: always the fire first, then its run, then the routine; whoever brings a
# dead runner's work on locks so too. Who waited for a lock here reads what was committed meanwhile.
_HOLD = """
SELECT clock_timestamp() + %(offset)s, r.id, r.key, r.number, r.status,
       r.effects_begun_at IS NOT NULL, r.spent, r.workspace_id, f.id, f.due_at, f.dedup_key,
       o.id, o.name, o.streak, o.enabled, o.schedule_kind, o.notify,
       EXISTS (SELECT 1 FROM routines_app_notice n
               WHERE n.routine_id = o.id AND n.needs_someone)
FROM routines_app_fire f
JOIN routines_app_run r ON r.fire_id = f.id
JOIN routines_app_routine o ON o.id = r.routine_id
WHERE f.id = %(fire)s AND f.claim_token IS NOT DISTINCT FROM %(token)s AND f.closed_at IS NULL
FOR NO KEY UPDATE OF f, r, o
"""
_STATUS = 4  # its place in the row


def hold_open(fire_id: int, token: uuid.UUID | None) -> OpenRun | None:
    """The run of an open fire that bears this claim token, locked; None when there is none."""
    offset = timedelta(seconds=clock.offset_seconds())
    rows = send(_HOLD, {"fire": fire_id, "token": token, "offset": offset})
    if not rows:
        return None
    found: list[Any] = list(rows[0])
    found[_STATUS] = RunStatus(found[_STATUS])
    return OpenRun(*found)


# What the run has kept until now stays wherever its end brings nothing of its own.
_END = f"""
WITH ended AS (
    UPDATE routines_app_run SET
        status = %(status)s, finished_at = %(now)s, facts = facts || %(facts)s::jsonb,
        headline = %(headline)s, body = %(body)s, doing = '{{}}', changed = %(changed)s,
        cause = %(cause)s, spent = %(spent)s,
        input_tokens = COALESCE(%(input_tokens)s, input_tokens),
        cached_tokens = COALESCE(%(cached_tokens)s, cached_tokens),
        output_tokens = COALESCE(%(output_tokens)s, output_tokens),
        requests = COALESCE(%(requests)s, requests),
        state_after = COALESCE(%(state_after)s, state_after)
    WHERE id = %(run)s
),
closed AS (UPDATE routines_app_fire SET closed_at = %(now)s WHERE id = %(fire)s),
freed AS ({FREE_HOLD})
INSERT INTO routines_app_routinetotals AS t
    (routine_id, runs, refusals, failures, spent, heard_at)
VALUES (%(routine)s, %(began)s, %(refused)s, %(failed)s, %(kept_spending)s, %(heard_at)s)
ON CONFLICT (routine_id) DO UPDATE
SET runs = t.runs + excluded.runs, refusals = t.refusals + excluded.refusals,
    failures = t.failures + excluded.failures, spent = t.spent + excluded.spent,
    heard_at = COALESCE(excluded.heard_at, t.heard_at)
"""


def write_end(run: OpenRun, ending: Ending, spent: int, facts: dict[str, object]) -> None:
    """Write the end of a run that `hold_open` holds: its row, its fire, its hold, the totals.

    `spent` is all that the run cost, in micro-dollars; of the totals it is a part only where we
    don't refund it.
    """
    status, usage = ending.status, ending.usage
    values: dict[str, Any] = {
        "run": run.run_id,
        "run_key": run.key,
        "fire": run.fire_id,
        "routine": run.routine_id,
        "now": run.now,
        "status": status.value,
        "facts": json.dumps(facts),
        "headline": ending.headline[:300],
        "body": ending.body,
        "changed": ending.changed,
        "cause": "ours" if ending.ours else ("theirs" if status.failed else ""),
        "spent": spent,
        "input_tokens": usage.input_tokens if usage else None,
        "cached_tokens": usage.cached_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "requests": usage.requests if usage else None,
        "state_after": ending.state_after,
        "began": int(run.began),
        "refused": int(status.refused),
        "failed": int(status.failed),
        "kept_spending": 0 if ending.ours else spent,
        "heard_at": run.now if heard(status) else None,
    }
    send(_END, values)
