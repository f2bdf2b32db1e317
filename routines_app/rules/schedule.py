"""A routine's schedule: its next occurrences over the union of its expressions.

Everything is a function of (schedule, reference time); no clock is read here.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from routines_app.rules import cron_spread, zones
from routines_app.rules.checks import FieldError, read_instant, validate
from routines_app.rules.cron import Cron, compile_cron, earliest
from routines_app.rules.kinds import (
    Schedule,
    ScheduleKind,
    expressions,
    from_json,
    schedule_of,
    to_json,
)
from routines_app.rules.read_back import describe_schedule, read_back

__all__ = [
    "FieldError",
    "Schedule",
    "ScheduleKind",
    "at_most_once_a_day",
    "crons",
    "dates_are_distinct",
    "describe_schedule",
    "expressions",
    "from_json",
    "instants_between",
    "next_occurrence",
    "occurrences_between",
    "preview",
    "read_back",
    "schedule_of",
    "smallest_gap",
    "to_json",
    "validate",
]


def crons(schedule: Schedule) -> tuple[Cron, ...]:
    """The schedule's compiled expressions; none for ONCE and WHEN_ASKED."""
    return tuple(compile_cron(text) for text in expressions(schedule))


def next_occurrence(schedule: Schedule, after: datetime) -> datetime | None:
    """The first instant strictly after `after` (aware), in UTC; None when nothing follows.

    Raises ValueError when the schedule isn't valid.
    """
    if schedule.kind is ScheduleKind.ONCE:
        at = _instant(schedule)
        return at if at > after else None
    return earliest(crons(schedule), after, schedule.zone)


def _instant(schedule: Schedule) -> datetime:
    at = read_instant(schedule.values["at"])
    if at is None:
        raise ValueError("A schedule that comes once needs an RFC 3339 instant with an offset.")
    return at.astimezone(UTC)


def preview(schedule: Schedule, after: datetime, n: int) -> list[datetime]:
    """The next `n` occurrences in UTC; fewer when the schedule ends."""
    found: list[datetime] = []
    while len(found) < n:
        at = next_occurrence(schedule, after)
        if at is None:
            break
        found.append(at)
        after = at
    return found


def smallest_gap(schedule: Schedule, after: datetime) -> timedelta | None:
    """The smallest gap between occurrences in the year after `after`: what a plan's minimum tests.

    None when fewer than two are due. See `cron_spread.smallest_gap` for wall and real time.
    """
    parsed = [cron.parsed for cron in crons(schedule)]
    return cron_spread.smallest_gap(parsed, after, zones.as_zone(schedule.zone))


def occurrences_between(schedule: Schedule, start: datetime, end: datetime) -> int:
    """How many occurrences fall from `start` up to, but not at, `end` (aware, whole seconds)."""
    if schedule.kind is ScheduleKind.ONCE:
        return int(start <= _instant(schedule) < end)
    parsed = [cron.parsed for cron in crons(schedule)]
    return cron_spread.count(parsed, start, end, zones.as_zone(schedule.zone))


def instants_between(schedule: Schedule, start: datetime, end: datetime) -> set[int]:
    """Every occurrence from `start` up to, but not at, `end` (aware, whole seconds), each as whole
    seconds from 1970. All are held at once: ask for weeks, not for decades."""
    if schedule.kind is ScheduleKind.ONCE:
        at = _instant(schedule)
        return {int(at.timestamp())} if start <= at < end else set()
    zone = zones.as_zone(schedule.zone)
    return {
        base + at
        for cron in crons(schedule)
        for base, offsets in cron_spread.spans(cron.parsed, start, end, zone)
        for at in offsets
    }


def dates_are_distinct(instants: Iterable[datetime], zone: str) -> bool:
    """Whether no two instants share a calendar date in the zone."""
    seen: set[date] = set()
    place = zones.as_zone(zone)
    for at in instants:
        day = zones.wall_at(at, place).date()
        if day in seen:
            return False
        seen.add(day)
    return True


def at_most_once_a_day(schedule: Schedule, after: datetime) -> bool:
    """Whether each local calendar date of the year after `after` has at most one occurrence.

    A daily 8:00 is fine in spring, when two of its runs are 23 hours apart.
    """
    last: date | None = None
    zone = zones.as_zone(schedule.zone)
    end = after + cron_spread.YEAR
    at = next_occurrence(schedule, after)
    while at is not None and at <= end:
        day = zones.wall_at(at, zone).date()
        if day == last:
            return False
        last, at = day, next_occurrence(schedule, at)
    return True
