"""The invariants as queries. Each finds rows that break it: their ids, then what its sentence says.

`workspace`, `since` and `until` narrow a query where they apply; a null is no bound.
"""

from dataclasses import dataclass

from routines_app.rules.status import FINAL_STATUSES, LIVE_STATUSES, Rings, RunStatus


@dataclass(frozen=True)
class Check:
    """One query of one invariant. `sentence` takes the row's values after its ids, in order."""

    invariant: str
    sentence: str
    sql: str


def _listed(statuses: list[RunStatus]) -> str:
    return ", ".join(f"'{status}'" for status in statuses)


_LIVE = _listed([*LIVE_STATUSES])
_FINAL = _listed([*FINAL_STATUSES])
_REFUSED = _listed([status for status in RunStatus if status.refused])
_FAILED = _listed([status for status in RunStatus if status.failed])
_TOLD_ALWAYS = _listed(
    [s for s in RunStatus if s.rings is Rings.YES and s is not RunStatus.SKIP_MISSED]
)
_KEY = "to_char(f.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
_OCCURRENCE = f"f.dedup_key = {_KEY}"
_SCOPE = """
    (%(workspace)s::bigint IS NULL OR f.workspace_id = %(workspace)s)
    AND (%(since)s::timestamptz IS NULL OR f.requested_at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR f.requested_at < %(until)s)
"""
_HERE = "(%(workspace)s::bigint IS NULL OR {0}.workspace_id = %(workspace)s)"
_RUNS = "routines_app_fire f JOIN routines_app_run r ON r.fire_id = f.id"

ONCE_EACH = [
    Check(
        "I1",
        "Routine {0} was due at {1:%Y-%m-%d %H:%M:%S} once and has {2} fires for it.",
        f"""SELECT array_agg(f.id), f.routine_id, f.due_at, count(*) FROM routines_app_fire f
        WHERE {_SCOPE} AND f.source IN ('timer', 'manual') AND ({_OCCURRENCE} OR f.source = 'timer')
        GROUP BY f.routine_id, f.due_at HAVING count(*) > 1""",
    ),
    Check(
        "I1",
        "Fire {0} of routine {1} lies among the occurrences that fire {2} says were missed.",
        f"""SELECT ARRAY[f.id, m.id], f.id, f.routine_id, m.id
        FROM routines_app_fire f JOIN routines_app_fire m ON m.routine_id = f.routine_id
            AND m.covers_count > 1 AND m.id <> f.id
            AND f.due_at BETWEEN m.covers_from AND m.covers_to
        WHERE {_SCOPE} AND {_OCCURRENCE}""",
    ),
    Check(
        "I1",
        "Fire {0} of routine {1} has no run.",
        f"""SELECT ARRAY[f.id], f.id, f.routine_id FROM routines_app_fire f
        WHERE {_SCOPE} AND NOT EXISTS (SELECT FROM routines_app_run r WHERE r.fire_id = f.id)""",
    ),
    Check(
        "I1",
        "Routine {0} has numbered {1} runs and {2} are there.",
        f"""SELECT ARRAY[t.id], t.id, t.run_counter, count(r.id)
        FROM routines_app_routine t LEFT JOIN routines_app_run r ON r.routine_id = t.id
        WHERE {_HERE.format("t")} GROUP BY t.id HAVING count(r.id) <> t.run_counter""",
    ),
    Check(
        "I2",
        "Run {0} waits to run again though its effects had begun.",
        f"""SELECT ARRAY[r.id], r.id FROM {_RUNS}
        WHERE {_SCOPE} AND r.effects_begun_at IS NOT NULL AND r.status IN ('queued', 'waking')""",
    ),
    Check(
        "I2",
        "Routine {0} began its work {2} times for {1:%Y-%m-%d %H:%M:%S}.",
        f"""SELECT array_agg(r.id), f.routine_id, f.due_at, count(*) FROM {_RUNS}
        WHERE {_SCOPE} AND ({_OCCURRENCE} OR f.source = 'timer') AND r.effects_begun_at IS NOT NULL
        GROUP BY f.routine_id, f.due_at HAVING count(*) > 1""",
    ),
    Check(
        "I2",
        "Run {0} began its check {1} times.",
        f"""SELECT ARRAY[r.id], r.id, count(*) FROM {_RUNS}
        JOIN routines_app_step s ON s.run_id = r.id AND s.kind = 'check'
        WHERE {_SCOPE} GROUP BY r.id HAVING count(*) > 1""",
    ),
]

