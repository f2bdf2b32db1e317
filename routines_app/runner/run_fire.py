"""The life of one fire in a runner: admit, wake, check, turn, record."""

import os
import socket
from dataclasses import replace

import structlog
from django.db import DatabaseError, InterfaceError

from foundation import clock, database_clock
from foundation.failpoints import failpoint
from machines.models import Machine
from machines.providers.base import MachineError
from routines_app.admission import NotWoken, Woken, admit, wake_machine
from routines_app.admission.admit import Ready
from routines_app.agents.connectors import OpenApps
from routines_app.agents.interrupted import keep_what_was_printed
from routines_app.agents.live_output import LiveOutput
from routines_app.agents.runtimes import runtime_for
from routines_app.agents.turn import (
    ComputerFailed,
    ComputerRefused,
    ModelChoice,
    NewStep,
    StepKind,
    TurnInterrupted,
    TurnOutcome,
    TurnRequest,
)
from routines_app.fires import Claim, claim_fire, waiting_fires
from routines_app.fires.doorbell import ring_for_fires
from routines_app.models import Run
from routines_app.rules.admission import Refused
from routines_app.rules.check import CHECK_SECONDS, CarryOn, EndHere, read_check
from routines_app.rules.status import RunStatus
from routines_app.runner import record
from routines_app.runner.apps import note_apps, without_its_apps
from routines_app.runner.computer import MachineComputer
from routines_app.runner.conversation import go_on, left_by
from routines_app.runner.cut_short import (
    interrupted,
    machine_trouble,
    memory_left,
    not_woken,
)
from routines_app.runner.ending import Ending, LeftBehind
from routines_app.runner.folder import RunFolders
from routines_app.runner.hand_over import hand_over, note_use
from routines_app.runner.lease import LeaseKeeper, Why, draining
from routines_app.runner.memory import read_state
from routines_app.runner.patience import patiently
from routines_app.runner.steps import StoredSteps

log = structlog.get_logger()


class ClaimLost(Exception):
    """Another runner has this fire now: nothing more may be written or done for it."""


