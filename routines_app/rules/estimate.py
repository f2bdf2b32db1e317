"""What a routine may cost in a month: runs, times the cap of one run. Never a guess alone.

Money is whole micro-dollars (1,000,000 is $1.00).
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from routines_app.rules import money as said
from routines_app.rules import zones
from routines_app.rules.kinds import Schedule, ScheduleKind
from routines_app.rules.money import CENT
from routines_app.rules.schedule import next_occurrence, occurrences_between
from routines_app.rules.wording import MONTHS_IN_WORDS, date_words

ENOUGH_RUNS = 7  # after as many runs, what is typical is worth saying


@dataclass(frozen=True, slots=True)
class Estimate:
    """The ceiling of the next whole calendar month, in the schedule's zone."""

    month: date  # its first day
    runs: int
    cap: int  # micro-dollars for one run
    ceiling: int  # micro-dollars
    likely: int | None  # micro-dollars; None before seven runs
    sentence: str


def runs_in_month(schedule: Schedule, year: int, month: int) -> int:
    """How many occurrences the calendar month has, in the schedule's zone.

    Expressions that meet count once; for more than 100,000 the count is never too low.
    """
    zone = zones.as_zone(schedule.zone)
    start = zones.first_instant(datetime.combine(date(year, month, 1), time()), zone)
    end = zones.first_instant(datetime.combine(_month_after(date(year, month, 1)), time()), zone)
    return occurrences_between(schedule, start, end)


def _month_after(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def estimate(
    schedule: Schedule, after: datetime, cap: int, typical: int | None = None, seen: int = 0
) -> Estimate:
    """The next whole month's ceiling, and what is likely once `seen` reaches seven runs.

    `cap` and `typical` (the usual cost of one run) are micro-dollars. Raises ValueError when
    the cap is below zero.
    """
    if cap < 0:
        raise ValueError("A cap is zero or more.")
    local = zones.wall_at(after.astimezone(UTC), zones.as_zone(schedule.zone))
    month = _month_after(local.date())
    runs = runs_in_month(schedule, month.year, month.month)
    likely = None
    if typical is not None and seen >= ENOUGH_RUNS:
        likely = min(runs * typical, runs * cap)
    sentence = _sentence(schedule, after, month, (runs, cap, likely))
    return Estimate(month, runs, cap, runs * cap, likely, sentence)


def _sentence(
    schedule: Schedule, after: datetime, month: date, money: tuple[int, int, int | None]
) -> str:
    runs, cap, likely = money
    each = dollars(cap, up=True)
    if schedule.kind is ScheduleKind.WHEN_ASKED:
        return f"At most {each} each time someone asks."
    at = next_occurrence(schedule, after)
    if at is None:
        return "It won't run again, so it costs nothing."
    day = date_words(zones.wall_at(at, zones.as_zone(schedule.zone)).date(), year=True)
    if schedule.kind is ScheduleKind.ONCE:
        return f"At most {each}, once, on {day}."
    name = MONTHS_IN_WORDS[month.month - 1]
    if runs == 0:
        return f"At most {each} a run. None in {name}; the next is on {day}."
    ceiling = dollars(runs * cap, up=True)
    if likely is not None:
        return f"Likely about {dollars(likely)}, at most {ceiling}."
    counted = "1 run" if runs == 1 else f"{runs:,} runs"
    return f"At most {ceiling} a month. {counted} in {name} × {each} cap."


def dollars(micros: int, *, up: bool = False) -> str:
    """As money is said everywhere; `up` rounds a ceiling up, never down."""
    return said.dollars(-(-micros // CENT) * CENT if up else micros)
