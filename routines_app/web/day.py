"""A machine's day as spans on the line. Pure: instants in, positions out."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

LEAST_WIDTH = 0.4  # percent of the day, so that a short waking can be seen


@dataclass(frozen=True)
class Awake:
    """One stretch of being awake. `until` None: it still is."""

    since: datetime
    until: datetime | None


@dataclass(frozen=True)
class Mark:
    """One span, in percent of the day's length; `now` when it goes on."""

    x: str
    width: str
    now: bool


@dataclass(frozen=True)
class Day:
    """What is drawn: spans so far, and where a waking is expected."""

    marks: tuple[Mark, ...]
    expected: tuple[str, ...]
    awake: timedelta
    wakings: int


def day_of(
    spans: Iterable[Awake],
    expected: Iterable[datetime],
    start: datetime,
    end: datetime,
    now: datetime,
) -> Day:
    """The day from `start` to `end` (23 to 25 hours), seen at `now`; what lies outside is cut."""
    length = (end - start).total_seconds()

    def at(instant: datetime) -> float:
        return 100 * (instant - start).total_seconds() / length

    marks, total = [], timedelta()
    for span in sorted(spans, key=lambda each: each.since):
        since, until = max(span.since, start), min(span.until or now, end)
        if until < since:
            continue
        total += until - since
        left = at(since)
        width = min(max(at(until) - left, LEAST_WIDTH), 100 - left)
        marks.append(Mark(f"{left:.2f}%", f"{width:.2f}%", span.until is None))
    ahead = tuple(f"{at(instant):.2f}%" for instant in sorted(expected) if now < instant < end)
    return Day(tuple(marks), ahead, total, len(marks))
