"""What becomes of occurrences that fell while nothing was scanning. Source: architecture, Time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

LONGEST = timedelta(hours=4)
SHORTEST = timedelta(seconds=60)
ONCE = timedelta(hours=24)
MOST_ROWS = 1_000


def grace_of(occurrence: datetime, following: datetime | None) -> timedelta:
    """How late this occurrence may still start: the lesser of four hours and half the gap to the
    next one, at least a minute; a day when nothing follows, as for a schedule that comes once."""
    if following is None:
        return ONCE
    return max(min(LONGEST, (following - occurrence) / 2), SHORTEST)


@dataclass(frozen=True)
class MissedRange:
    """Occurrences that didn't run, told as one row: the first, the last, and how many."""

    first: datetime
    last: datetime
    count: int


@dataclass(frozen=True)
class CatchUp:
    """What follows from the occurrences that are due: at most one fires, the others are missed."""

    fires: datetime | None
    missed: list[MissedRange]


def catch_up(
    due: list[datetime], following: datetime | None, now: datetime, grace: timedelta | None = None
) -> CatchUp:
    """Judge the occurrences that are due by now, oldest first; never empty.

    `following` is the occurrence after the newest; `grace` overrides the rule. Each missed one is
    a row of its own; past 1,000 they are told as one.
    """
    newest = due[-1]
    allowed = grace if grace is not None else grace_of(newest, following)
    in_time = now - newest <= allowed
    missed = due[:-1] if in_time else due
    if len(missed) > MOST_ROWS:
        rows = [MissedRange(missed[0], missed[-1], len(missed))]
    else:
        rows = [MissedRange(each, each, 1) for each in missed]
    return CatchUp(newest if in_time else None, rows)
