"""A schedule read back as a sentence: one whole template for each kind."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from routines_app.rules import zones
from routines_app.rules.cron import compile_cron
from routines_app.rules.describe import describe_crons
from routines_app.rules.kinds import (
    ALL_DAYS,
    LAST,
    WORKDAYS,
    Schedule,
    ScheduleKind,
    expressions,
    last_hour,
)
from routines_app.rules.wording import (
    MONTHS_IN_WORDS,
    WEEKDAYS_IN_WORDS,
    date_words,
    days_in_words,
    figures,
    hour_words,
    minutes_of,
    number_words,
    ordinal,
    time_words,
    times_words,
)

ORDER = {1: "first", 2: "second", 3: "third", 4: "fourth", LAST: "last"}


def describe_schedule(schedule: Schedule, today: date | None = None) -> str:
    """A valid schedule in words, without its zone: "every weekday at eight in the morning".

    A date that comes once names its year, unless it lies within a year after `today`.
    """
    values = schedule.values
    match schedule.kind:
        case ScheduleKind.WEEKDAYS:
            return f"every weekday at {_times(values)}"
        case ScheduleKind.DAILY:
            return f"every day at {_times(values)}"
        case ScheduleKind.WEEKENDS:
            return f"every Saturday and Sunday at {_times(values)}"
        case ScheduleKind.CHOSEN_DAYS:
            return f"every {days_in_words(values['days'])} at {_times(values)}"
        case ScheduleKind.HOURLY:
            return _hourly(values)
        case ScheduleKind.EVERY_HOURS:
            start = time_words(values["minute"])
            return f"every {number_words(values['every'])} hours, from {start}"
        case ScheduleKind.EVERY_MINUTES:
            return _every_minutes(values)
        case ScheduleKind.MONTH_DATE:
            day = values["day"]
            return f"on the {ordinal(day)} of every month at {_times(values)}{_missing(day)}"
        case ScheduleKind.MONTH_LAST_DAY:
            return f"on the last day of every month at {_times(values)}"
        case ScheduleKind.MONTH_WEEKDAY:
            day_name = WEEKDAYS_IN_WORDS[values["weekday"]]
            which = ORDER[values["which"]]
            return f"on the {which} {day_name} of every month at {_times(values)}"
        case ScheduleKind.YEARLY:
            return _yearly(values)
        case ScheduleKind.ONCE:
            return _once(values["at"], schedule.zone, today)
        case ScheduleKind.WHEN_ASKED:
            return "whenever someone asks for it"
        case ScheduleKind.CRON:
            return describe_crons([compile_cron(text) for text in expressions(schedule)])


def read_back(schedule: Schedule, today: date | None = None) -> str:
    """The schedule and its zone: "every weekday at eight in the morning, London time"."""
    said = describe_schedule(schedule, today)
    if schedule.kind is ScheduleKind.WHEN_ASKED:
        return said
    sentence, mark, note = _cut(said)
    return f"{sentence.rstrip(',')}, {zones.words(schedule.zone)}{mark}{note}"


def _cut(said: str) -> tuple[str, str, str]:
    """The sentence, and what is remarked after it."""
    for mark in ("; then", "; the last", "; five", "; February", "; leap", ". Cron"):
        sentence, found, note = said.partition(mark)
        if found:
            return sentence, found, note
    return said, "", ""


def _minutes(time: str) -> int:
    minutes = minutes_of(time)
    assert minutes is not None  # valid schedules only
    return minutes


def _times(values: Mapping[str, Any]) -> str:
    return times_words([_minutes(time) for time in values["times"]])


def _past(minute: int) -> str:
    """Where in the hour: "", " at quarter past", " at :05"."""
    named = {0: "", 15: " at quarter past", 30: " at half past", 45: " at quarter to"}
    return named.get(minute, f" at :{minute:02}")


def _hourly(values: Mapping[str, Any]) -> str:
    minute, window = values["minute"], values.get("window")
    if window is None:
        return f"every hour{_past(minute)}, day and night"
    start, end, days = window["from"], window["to"], window["days"]
    last = last_hour(minute, window) * 60 + minute
    last_said = hour_words(last // 60) if minute == 0 else figures(last)
    if (start, end) == (0, 24):
        return f"every hour{_past(minute)}, day and night, {_on(days)}"
    return (
        f"every hour{_past(minute)} {_from_to(start, end)} {_on(days)}; the last is at {last_said}"
    )


def _every_minutes(values: Mapping[str, Any]) -> str:
    every, window = values["every"], values.get("window")
    said = f"every {number_words(every)} minutes"
    if window is None:
        return f"{said}, day and night"
    start, end, days = window["from"], window["to"], window["days"]
    if (start, end) == (0, 24):
        return f"{said}, day and night, {_on(days)}"
    return f"{said} from {_hour(start)} {_on(days)}; the last is at {figures(end * 60 - every)}"


def _hour(hour: int) -> str:
    """An hour's word where it has one meaning (midnight, eight to noon), else its figures."""
    return hour_words(hour) if hour == 0 or 8 <= hour <= 12 else figures(hour * 60)


def _from_to(start: int, end: int) -> str:
    """ "from eight to six" where the words have one meaning, else figures."""
    if end == 24:
        return f"from {_hour(start)} to midnight"
    plain = (start == 0 or 8 <= start <= 12) and end - start <= 12 and end != start + 12
    return f"from {_hour(start)} to {hour_words(end) if plain else figures(end * 60)}"


def _on(days: Sequence[int]) -> str:
    if tuple(days) == ALL_DAYS:
        return "every day"
    return "on weekdays" if tuple(days) == WORKDAYS else f"on {days_in_words(days)}"


def _missing(day: int) -> str:
    """What is said of a date that some months don't have."""
    return {
        29: "; February has one in leap years only",
        30: "; February has none, and is skipped",
        31: "; five months have none, and are skipped",
    }.get(day, "")


def _yearly(values: Mapping[str, Any]) -> str:
    day, month = values["day"], values["month"]
    note = "; leap years only" if (day, month) == (29, 2) else ""
    at = time_words(_minutes(values["time"]))
    return f"every {day} {MONTHS_IN_WORDS[month - 1]} at {at}{note}"


def _once(at: str, zone: str, today: date | None) -> str:
    local = datetime.fromisoformat(at).astimezone(ZoneInfo(zone))
    near = today is not None and 0 <= (local.date() - today).days < 365
    minutes = local.hour * 60 + local.minute
    said = time_words(minutes)
    if local.second:
        said = f"{figures(minutes)}:{local.second:02}"
    return f"once, on {date_words(local.date(), year=not near)} at {said}"
