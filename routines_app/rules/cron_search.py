"""The next instant of an expression in a zone. It jumps from field to field and never steps.

FIXED: each wall time is one instant (its first pass, or the first instant after its gap).
INTERVAL: real time is cut where the offset changes, and each stretch is matched by wall time.
"""

from bisect import bisect_left
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from routines_app.rules import zones
from routines_app.rules.cron_parse import Parsed

# Offsets lie from -12 to +14 hours, so that an instant read as UTC is this close to its wall time.
AHEAD = timedelta(hours=16)
REACH = timedelta(hours=36)


def first_date(parsed: Parsed, start: date) -> date | None:
    """The first matching date, `start` included; None when none comes before 2100."""
    years, months = parsed.years, parsed.months
    for year in years[bisect_left(years, start.year) :]:
        from_month = start.month if year == start.year else 1
        for month in months[bisect_left(months, from_month) :]:
            days = parsed.days.days_of(year, month)
            same = year == start.year and month == start.month
            at = bisect_left(days, start.day) if same else 0
            if at < len(days):
                return date(year, month, days[at])
    return None


def first_time(parsed: Parsed, start: time) -> time | None:
    """The first matching time of day, `start` included; None when the day holds no more."""
    seconds, minutes, hours = parsed.seconds, parsed.minutes, parsed.hours
    at = bisect_left(hours, start.hour)
    if at == len(hours):
        return None
    if hours[at] > start.hour:
        return time(hours[at], minutes[0], seconds[0])
    later = hours[at + 1] if at + 1 < len(hours) else None
    minute = bisect_left(minutes, start.minute)
    if minute < len(minutes):
        if minutes[minute] > start.minute:
            return time(hours[at], minutes[minute], seconds[0])
        second = bisect_left(seconds, start.second)
        if second < len(seconds):
            return time(hours[at], minutes[minute], seconds[second])
        if minute + 1 < len(minutes):
            return time(hours[at], minutes[minute + 1], seconds[0])
    return None if later is None else time(later, minutes[0], seconds[0])


def next_wall(parsed: Parsed, start: datetime) -> datetime | None:
    """The first matching wall time, `start` (naive, whole seconds) included."""
    day = first_date(parsed, start.date())
    if day is None:
        return None
    if day == start.date():
        found = first_time(parsed, start.time())
        if found is not None:
            return datetime.combine(day, found)
        following = next_date(parsed, day)
        if following is None:
            return None
        day = following
    return datetime.combine(day, time(parsed.hours[0], parsed.minutes[0], parsed.seconds[0]))


def next_date(parsed: Parsed, day: date) -> date | None:
    """The first matching date after `day`."""
    return None if day == date.max else first_date(parsed, day + zones.DAY)


def next_instant(parsed: Parsed, after: datetime, zone: ZoneInfo) -> datetime | None:
    """The first instant strictly after `after` (aware); None when nothing comes before 2100."""
    if after.tzinfo is None:
        raise ValueError("after must be aware: give it a zone, such as UTC.")
    earliest = after.astimezone(UTC).replace(microsecond=0) + zones.SECOND
    if earliest.year >= 2101:
        return None
    earliest = max(earliest, datetime(1969, 12, 31, tzinfo=UTC))
    if parsed.follows_real_time:
        return _next_interval(parsed, earliest, zone)
    return _next_fixed(parsed, earliest, zone)


def _next_fixed(parsed: Parsed, earliest: datetime, zone: ZoneInfo) -> datetime | None:
    start = zones.wall_at(earliest, zone)
    fold = zones.fold_around(earliest, zone)
    if fold is not None:
        start = fold.wall_before  # all that is repeated has had its first pass
    start = start.replace(fold=0)
    wall = next_wall(parsed, start)
    if wall is not None and fold is None:
        # The last second before a gap: the missing times are due at `earliest` itself.
        gap = zones.gap_over(start - zones.SECOND, zone)
        if gap is not None and gap.at == earliest:
            missing = next_wall(parsed, gap.wall_before)
            if missing is not None and missing < gap.wall_after:
                return gap.at
    return None if wall is None else zones.first_instant(wall, zone)


def _next_interval(parsed: Parsed, earliest: datetime, zone: ZoneInfo) -> datetime | None:
    cursor = earliest
    while True:
        wall = zones.wall_at(cursor, zone)
        # A day's slack: a backward change can show again what this wall has passed.
        target = next_wall(parsed, wall - zones.DAY)
        if target is None:
            return None
        if target > wall + 2 * zones.DAY:
            cursor = (target - AHEAD).replace(tzinfo=UTC)
        for stretch in zones.stretches(cursor, cursor + REACH, zone):
            found = _in_stretch(parsed, stretch)
            if found is not None:
                return found
        cursor += REACH


def _in_stretch(parsed: Parsed, stretch: zones.Stretch) -> datetime | None:
    start = stretch.start.replace(tzinfo=None) + stretch.offset
    end = stretch.end.replace(tzinfo=None) + stretch.offset
    day = start.date()
    while day <= end.date():
        if day.month in parsed.months and day.year in _years(parsed):
            found = _on_day(parsed, day, start, end)
            if found is not None:
                return (found - stretch.offset).replace(tzinfo=UTC)
        day += zones.DAY
    return None


def _on_day(parsed: Parsed, day: date, start: datetime, end: datetime) -> datetime | None:
    """The first match on the day that lies from `start` up to, but not at, `end`."""
    if day.day not in parsed.days.days_of(day.year, day.month):
        return None
    moment = first_time(parsed, start.time() if day == start.date() else time())
    if moment is None:
        return None
    found = datetime.combine(day, moment)
    return found if found < end else None


def _years(parsed: Parsed) -> range | tuple[int, ...]:
    """The years, as something in which membership is cheap."""
    first, last = parsed.years[0], parsed.years[-1]
    if len(parsed.years) == last - first + 1:
        return range(first, last + 1)
    return parsed.years


def preview(parsed: Parsed, after: datetime, zone: ZoneInfo, count: int) -> list[datetime]:
    """The next `count` instants, fewer when the expression ends."""
    found: list[datetime] = []
    while len(found) < count:
        at = next_instant(parsed, after, zone)
        if at is None:
            break
        found.append(at)
        after = at
    return found
