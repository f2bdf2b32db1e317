"""Whether the bell rings for a run."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

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


def cause_key(status: RunStatus, routine: str, zone: str, now: datetime) -> str:
    """What makes two rings one: the bell rings once for each key. "" rings for every run.

    A spent budget rings once a month for the workspace, a day's quota once a day, and the plan's
    count and a routine that turned itself off once in a month each (the guide's "once").
    """
    month = now.astimezone(ZoneInfo(zone)).strftime("%Y-%m")
    match status:
        case RunStatus.SKIP_BUDGET:
            return f"budget {month}"
        case RunStatus.SKIP_PLAN_COUNT:
            return f"plan count {month}"
        case RunStatus.SKIP_PLAN_QUOTA:
            return f"quota {routine} {now.astimezone(ZoneInfo(zone)):%Y-%m-%d}"
        case RunStatus.SKIP_AUTO_OFF | RunStatus.FAIL_NO_GRANT:
            return f"{status} {routine} {month}"
        case _:
            return ""


def third_overlap(before: Sequence[str]) -> bool:
    """Whether an overlap is the third in a row, by the statuses before it, the newest first."""
    overlap = RunStatus.SKIP_OVERLAP
    return [*before[:2]] == [overlap, overlap] and (len(before) < 3 or before[2] != overlap)