def worker_name() -> str:
    """This runner, as a claim names it: host and process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def take_fire(fire_id: int) -> None:
    """Take one fire and bring it to its row. Harmless when somebody else has it or it is over."""
    if draining.is_set():
        return  # it stays queued for the next runner
    claim = claim_fire(fire_id, worker_name())
    if claim is None:
        return
    with structlog.contextvars.bound_contextvars(fire=fire_id, run=claim.run_id):
        try:
            with LeaseKeeper(claim) as lease:
                _bring_home(claim, lease)
        finally:
            _ring_for_the_next(claim)


def _bring_home(claim: Claim, lease: LeaseKeeper) -> None:
    ending: Ending | None
    folders = RunFolders()
    try:
        ending = _work(claim, lease, folders)
    except ClaimLost:
        log.warning("claim_lost")
        return
    except TurnInterrupted:
        ending = interrupted(claim, lease.why or Why.LOST)
    except (DatabaseError, InterfaceError):
        # The row can't be written now. The lease ends, and whoever finds it then decides.
        log.exception("database_failed_in_a_run")
        return
    except Exception:
        log.exception("run_failed_by_our_fault")
        reason = "Something of ours broke while it ran."
        ending = Ending(RunStatus.FAIL_PLATFORM, {"reason": reason}, ours=True)
    if ending is None:
        return
    ended = folders.into(ending)
    if not patiently(lambda: record.finish(claim, ended)):
        log.warning("end_not_recorded", status=ended.status)


def _work(claim: Claim, lease: LeaseKeeper, folders: RunFolders) -> Ending:
    lease.check()
    admitted = admit(claim)
    if admitted is None:
        raise ClaimLost
    if isinstance(admitted, Refused):
        return Ending(admitted.status, admitted.facts)
    run = admitted.run
    assert run.machine is not None  # admission refuses a routine without a machine
    steps = StoredSteps(claim, lease)
    began = clock.monotonic()
    woken = wake_machine(run.machine, run.routine.name)
    if isinstance(woken, NotWoken):
        return not_woken(woken, run.machine.name)
    if not record.awake(claim):
        raise ClaimLost
    steps.record(
        NewStep(
            StepKind.WOKE,
            run.machine.name,
            seconds=clock.monotonic() - began,
            facts={"already": woken.already},
        )
    )
    with OpenApps(admitted.apps) as apps:
        without = without_its_apps(apps, run, steps)
        if without is not None:
            return without
        try:
            return _on_the_machine(claim, admitted, woken, steps, apps, folders)
        finally:
            note_apps(apps, run.workspace_id)


def _on_the_machine(
    claim: Claim,
    ready: Ready,
    woken: Woken,
    steps: StoredSteps,
    apps: OpenApps,
    folders: RunFolders,
) -> Ending:
    run, slug = ready.run, ready.run.routine.slug
    try:
        state = read_state(woken.provider, woken.ref, slug)
    except MachineError as error:
        variant = "silent" if error.may_retry else "refused"
        return Ending(
            RunStatus.FAIL_MACHINE, {"variant": variant, "reason": error.sentence}, ours=True
        )
    computer = MachineComputer(woken.provider, woken.ref, str(run.key), run.machine.name)  # type: ignore[union-attr]
    has_check = bool(run.snapshot["check"].strip())
    first = RunStatus.CHECKING if has_check else RunStatus.RUNNING
    if not record.begin_effects(claim, first, state):
        raise ClaimLost
    failpoint("effects.after")
    try:
        if has_check:
            found = _check(run, computer, steps)
            if isinstance(found, EndHere):
                return Ending(found.status, found.facts, state_after=state)
            if not patiently(lambda: record.checked(claim)):
                raise ClaimLost
        own, works_in = run.routine.memory_folder, run.snapshot["folder"]
        folders.look(woken.provider, woken.ref, own, works_in, state, steps.check)
        outcome, left = _turn(ready, computer, steps, state, apps)
    except (ComputerRefused, ComputerFailed) as error:
        return machine_trouble(error, has_check)
    ending = _turned(outcome, memory_left(woken.provider, woken.ref, slug), left)
    return patiently(lambda: _with_its_context(run, ending))


def _check(run: Run, computer: MachineComputer, steps: StoredSteps) -> CarryOn | EndHere:
    command = run.snapshot["check"]
    steps.begin(StepKind.CHECK, command)
    try:
        live = LiveOutput.of(steps)
        result = computer.run(
            ["bash", "-c", command],
            cwd=run.snapshot["folder"],
            timeout=CHECK_SECONDS,
            check=live.check,
            heard=live.heard,
        )
    except (TurnInterrupted, ComputerFailed) as error:
        keep_what_was_printed(steps.record, error, StepKind.CHECK, command)
        raise
    failpoint("check.before")
    steps.record(
        NewStep(
            StepKind.CHECK,
            command,
            content=result.output,
            seconds=result.seconds,
            facts={"exit_code": result.exit_code, "reason": result.reason},
        )
    )
    failpoint("check.after")
    return read_check(result.exit_code, result.reason, result.output, result.stderr, result.seconds)


def _turn(
    ready: Ready, computer: MachineComputer, steps: StoredSteps, state: str, apps: OpenApps
) -> tuple[TurnOutcome, LeftBehind | None]:
    run, snapshot = ready.run, ready.run.snapshot
    choice = None
    if ready.model is not None:
        choice = ModelChoice(ready.model.connection, ready.model.name, ready.model.price)
        note_use(ready.model.key_id)
    request = TurnRequest(
        run_id=str(run.key),
        routine_name=run.routine.name,
        instructions=snapshot["instructions"],
        folder=snapshot["folder"],
        state=state,
        cap=snapshot["cap"],
        seconds=float(snapshot["time_limit"]),
        max_steps=snapshot["step_limit"],
        persona=snapshot["persona"],
        model=choice,
        tools=None if snapshot.get("tools") is None else tuple(snapshot["tools"]),
        apps=apps,
    )
    if ready.candidates is not None:
        request = hand_over(request, ready, steps)
    request, began = go_on(request, run, steps)
    outcome = runtime_for(request).take_turn(request, computer, steps)
    return outcome, left_by(outcome, began, request, run)


def _turned(outcome: TurnOutcome, state_after: str | None, left: LeftBehind | None) -> Ending:
    return Ending(
        RunStatus(outcome.code),
        outcome.facts,
        headline=outcome.headline,
        body=outcome.body,
        changed=outcome.changed,
        spent=outcome.spent,
        usage=outcome.usage,
        state_after=state_after,
        left=left,
    )


def _with_its_context(run: Run, ending: Ending) -> Ending:
    """The facts that only the rows know: since when nothing changed, which limit was reached."""
    facts = dict(ending.facts)
    if ending.status is RunStatus.DONE_UNCHANGED:
        before = (
            Run.objects.filter(
                routine_id=run.routine_id,
                number__lt=run.number,
                status__in=[status for status in RunStatus if status.completed],
            )
            .order_by("-number")
            .first()
        )
        if before is not None and before.finished_at is not None:
            facts["since"] = before.finished_at.isoformat()
    if ending.status is RunStatus.STOP_TIME:
        facts.setdefault("limit_seconds", run.snapshot["time_limit"])
    return replace(ending, facts=facts)


def _ring_for_the_next(claim: Claim) -> None:
    """The machine is free: whoever waits for it is told."""
    machine_id = Run.objects.values_list("machine_id", flat=True).get(pk=claim.run_id)
    if machine_id is not None:
        Machine.objects.filter(pk=machine_id).update(used_at=database_clock.read_there())
        ring_for_fires(waiting_fires(machine_id=machine_id, limit=2))
