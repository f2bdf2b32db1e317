"""Runs that ring for nobody, written many at once with all that the runner would have written."""

import uuid
from datetime import datetime, timedelta

from billing.models import Hold, LedgerEntry
from routines_app.admission.admit import take_snapshot
from routines_app.agents.turn import Usage
from routines_app.configure.agent_apps import doer_of
from routines_app.configure.models import UsableModel, model_for
from routines_app.delivery.attention import settle
from routines_app.management.demo.play import course_of, ending_of, steps_of, takes_a_turn
from routines_app.management.demo.played import Played, Quiet
from routines_app.models import Fire, FolderChange, Routine, RoutineTotals, Run, Step
from routines_app.rules.occurrence import occurrence_key
from routines_app.rules.schedule import next_occurrence
from routines_app.rules.status import RunStatus
from routines_app.rules.telling import should_ring
from routines_app.runner.ending import Ending
from routines_app.runner.keep_changes import change_rows

LEASE = timedelta(seconds=45)


def is_quiet(status: RunStatus, notify: str) -> bool:
    """Whether a run may be written so: it came to its own end and rings for nobody."""
    ended_well = status.completed or status is RunStatus.NOTHING_TO_DO
    return ended_well and not should_ring(status, notify)


def write_quiet_runs(played: Played, worker: str, now: datetime) -> list[Step]:
    """Write those that `played` keeps, with all that the runner would have written; their steps.

    The routine must be as it was when they ran: call it before it is changed.
    """
    kept, played.quiet = played.quiet, []
    if not kept:
        return []
    routine = Routine.objects.select_related("agent", "machine", "workspace").get(
        pk=played.routine.pk
    )
    model = model_for(routine)
    usable = model if isinstance(model, UsableModel) else None
    doer = doer_of(routine)
    snapshot = take_snapshot(routine, usable, doer)
    fires = Fire.objects.bulk_create([_fire(routine, each, played, worker, now) for each in kept])
    runs, endings = [], []
    for number, (fire, each) in enumerate(zip(fires, kept, strict=True), routine.run_counter + 1):
        before = played.memory
        ending = ending_of(played, each.outcome, course_of(each.outcome, each.began, now).ended)
        run = _run(routine, fire, each, ending, now)
        run.number, run.snapshot, run.agent = number, snapshot, doer.agent
        run.state_before, run.state_after = before, played.memory
        endings.append(ending)
        runs.append(run)
    runs = Run.objects.bulk_create(runs)
    FolderChange.objects.bulk_create(
        row
        for run, ending in zip(runs, endings, strict=True)
        for row in change_rows(run.pk, routine.pk, ending.changes)
    )
    amount = routine.cap if usable else 0
    Hold.objects.bulk_create(
        Hold(workspace_id=run.workspace_id, run_key=run.key, amount=amount,
             taken_at=each.began, freed_at=run.finished_at)
        for run, each in zip(runs, kept, strict=True)
    )  # fmt: skip
    routine.run_counter += len(runs)
    routine.evaluated_until = kept[-1].asked
    routine.next_fire_at = next_occurrence(routine.schedule, kept[-1].asked)
    if any(run.state.completed for run in runs):
        routine.streak = 0
    routine.save(update_fields=["run_counter", "evaluated_until", "next_fire_at", "streak"])
    totals, _ = RoutineTotals.objects.get_or_create(routine=routine)
    totals.runs += len(runs)
    totals.spent += sum(run.spent for run in runs)
    totals.save(update_fields=["runs", "spent"])
    LedgerEntry.objects.bulk_create(_charge(run, routine.name, now) for run in runs if run.spent)
    settle(next((run for run in reversed(runs) if run.state.completed), runs[-1]))
    settle(runs[-1])
    return [
        step
        for run, each in zip(runs, kept, strict=True)
        for step in steps_of(
            run.pk, snapshot["machine"], snapshot["check"], each.outcome,
            course_of(each.outcome, each.began, now),
        )
    ]  # fmt: skip


def _fire(routine: Routine, each: Quiet, played: Played, worker: str, now: datetime) -> Fire:
    return Fire(
        routine=routine,
        workspace_id=routine.workspace_id,
        source="timer",
        dedup_key=occurrence_key(each.due),
        due_at=each.due,
        requested_at=each.asked,
        schedule_version=routine.schedule_version,
        claimed_by=worker,
        claim_token=uuid.UUID(int=played.rng.getrandbits(128)),
        lease_until=each.began + LEASE,
        attempts=1,
        closed_at=course_of(each.outcome, each.began, now).ended,
    )


def _run(routine: Routine, fire: Fire, each: Quiet, ending: Ending, now: datetime) -> Run:
    at = course_of(each.outcome, each.began, now)
    turned = takes_a_turn(each.outcome)
    usage = ending.usage or Usage()
    return Run(
        fire=fire,
        routine=routine,
        workspace_id=routine.workspace_id,
        machine_id=routine.machine_id,
        status=ending.status,
        attempt=1,
        version=routine.version,
        queued_at=each.asked,
        waking_at=at.began,
        awake_at=at.awake,
        effects_begun_at=at.awake,
        checked_at=at.turn if turned and each.outcome.check else None,
        turn_at=at.turn if turned else None,
        finished_at=at.ended,
        spent=ending.spent or 0,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        requests=usage.requests,
        facts=ending.facts,
        headline=ending.headline,
        changed=ending.changed,
        body=ending.body,
    )


def _charge(run: Run, name: str, now: datetime) -> LedgerEntry:
    return LedgerEntry(
        workspace_id=run.workspace_id,
        kind="run",
        amount=-run.spent,
        run_key=run.key,
        note=f"{name}, run {run.number}",
        created_at=run.finished_at or now,
    )
