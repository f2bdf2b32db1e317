"""The one useful action of a sentence, while it would still do what it says."""

from machines.lifecycle import MachineState
from routines_app.models import Run
from routines_app.rules.sentences import Act
from routines_app.web.acts import ActLink, act_link


def act_now(act: Act | None, run: Run) -> ActLink | None:
    """Where it leads, in a list of runs; None when there is none, or when what it offers to undo
    has been undone since."""
    if act is None or _undone(act.code, run):
        return None
    return act_link(act, run)


def _undone(code: str, run: Run) -> bool:
    routine, machine = run.routine, run.machine
    match code:
        case "turn_on":
            return routine.enabled
        case "see_failures":
            return routine.enabled or routine.off_reason != "failures"
        case "resume":
            return run.workspace.paused_at is None
        case "restore":
            return machine is None or machine.state != MachineState.ARCHIVED
        case _:
            return False
