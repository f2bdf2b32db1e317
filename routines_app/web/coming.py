"""What comes next: the next five occurrences, and what a month could cost at most."""

from dataclasses import dataclass
from datetime import datetime

from routines_app.rules import estimate as rules
from routines_app.rules import zones
from routines_app.rules.clock_changes import NextFire, Tone, next_fires, rare_note
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.schedule import Schedule, next_occurrence
from routines_app.rules.wording import MONTHS_IN_WORDS
from routines_app.web.dates import ahead, clock_time, day_of, short_day

FIVE = 5


@dataclass(frozen=True)
class Coming:
    """One occurrence: when it is, how far off, and a remark beside it (`steady`: reassuring)."""

    when: str
    away: str
    note: str = ""
    steady: bool = False


@dataclass(frozen=True)
class Estimate:
    """What a month could cost: the ceiling, and how it came about."""

    lead: str
    second: str


def next_five(schedule: Schedule, now: datetime, viewer: str) -> list[Coming]:
    """The next five in the schedule's zone; what the viewer's own clock shows, where it differs."""
    fires = next_fires(schedule, now, FIVE, viewer)
    rare = rare_note(schedule, now) if fires else None
    lines = [_line(fire, now, schedule.zone) for fire in fires]
    if rare and lines and not lines[0].note:
        lines[0] = Coming(lines[0].when, lines[0].away, rare)
    return lines


def _line(fire: NextFire, now: datetime, zone: str) -> Coming:
    today, day = day_of(now, zone), fire.wall.date()
    name = "Today" if day == today else short_day(day, today)
    if fire.viewer_time:
        hours, minutes, *_ = fire.viewer_time.split(":")
        away = f"{hours}:{minutes} for you"
    else:
        away = fire.abbreviation or ahead(fire.at, now, zone)
    note = fire.note
    return Coming(
        f"{name}, {fire.time}",
        away,
        note.text if note else "",
        note is not None and note.tone is Tone.STEADY,
    )


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


def estimate(
    schedule: Schedule, cap: int, now: datetime, *, free: bool, typical: int | None, seen: int
) -> Estimate:
    """What the next calendar month may cost. `cap` and `typical` (of `seen` runs) in micro-dollars.

    `free`: a script does it, which calls no model.
    """
    found = rules.estimate(schedule, now, cap, typical, seen)
    if not free:
        lead, _, second = found.sentence.partition(". ")
        return Estimate(lead.removesuffix("."), second.removesuffix("."))
    if schedule.kind is ScheduleKind.WHEN_ASKED:
        return Estimate("$0.00 a run", "A script calls no model")
    if schedule.kind is ScheduleKind.ONCE:
        return Estimate("$0.00, once", "A script calls no model")
    month = MONTHS_IN_WORDS[found.month.month - 1]
    runs = "1 run" if found.runs == 1 else f"{found.runs:,} runs"
    return Estimate("$0.00 a month", f"{runs} in {month}; a script calls no model")


def place_of(schedule: Schedule) -> str:
    """The zone's place, as a heading has it: London."""
    return zones.place(schedule.zone)
