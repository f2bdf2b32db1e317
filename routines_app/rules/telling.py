"""Whether the bell rings for a run."""

from routines_app.rules.status import Rings, RunStatus


def should_ring(status: RunStatus, notify: str) -> bool:
    """By the status, and where that leaves it open by the routine's setting.

    `notify`: change (something changed), every (each run), failure (only failures).
    """
    match status.rings:
        case Rings.YES | Rings.SELDOM:
            return True
        case Rings.NO:
            return False
        case Rings.AS_SET:
            return notify == "every" or (notify == "change" and status is RunStatus.DONE_CHANGED)
