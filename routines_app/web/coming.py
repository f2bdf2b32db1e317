"""What comes next: the next five occurrences, and what a month could cost at most."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from routines_app.rules import zones
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.money import dollars
from routines_app.rules.schedule import Schedule, next_occurrence, occurrences_between, preview
from routines_app.rules.wording import MONTHS_IN_WORDS
from routines_app.web.dates import ahead, clock_time, day_of, short_day

FIVE = 5
FAR = timedelta(days=60)


@dataclass(frozen=True)
class Coming:
    """One occurrence: when it is, how far off, and a remark beside it."""

    when: str
    away: str
    note: str = ""


@dataclass(frozen=True)
class Estimate:
    """What a month could cost: the ceiling, and how it came about."""

    lead: str
    second: str


def next_five(schedule: Schedule, now: datetime, viewer: str) -> list[Coming]:
    """The next five in the schedule's zone; what the viewer's own clock shows, where it differs."""
    found = preview(schedule, now, FIVE)
    today = day_of(now, schedule.zone)
    place = ZoneInfo(schedule.zone)
    crosses = len({at.astimezone(place).utcoffset() for at in [now, *found]}) > 1
    coming = []
    for index, at in enumerate(found):
        day = day_of(at, schedule.zone)
        name = "Today" if day == today else short_day(day, today)
        local = at.astimezone(place)
        seconds = f":{local.second:02}" if local.second else ""
        when = f"{name}, {clock_time(at, schedule.zone)}{seconds}"
        if at.astimezone(ZoneInfo(viewer)).utcoffset() != local.utcoffset():
            away = f"{clock_time(at, viewer)} for you"
        elif crosses:
            away = local.tzname() or ""
        else:
            away = ahead(at, now, schedule.zone)
        note = _far(at, now, schedule.zone) if index == 0 else ""
        coming.append(Coming(when, away, note))
    return coming


def _far(at: datetime, now: datetime, zone: str) -> str:
    """A first occurrence that is long off is said out loud."""
    if at - now <= FAR:
        return ""
    return f"The first is {(day_of(at, zone) - day_of(now, zone)).days} days off."


def next_line(schedule: Schedule, now: datetime) -> str:
    """The line beside the read-back: "Next: tomorrow at 8:00"; empty when nothing comes."""
    at = next_occurrence(schedule, now)
    if at is None:
        return ""
    at_time, far = clock_time(at, schedule.zone), ahead(at, now, schedule.zone)
    day, today = day_of(at, schedule.zone), day_of(now, schedule.zone)
    match (day - today).days:
        case 0:
            return f"Next: {far}, at {at_time}"
        case 1:
            return f"Next: tomorrow at {at_time}"
        case _:
            return f"Next: {short_day(day, today)} at {at_time}, {far}"


def estimate(schedule: Schedule, cap: int, now: datetime, *, free: bool) -> Estimate:
    """The most that the next calendar month can cost. `cap` in micro-dollars; `free`: a script."""
    if schedule.kind is ScheduleKind.WHEN_ASKED:
        lead = "$0.00 a run" if free else f"At most {dollars(cap)} a run"
        return Estimate(lead, "It runs when somebody asks for it.")
    zone = ZoneInfo(schedule.zone)
    local = now.astimezone(zone)
    start = datetime(local.year + local.month // 12, local.month % 12 + 1, 1, tzinfo=zone)
    end = datetime(start.year + start.month // 12, start.month % 12 + 1, 1, tzinfo=zone)
    runs = occurrences_between(schedule, start, end)
    month = MONTHS_IN_WORDS[start.month - 1]
    counted = f"{runs:,} run{'' if runs == 1 else 's'} in {month}"
    if free:
        return Estimate("$0.00 a month", f"{counted}; a script calls no model")
    return Estimate(f"At most {dollars(runs * cap)} a month", f"{counted} × {dollars(cap)} cap")


def place_of(schedule: Schedule) -> str:
    """The zone's place, as a heading has it: London."""
    return zones.place(schedule.zone)
