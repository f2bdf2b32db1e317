"""How a run ends that couldn't come to its own end: its machine stayed shut or failed, or somebody
or something broke it off."""

import structlog

from machines.access import provider_for
from machines.providers.base import MachineError, Provider, Ref
from routines_app.admission import NotWoken
from routines_app.agents.turn import ComputerFailed, ComputerRefused
from routines_app.fires import Claim, requeue_fire
from routines_app.models import Run
from routines_app.rules.status import RunStatus
from routines_app.runner.ending import Ending
from routines_app.runner.lease import Why
from routines_app.runner.memory import read_state

log = structlog.get_logger()


def memory_left(provider: Provider, ref: Ref, slug: str) -> str | None:
    """state.md as a run left it; None when it can't be read."""
    try:
        return read_state(provider, ref, slug)
    except MachineError as error:
        log.warning("state_unreadable_after_run", reason=error.sentence)
        return None


def not_woken(woken: NotWoken, machine: str) -> Ending:
    """How a run ends whose machine stayed shut."""
    facts: dict[str, object] = {"machine": machine, "reason": woken.sentence}
    match woken.why:
        case "gone":
            return Ending(RunStatus.SKIP_MACHINE_GONE, facts)
        case "cold":
            return Ending(RunStatus.SKIP_COLD, facts)
        case "timeout":
            return Ending(RunStatus.SKIP_WAKE_TIMEOUT, facts, ours=True)
        case _:
            return Ending(RunStatus.SKIP_WAKE_REFUSED, facts)


def machine_trouble(error: ComputerRefused | ComputerFailed, checking: bool) -> Ending:
    """How a run ends whose machine failed outside a turn. `checking`: it had a check."""
    doing = "it was checking" if checking else "it was starting"
    if isinstance(error, ComputerFailed):
        facts: dict[str, object] = {"variant": error.variant, "reason": str(error), "doing": doing}
        return Ending(RunStatus.FAIL_MACHINE, facts, ours=error.variant == "silent")
    return Ending(RunStatus.FAIL_MACHINE, {"variant": "refused", "reason": str(error)})


def interrupted(claim: Claim, why: Why) -> Ending | None:
    """What a broken-off run ends as; None when nothing is to be written for it."""
    match why:
        case Why.LOST:
            return None
        case Why.STOPPED:
            run = _broken_off(claim)
            facts: dict[str, object] = {"person": str(run.stop_asked_by or "")}
            return Ending(RunStatus.STOP_PERSON, facts, state_after=_state_left(run))
        case Why.DELETED:
            return Ending(RunStatus.STOP_DELETED, state_after=_state_left(_broken_off(claim)))
        case Why.DRAINING:
            if requeue_fire(claim):
                return None
            left = _state_left(_broken_off(claim))
            return Ending(RunStatus.FAIL_RESTART, state_after=left, ours=True)


def _broken_off(claim: Claim) -> Run:
    return Run.objects.select_related("stop_asked_by", "machine", "routine").get(pk=claim.run_id)


def _state_left(run: Run) -> str | None:
    """state.md as a broken-off run left it; None when nothing had begun or it can't be read."""
    if run.effects_begun_at is None or run.machine is None:
        return None
    try:
        provider, ref = provider_for(run.machine)
    except MachineError as error:
        log.warning("state_unreadable_after_run", reason=error.sentence)
        return None
    return memory_left(provider, ref, run.routine.slug)