MONEY = [
    Check(
        "I3",
        "Run {0} spent {1} micro-dollars of a cap of {2}.",
        f"""SELECT ARRAY[r.id], r.id, r.spent, (r.snapshot->>'cap')::bigint FROM {_RUNS}
        WHERE {_SCOPE} AND r.spent > (r.snapshot->>'cap')::bigint""",
    ),
    Check(
        "I4",
        "Workspace {0} has {1} micro-dollars of credit and {2} are set aside.",
        f"""SELECT ARRAY[a.workspace_id], a.workspace_id, b.sum, h.sum
        FROM billing_account a,
        LATERAL (SELECT COALESCE(sum(amount), 0) AS sum FROM billing_ledgerentry
                 WHERE workspace_id = a.workspace_id) b,
        LATERAL (SELECT COALESCE(sum(amount), 0) AS sum FROM billing_hold
                 WHERE workspace_id = a.workspace_id AND freed_at IS NULL) h
        WHERE {_HERE.format("a")} AND a.plan = ANY(%(credit_plans)s)
          AND (b.sum < 0 OR h.sum > b.sum)""",
    ),
    Check(
        "I4",
        "Hold {0} is still set aside though its run has ended.",
        f"""SELECT ARRAY[h.id], h.id FROM billing_hold h
        LEFT JOIN routines_app_run r ON r.key = h.run_key
        WHERE {_HERE.format("h")} AND h.freed_at IS NULL
          AND (r.id IS NULL OR r.finished_at IS NOT NULL)""",
    ),
    Check(
        "I4",
        "Run {0} goes on and nothing is set aside for it.",
        f"""SELECT ARRAY[r.id], r.id FROM routines_app_run r
        WHERE {_HERE.format("r")} AND r.status IN ({_LIVE}) AND NOT EXISTS (
            SELECT FROM billing_hold h WHERE h.run_key = r.key AND h.freed_at IS NULL)""",
    ),
    Check(
        "I4",
        "Run {0} spent {1} micro-dollars; the ledger charged {2} and gave {3} back.",
        f"""SELECT ARRAY[r.id], r.id, r.spent, -e.charged, e.refunded FROM {_RUNS},
        LATERAL (SELECT COALESCE(sum(amount) FILTER (WHERE kind = 'run'), 0) AS charged,
                        COALESCE(sum(amount) FILTER (WHERE kind = 'refund'), 0) AS refunded
                 FROM billing_ledgerentry WHERE run_key = r.key) e
        WHERE {_SCOPE} AND r.finished_at IS NOT NULL AND (e.charged <> -r.spent
            OR e.refunded <> CASE WHEN r.cause = 'ours' THEN r.spent ELSE 0 END)""",
    ),
]

RUNNING = [
    Check(
        "I5",
        "Run {0} is {1} and its lease ended at {2:%Y-%m-%d %H:%M:%S}.",
        f"""SELECT ARRAY[r.id], r.id, r.status, f.lease_until FROM {_RUNS}
        WHERE {_HERE.format("f")} AND f.closed_at IS NULL
          AND f.lease_until < %(now)s::timestamptz - interval '30 seconds'""",
    ),
    Check(
        "I5",
        "Run {0} is {1} and no runner holds it.",
        f"""SELECT ARRAY[r.id], r.id, r.status FROM {_RUNS}
        WHERE {_HERE.format("f")} AND r.status IN ({_LIVE}) AND f.claim_token IS NULL""",
    ),
    Check(
        "I6",
        "Routine {0} has {1} live runs at once.",
        f"""SELECT array_agg(r.id), r.routine_id, count(*) FROM routines_app_run r
        WHERE {_HERE.format("r")} AND r.status IN ({_LIVE})
        GROUP BY r.routine_id HAVING count(*) > 1""",
    ),
]

TELLING = [
    Check(
        "I7",
        "Run {0} ended as {1} and the bell has no row for it.",
        f"""SELECT ARRAY[r.id], r.id, r.status FROM {_RUNS}
        WHERE {_SCOPE} AND r.status IN ({_TOLD_ALWAYS}) AND NOT EXISTS (
            SELECT FROM routines_app_delivery d WHERE d.run_id = r.id AND d.channel = 'bell')""",
    ),
    Check(
        "I7",
        "Run {0} was missed and no digest tells of it.",
        f"""SELECT ARRAY[r.id], r.id FROM {_RUNS}
        WHERE {_SCOPE} AND r.status = 'skip_missed' AND NOT EXISTS (
            SELECT FROM routines_app_notice n
            WHERE n.workspace_id = r.workspace_id AND n.run_id IS NULL
              AND n.facts->>'down_from' = r.facts->>'down_from')""",
    ),
    Check(
        "I7",
        "Delivery {0} of run {1} to {2} is {3}, and nobody can see that.",
        f"""SELECT ARRAY[d.id], d.id, d.run_id, d.channel, d.state
        FROM {_RUNS} JOIN routines_app_delivery d ON d.run_id = r.id
        WHERE {_SCOPE} AND (
            (d.state = 'waiting' AND r.finished_at < %(now)s::timestamptz - interval '25 hours')
            OR (d.state = 'taken' AND d.channel = 'bell' AND NOT EXISTS (
                SELECT FROM routines_app_notice n WHERE n.run_id = r.id)))""",
    ),
]

