"""Every change of a run's status after its insert, each guarded by the claim's token."""

import uuid
from datetime import datetime, timedelta

import structlog
from django.db import connection, transaction
from django.db.models.expressions import RawSQL

from billing.holds import free_hold
from billing.ledger import charge_run, refund_run
from foundation import clock, database_clock
from foundation.failpoints import failpoint
from routines_app.delivery import tell
from routines_app.fires import Claim
from routines_app.fires.owed import note_on_span, settle_due
from routines_app.models import Fire, Routine, Run
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.occurrence import occurrence_key
from routines_app.rules.schedule import next_occurrence
from routines_app.rules.status import OPEN_STATUSES, RunStatus
from routines_app.runner.ending import Ending

log = structlog.get_logger()

_MOMENT = timedelta(microseconds=1)
FAILURES_BEFORE_OFF = 5  # in a row; then the routine turns itself off and says so


def advance(claim: Claim, before: RunStatus, after: RunStatus, **times: RawSQL) -> bool:
    """Move a live run on; False when it isn't where we left it or the claim is lost."""
    return (
        Run.objects.filter(pk=claim.run_id, status=before, fire__claim_token=claim.token).update(
            status=after, **times
        )
        == 1
    )


def awake(claim: Claim) -> bool:
    """Note that the machine is awake; the run still counts as waking until its effects begin."""
    return advance(claim, RunStatus.WAKING, RunStatus.WAKING, awake_at=database_clock.read_there())


def begin_effects(claim: Claim, status: RunStatus, state: str) -> bool:
    """Commit that effects begin, once, before any of them: after this it is never run again.

    `state` is the text of state.md as the run found it, and as it left it until its end is known:
    a run that is stopped or broken off hasn't wiped it.
    """
    failpoint("effects.before")
    now = database_clock.read_there()
    times = {"effects_begun_at": now}
    if status is RunStatus.RUNNING:
        times["turn_at"] = now
    return (
        Run.objects.filter(
            pk=claim.run_id,
            status=RunStatus.WAKING,
            effects_begun_at__isnull=True,
            fire__claim_token=claim.token,
        ).update(status=status, state_before=state, state_after=state, **times)
        == 1
    )


def checked(claim: Claim) -> bool:
    """The check found something: the turn begins."""
    now = database_clock.read_there()
    return advance(claim, RunStatus.CHECKING, RunStatus.RUNNING, checked_at=now, turn_at=now)


def finish(claim: Claim, ending: Ending) -> bool:
    """Write the run's end: status, ledger, freed hold, counters and outbox in one transaction.

    False when the claim is lost or the run is over: then nothing was written.
    """
    with transaction.atomic():
        closed = _close(_held(claim.fire_id, claim.token), ending)
        failpoint("record.before")
    failpoint("record.after")
    return closed


def finish_unclaimed(fire_id: int, ending: Ending) -> bool:
    """End a run that nobody holds, which a person stopped; False when it's too late for that."""
    with transaction.atomic():
        return _close(_held(fire_id, None), ending)


# Always the fire first, then its run, then the routine: whoever brings a dead runner's work on
# locks in this order too.
_HOLD_FIRE = """
SELECT clock_timestamp() FROM routines_app_fire
WHERE id = %s AND claim_token IS NOT DISTINCT FROM %s AND closed_at IS NULL
FOR NO KEY UPDATE
"""


