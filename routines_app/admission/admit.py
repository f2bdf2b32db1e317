"""Admission: gather the facts, decide, and either hold the cap or say why not."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from billing.holds import NotEnough, take_hold
from foundation.failpoints import failpoint
from routines_app.admission.plan_facts import plan_facts
from routines_app.agents.connectors import App, narrowed
from routines_app.agents.routing import Candidates
from routines_app.configure.agent_apps import Doer, barred_app, doer_of, nobody_may
from routines_app.configure.apps import Missing, apps_for, missing_app, offered_json
from routines_app.configure.candidates import candidates_of
from routines_app.configure.models import (
    Unusable,
    UsableModel,
    model_for,
)
from routines_app.configure.target import target_of
from routines_app.fires import Claim
from routines_app.models import AgentRuntime, Routine, Run
from routines_app.rules.admission import AdmissionFacts, Admitted, Refused, decide
from routines_app.rules.grace import grace_of
from routines_app.rules.schedule import next_occurrence
from routines_app.rules.status import LIVE_STATUSES, RunStatus


@dataclass(frozen=True)
class Ready:
    """Admitted: the run is `waking`, its cap is held, its snapshot is taken.

    `apps` are what its agent may use of the routine's; all of them where that is still to be
    picked, among `candidates` (None when it's settled).
    """

    run: Run
    model: UsableModel | None
    apps: tuple[App, ...] = ()
    candidates: Candidates | None = None


@dataclass(frozen=True)
class _Who:
    """Who would do the work, read once: what it is let in by is what it runs with."""

    doer: Doer
    candidates: Candidates | None


def admit(claim: Claim) -> Ready | Refused | None:
    """Let the claimed fire in, or refuse it; None when the claim has been lost meanwhile.

    Losing the database's index of live runs is what an overlap is.
    """
    # Who turned it off or paused it is read only where that is what refuses it: each table more
    # costs every run some of its start.
    run = Run.objects.select_related(
        "fire", "workspace__account", "routine__agent", "routine__machine"
    ).get(pk=claim.run_id)
    model = model_for(run.routine)
    now = claim.at
    usable = model if isinstance(model, UsableModel) else None
    # Without apps who does it refuses nothing, so that is read only where the run is let in.
    who = _who(run.routine) if usable and run.routine.apps else None
    decision = decide(_facts(run, model, who, now))
    if isinstance(decision, Refused):
        return decision
    assert isinstance(decision, Admitted)
    who = who or _who(run.routine)
    apps = apps_for(run.routine) if usable and run.routine.apps else ()
    try:
        with transaction.atomic():
            snapshot = take_snapshot(run.routine, usable, who.doer, apps)
            moved = Run.objects.filter(
                pk=run.pk, status=RunStatus.QUEUED, fire__claim_token=claim.token
            ).update(
                status=RunStatus.WAKING,
                waking_at=now,
                snapshot=snapshot,
                version=run.routine.version,
                machine_id=run.routine.machine_id,
                agent=who.doer.agent,
            )
            if moved != 1:
                return None
            _as_written(run, now, snapshot)
            failpoint("admission.before")
            # A run that asks no model costs nothing, so nothing is set aside for it.
            amount = run.routine.cap if usable else 0
            missing = take_hold(run.workspace_id, run.key, amount, now)
            if missing is not None:
                raise _Short(missing)
            failpoint("hold.before")
        failpoint("hold.after")
    except _Short as short:
        money = {"kind": short.missing.kind, "left": short.missing.left}
        return Refused(
            RunStatus.SKIP_BUDGET,
            {**money, "limit": short.missing.limit, "amount": run.routine.cap},
        )
    except IntegrityError as error:
        if "one_live_run_a_routine" not in str(error):
            raise
        other = Run.objects.filter(routine_id=run.routine_id, status__in=LIVE_STATUSES).first()
        facts: dict[str, object] = {}
        if other is not None:
            facts = {"other_number": other.number, "other_at": other.queued_at.isoformat()}
        return Refused(RunStatus.SKIP_OVERLAP, facts)
    failpoint("admission.after")
    if usable is None:
        return Ready(run, None)
    if who.candidates is None:
        apps = narrowed(apps, who.doer.allowed)
    return Ready(run, usable, apps, who.candidates)


def _who(routine: Routine) -> _Who:
    doer = doer_of(routine)
    return _Who(doer, candidates_of(routine) if doer.picks else None)


def _no_app(routine: Routine, who: _Who) -> Missing | None:
    """An app that the routine requires, and that isn't connected or may not be used by anybody who
    could do the work."""
    missing = missing_app(routine)
    if missing is not None:
        return missing
    if who.candidates is None:
        return barred_app(routine, who.doer)
    return None if who.candidates.able else nobody_may(routine)


def _as_written(run: Run, now: datetime, snapshot: dict[str, Any]) -> None:
    """Bring the row that was read to what has just been written of it."""
    run.status, run.waking_at, run.snapshot = RunStatus.WAKING, now, snapshot
    run.version, run.machine = run.routine.version, run.routine.machine


class _Short(Exception):
    """Ends the admitting transaction: the money doesn't reach."""

    def __init__(self, missing: NotEnough) -> None:
        super().__init__(missing.kind)
        self.missing = missing


def _facts(
    run: Run, model: UsableModel | Unusable | None, who: _Who | None, now: datetime
) -> AdmissionFacts:
    routine, fire = run.routine, run.fire
    machine = routine.machine
    # A script calls no apps, so none is missed.
    app = _no_app(routine, who) if who is not None else None
    return AdmissionFacts(
        by_person=fire.requested_by_id is not None and routine.deleted_at is None,
        enabled=routine.enabled and routine.deleted_at is None,
        off_reason=routine.off_reason,
        off_by="" if routine.enabled else str(routine.off_by or ""),
        workspace_paused=run.workspace.paused_at is not None,
        paused_by=str(run.workspace.paused_by or ""),
        schedule_changed=fire.schedule_version is not None
        and fire.schedule_version != routine.schedule_version,
        machine=machine.name if machine else None,
        machine_gone=machine is not None and machine.deleted_at is not None,
        agent=_asked_name(routine),
        no_model=model.reason if isinstance(model, Unusable) else "",
        limits=plan_facts(run, now),
        waited=(now - fire.due_at).total_seconds(),
        grace=_grace(run),
        no_app=app.name if app else "",
        no_app_why=app.why if app else "",
        barred=app.barred if app else "",
        barred_slug=app.barred_slug if app else "",
        no_app_tools=app.tools if app else "",
    )


def _asked_name(routine: Routine) -> str:
    if routine.agent is not None:
        return routine.agent.name
    return "It" if routine.model else "Assistant"


def _grace(run: Run) -> float | None:
    """How long this occurrence may wait for its place. What a crash gave back isn't held to it."""
    routine, fire = run.routine, run.fire
    if fire.schedule_version is None or run.attempt > 1:
        return None
    if routine.grace is not None:
        return routine.grace.total_seconds()
    following = next_occurrence(routine.schedule, fire.due_at)
    # The same grace let it be asked for late, so from then on it may wait as long again.
    return 2 * grace_of(fire.due_at, following).total_seconds()


def take_snapshot(
    routine: Routine,
    model: UsableModel | None,
    doer: Doer | None = None,
    apps: tuple[App, ...] = (),
) -> dict[str, Any]:
    """What this run runs with, whatever is edited meanwhile. Money micro-dollars, time seconds.

    `apps` are those of the routine that are there.
    """
    doer = doer or doer_of(routine)
    agent, version = doer.agent, doer.version
    return {
        "instructions": routine.instructions,
        "check": routine.check_command,
        "folder": routine.working_folder,
        "cap": routine.cap,
        "time_limit": int(routine.time_limit.total_seconds()),
        "step_limit": routine.step_limit,
        "conversation": routine.conversation,
        "notify": routine.notify,
        "agent": agent.name if agent else ("" if routine.model else "Assistant"),
        "agent_version": agent.version if agent else None,
        "target": target_of(routine),
        "runtime": agent.runtime if agent else AgentRuntime.MODEL.value,
        "persona": version.persona if version else "",
        "tools": version.tools if version else None,
        "apps": routine.apps,
        "offered": offered_json(routine, apps, doer.allowed) if model else [],
        "model": model.label if model else "",
        "machine": routine.machine.name if routine.machine else "",
    }