SCHEDULES = [
    Check(
        "I10",
        "Routine {0} was evaluated until {2} and had asked for {1:%Y-%m-%d %H:%M:%S} already.",
        f"""SELECT ARRAY[t.id, f.id], t.id, f.due_at, t.evaluated_until
        FROM routines_app_fire f JOIN routines_app_routine t ON t.id = f.routine_id
        WHERE {_SCOPE} AND {_OCCURRENCE}
          AND (t.evaluated_until IS NULL OR t.evaluated_until < f.due_at)""",
    ),
    Check(
        "I10",
        "Routine {0} fires next at {1:%Y-%m-%d %H:%M:%S}, which has been evaluated.",
        f"""SELECT ARRAY[t.id], t.id, t.next_fire_at FROM routines_app_routine t
        WHERE {_HERE.format("t")} AND t.enabled AND t.deleted_at IS NULL
          AND t.next_fire_at <= t.evaluated_until""",
    ),
    Check(
        "I12",
        "Fire {0} was asked for at {1:%Y-%m-%d %H:%M:%S}, before it was due at {2:%H:%M:%S}.",
        f"""SELECT ARRAY[f.id], f.id, f.requested_at, f.due_at FROM routines_app_fire f
        WHERE {_SCOPE} AND f.requested_at < f.due_at""",
    ),
]

FINAL = [
    Check(
        "I11",
        "Run {0} is {1}, but its end and its fire's say otherwise.",
        f"""SELECT ARRAY[r.id], r.id, r.status FROM {_RUNS}
        WHERE {_SCOPE} AND ((r.status IN ({_FINAL})) <> (r.finished_at IS NOT NULL)
            OR (r.status IN ({_FINAL})) <> (f.closed_at IS NOT NULL))""",
    ),
    Check(
        "I11",
        "Routine {0} counts {1} runs, {2} refusals, {3} failures and {4} micro-dollars; "
        "its rows say {5}, {6}, {7} and {8}.",
        f"""SELECT ARRAY[t.id], t.id, COALESCE(c.runs, 0), COALESCE(c.refusals, 0),
            COALESCE(c.failures, 0), COALESCE(c.spent, 0), s.runs, s.refusals, s.failures, s.spent
        FROM routines_app_routine t LEFT JOIN routines_app_routinetotals c ON c.routine_id = t.id,
        LATERAL (SELECT count(*) FILTER (WHERE effects_begun_at IS NOT NULL) AS runs,
                        count(*) FILTER (WHERE status IN ({_REFUSED})) AS refusals,
                        count(*) FILTER (WHERE status IN ({_FAILED})) AS failures,
                        COALESCE(sum(spent) FILTER (WHERE cause <> 'ours'), 0) AS spent
                 FROM routines_app_run r
                 WHERE r.routine_id = t.id AND r.finished_at IS NOT NULL) s
        WHERE {_HERE.format("t")}
          AND (COALESCE(c.runs, 0), COALESCE(c.refusals, 0), COALESCE(c.failures, 0),
               COALESCE(c.spent, 0)) <> (s.runs, s.refusals, s.failures, s.spent)""",
    ),
]

CHECKS = [*ONCE_EACH, *MONEY, *RUNNING, *TELLING, *SCHEDULES, *FINAL]

STATUSES = f"SELECT r.status, array_agg(r.id) FROM {_RUNS} WHERE {_SCOPE} GROUP BY r.status"

# What may have nothing to come: Python then asks the schedule itself.
IDLE = f"""
SELECT t.id FROM routines_app_routine t
WHERE {_HERE.format("t")} AND t.enabled AND t.deleted_at IS NULL
  AND t.schedule_kind <> 'when_asked'
  AND (t.next_fire_at IS NULL OR t.next_fire_at < %(now)s::timestamptz - interval '60 seconds')
  AND NOT EXISTS (SELECT FROM routines_app_fire f
                  WHERE f.routine_id = t.id AND f.closed_at IS NULL AND {_OCCURRENCE})
"""