def _held(fire_id: int, token: uuid.UUID | None) -> tuple[Run, datetime] | None:
    """The run of an open fire with this token, with its routine, both locked, and the time."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD_FIRE, [fire_id, token])
        row = cursor.fetchone()
    if row is None:
        return None
    run = (
        Run.objects.select_related("routine", "fire")
        .select_for_update(of=("self", "routine"), no_key=True)
        .get(fire_id=fire_id)
    )
    return run, row[0] + timedelta(seconds=clock.offset_seconds())


def _close(held: tuple[Run, datetime] | None, ending: Ending) -> bool:
    if held is None:
        return False
    run, now = held
    routine = run.routine
    if RunStatus(run.status) not in OPEN_STATUSES:
        return False
    began = run.effects_begun_at is not None
    run.status = ending.status
    run.finished_at = now
    run.facts = {**run.facts, **ending.facts}
    run.headline = ending.headline[:300]
    run.body = ending.body
    run.doing = {}
    run.changed = ending.changed
    run.cause = "ours" if ending.ours else ("theirs" if ending.status.failed else "")
    if ending.spent is not None:
        run.spent = max(run.spent, ending.spent)
    if ending.usage is not None:
        run.input_tokens = ending.usage.input_tokens
        run.cached_tokens = ending.usage.cached_tokens
        run.output_tokens = ending.usage.output_tokens
        run.requests = ending.usage.requests
    if ending.state_after is not None:
        run.state_after = ending.state_after
    charge_run(run.workspace_id, run.key, run.spent, f"{routine.name}, run {run.number}", now)
    if ending.ours and run.spent:
        refund_run(run.workspace_id, run.key, run.spent, "Our fault, so we pay", now)
    failpoint("bill.before")
    free_hold(run.key, now)
    _count(routine, run, ending, now)
    run.save(update_fields=_ENDED)
    with connection.cursor() as cursor:
        cursor.execute(_CLOSE, {
            "fire": run.fire_id, "routine": routine.pk, "now": now, "runs": int(began),
            "refusals": int(ending.status.refused), "failures": int(ending.status.failed),
            # What we refund isn't theirs.
            "spent": 0 if ending.ours else run.spent,
        })  # fmt: skip
    tell(run, routine)
    return True


_ENDED = [
    "status", "finished_at", "facts", "headline", "body", "changed", "cause", "spent",
    "input_tokens", "cached_tokens", "output_tokens", "requests", "state_after",
]  # fmt: skip

_CLOSE = """
WITH closed AS (UPDATE routines_app_fire SET closed_at = %(now)s WHERE id = %(fire)s)
INSERT INTO routines_app_routinetotals AS t (routine_id, runs, refusals, failures, spent)
VALUES (%(routine)s, %(runs)s, %(refusals)s, %(failures)s, %(spent)s)
ON CONFLICT (routine_id) DO UPDATE
SET runs = t.runs + excluded.runs, refusals = t.refusals + excluded.refusals,
    failures = t.failures + excluded.failures, spent = t.spent + excluded.spent
"""


def _count(routine: Routine, run: Run, ending: Ending, now: datetime) -> None:
    """The streak, and what it or the schedule turns off; written only when it changed."""
    status = ending.status
    streak, enabled = routine.streak, routine.enabled
    if status.completed:
        routine.streak = 0
    elif status.may_count and not ending.ours:
        routine.streak += 1
        if routine.streak >= FAILURES_BEFORE_OFF and routine.enabled:
            _turn_itself_off(routine, "failures", now)
            run.facts = {**run.facts, "turned_off": True}
    if routine.enabled and _was_its_once(routine, run.fire):
        _turn_itself_off(routine, "once", now)
        run.facts = {**run.facts, "was_once": True}
    if (routine.streak, routine.enabled) != (streak, enabled):
        routine.save(
            update_fields=["streak", "enabled", "off_reason", "off_by", "off_at", "next_fire_at"]
        )
    if enabled and not routine.enabled:
        note_on_span(routine, now)


def _turn_itself_off(routine: Routine, why: str, now: datetime) -> None:
    """`why`: failures or once. What was due by now and not scanned yet is asked for first."""
    settle_due(routine, now)
    routine.enabled, routine.off_reason = False, why
    routine.off_at, routine.off_by, routine.next_fire_at = now, None, None


def _was_its_once(routine: Routine, fire: Fire) -> bool:
    """Whether this fire was for the one instant of a schedule that comes once, whoever asked."""
    if routine.schedule_kind != ScheduleKind.ONCE or fire.dedup_key != occurrence_key(fire.due_at):
        return False
    return next_occurrence(routine.schedule, fire.due_at - _MOMENT) == fire.due_at
