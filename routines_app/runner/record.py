"""Every change of a run's status after its insert, each guarded by the claim's token."""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models.expressions import RawSQL

from billing.ledger import charge_run, refund_run
from foundation import database_clock
from foundation.failpoints import failpoint
from routines_app.delivery import tell
from routines_app.fires import Claim
from routines_app.fires.owed import note_on_span, settle_due
from routines_app.models import Routine, Run
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.occurrence import occurrence_key
from routines_app.rules.schedule import next_occurrence
from routines_app.rules.status import OPEN_STATUSES, RunStatus
from routines_app.rules.telling import should_ring
from routines_app.runner.closing import OpenRun, hold_open, write_end
from routines_app.runner.ending import Ending
from routines_app.runner.keep_changes import keep_changes
from routines_app.runner.keep_turn import keep_turn

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


def note_snapshot(claim: Claim, snapshot: dict[str, Any]) -> bool:
    """Note what only turned out once the run had begun: from how many turns its conversation goes
    on."""
    return (
        Run.objects.filter(
            pk=claim.run_id, finished_at__isnull=True, fire__claim_token=claim.token
        ).update(snapshot=snapshot)
        == 1
    )


def note_picked(claim: Claim, snapshot: dict[str, Any], agent_id: int | None) -> bool:
    """Note who was picked to do the work, whose run it is from then on."""
    return (
        Run.objects.filter(
            pk=claim.run_id, finished_at__isnull=True, fire__claim_token=claim.token
        ).update(snapshot=snapshot, agent_id=agent_id)
        == 1
    )


def finish(claim: Claim, ending: Ending) -> bool:
    """Write the run's end: status, ledger, freed hold, counters and outbox in one transaction.

    False when the claim is lost or the run is over: then nothing was written.
    """
    with transaction.atomic():
        closed = _close(hold_open(claim.fire_id, claim.token), ending)
        failpoint("record.before")
    failpoint("record.after")
    return closed


def finish_unclaimed(fire_id: int, ending: Ending) -> bool:
    """End a run that nobody holds, which a person stopped; False when it's too late for that."""
    with transaction.atomic():
        return _close(hold_open(fire_id, None), ending)


def _close(run: OpenRun | None, ending: Ending) -> bool:
    if run is None or run.status not in OPEN_STATUSES:
        return False
    spent = max(run.spent, ending.spent or 0)
    charge_run(run.workspace_id, run.key, spent, f"{run.routine_name}, run {run.number}", run.now)
    if ending.ours and spent:
        refund_run(run.workspace_id, run.key, spent, "Our fault, so we pay", run.now)
    failpoint("bill.before")
    write_end(run, ending, spent, {**ending.facts, **_count(run, ending)})
    if ending.left is not None:
        keep_turn(run, ending.left)
    if ending.changes:
        keep_changes(run, ending.changes)
    if run.attention or should_ring(ending.status, run.notify):
        row = Run.objects.select_related("routine__workspace").get(pk=run.run_id)
        tell(row, row.routine)
    return True


def _count(run: OpenRun, ending: Ending) -> dict[str, object]:
    """The streak, and what it or the schedule turns off, written only when it changed.

    Returns the facts that this adds to the run's sentence.
    """
    status, streak = ending.status, run.streak
    if status.completed:
        streak = 0
    elif status.may_count and not ending.ours:
        streak += 1
    failed_too_often = run.enabled and streak > run.streak and streak >= FAILURES_BEFORE_OFF
    once = run.enabled and run.schedule_kind == ScheduleKind.ONCE
    if streak == run.streak and not once:
        return {}
    routine = Routine.objects.get(pk=run.routine_id)
    routine.streak = streak
    facts: dict[str, object] = {}
    if failed_too_often:
        _turn_itself_off(routine, "failures", run.now)
        facts["turned_off"] = True
    elif once and _was_its_once(routine, run):
        _turn_itself_off(routine, "once", run.now)
        facts["was_once"] = True
    elif streak == run.streak:
        return {}
    routine.save(
        update_fields=["streak", "enabled", "off_reason", "off_by", "off_at", "next_fire_at"]
    )
    if facts:
        note_on_span(routine, run.now)
    return facts


def _turn_itself_off(routine: Routine, why: str, now: datetime) -> None:
    """`why`: failures or once. What was due by now and not scanned yet is asked for first."""
    settle_due(routine, now)
    routine.enabled, routine.off_reason = False, why
    routine.off_at, routine.off_by, routine.next_fire_at = now, None, None


def _was_its_once(routine: Routine, run: OpenRun) -> bool:
    """Whether this fire was for the one instant of a schedule that comes once, whoever asked."""
    if run.dedup_key != occurrence_key(run.due_at):
        return False
    return next_occurrence(routine.schedule, run.due_at - _MOMENT) == run.due_at
