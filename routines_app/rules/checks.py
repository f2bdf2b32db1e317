"""What a schedule may hold. Refusals are values: the field, and a sentence that says what to do."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from routines_app.rules import zones
from routines_app.rules.cron import CronError, compile_cron
from routines_app.rules.cron_days import MONTH_LENGTHS
from routines_app.rules.cron_fields import FIRST_YEAR, LAST_YEAR
from routines_app.rules.kinds import (
    EVERY_HOURS,
    EVERY_MINUTES,
    LAST,
    MOST_EXPRESSIONS,
    MOST_TIMES,
    Schedule,
    ScheduleKind,
)
from routines_app.rules.wording import MONTHS_IN_WORDS, joined, minutes_of, ordinal

_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing to fix: the field, and what to do about it."""

    field: str
    sentence: str


Values = Mapping[str, Any]
Check = Callable[[Values], list[FieldError]]


def validate(schedule: Schedule, now: datetime) -> list[FieldError]:
    """Everything to fix in a schedule; empty when it may be saved. `now` is aware."""
    errors: list[FieldError] = []
    refusal = zones.check_zone(schedule.zone)
    if refusal is not None:
        errors.append(FieldError("zone", refusal))
    for check in _CHECKS[schedule.kind]:
        errors += check(schedule.values)
    if errors:
        return errors
    if schedule.kind is ScheduleKind.ONCE:
        return _in_future(schedule.values["at"], now)
    if schedule.kind is ScheduleKind.CRON:
        return _runs_left(schedule, now)
    return []


def read_instant(text: str) -> datetime | None:
    """The aware datetime of an RFC 3339 instant with an offset, 1970 to 2099; None otherwise."""
    if not _INSTANT.fullmatch(text):
        return None
    try:
        found = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return found if FIRST_YEAR <= found.year <= LAST_YEAR else None


def _number(values: Values, name: str, low: int, high: int) -> int | None:
    value = values.get(name)
    return value if type(value) is int and low <= value <= high else None


def _check_times(values: Values) -> list[FieldError]:
    times = values.get("times")
    if not isinstance(times, list | tuple) or not times:
        return [FieldError("times", "Choose at least one time, like 8:00.")]
    if len(times) > MOST_TIMES:
        return [FieldError("times", f"Choose up to six times; this has {len(times)}.")]
    return [error for time in times for error in _check_one_time("times", time)]


def _check_time(values: Values) -> list[FieldError]:
    return _check_one_time("time", values.get("time"))


def _check_one_time(field: str, time: object) -> list[FieldError]:
    if isinstance(time, str) and minutes_of(time) is not None:
        return []
    return [FieldError(field, "Write the time in figures, from 0:00 to 23:59.")]


def _days_fit(days: object) -> bool:
    return (
        isinstance(days, list | tuple)
        and bool(days)
        and all(type(day) is int and 0 <= day <= 6 for day in days)
    )


def _check_days(values: Values) -> list[FieldError]:
    if _days_fit(values.get("days")):
        return []
    return [FieldError("days", "Choose at least one day of the week.")]


def _check_minute(values: Values) -> list[FieldError]:
    if _number(values, "minute", 0, 59) is not None:
        return []
    return [FieldError("minute", "Choose a minute from 0 to 59.")]


def _check_every(choices: tuple[int, ...], unit: str) -> Check:
    def check(values: Values) -> list[FieldError]:
        if type(values.get("every")) is int and values["every"] in choices:
            return []
        said = joined([str(choice) for choice in choices], "or")
        return [FieldError("every", f"Choose {said} {unit}, or write it as cron.")]

    return check


def _check_window(values: Values) -> list[FieldError]:
    window = values.get("window")
    if window is None:
        return []
    if not isinstance(window, Mapping):
        return [FieldError("window", "Choose the hours and the days, or leave the window out.")]
    start, end = _number(window, "from", 0, 23), _number(window, "to", 1, 24)
    if start is None or end is None:
        return [FieldError("window", "Choose whole hours: from 0 to 23, to 1 to 24.")]
    if start >= end:
        return [FieldError("window", "Choose an end that is later than the start, on one day.")]
    if not _days_fit(window.get("days")):
        return [FieldError("window", "Choose at least one day of the week.")]
    return []


def _check_day(values: Values) -> list[FieldError]:
    if _number(values, "day", 1, 31) is not None:
        return []
    return [FieldError("day", "Choose a day from the 1st to the 31st, or the last day.")]


def _check_which(values: Values) -> list[FieldError]:
    errors = []
    if values.get("which") != LAST and _number(values, "which", 1, 4) is None:
        errors.append(FieldError("which", "Choose first, second, third, fourth or last."))
    if _number(values, "weekday", 0, 6) is None:
        errors.append(FieldError("weekday", "Choose a day of the week."))
    return errors


def _check_date(values: Values) -> list[FieldError]:
    month = _number(values, "month", 1, 12)
    if month is None:
        return [FieldError("month", "Choose a month.")]
    longest = 29 if month == 2 else MONTH_LENGTHS[month - 1]
    day = _number(values, "day", 1, 31)
    if day is None:
        return [FieldError("day", f"Choose a day from the 1st to the {ordinal(longest)}.")]
    if day > longest:
        name = MONTHS_IN_WORDS[month - 1]
        sentence = f"{name} never has a {ordinal(day)}. This would never run. Choose another day."
        return [FieldError("day", sentence)]
    return []


def _check_at(values: Values) -> list[FieldError]:
    at = values.get("at")
    if isinstance(at, str) and read_instant(at) is not None:
        return []
    sentence = "Write the date, the time and its offset, like 2027-03-30T09:00:00+01:00."
    return [FieldError("at", sentence)]


def _check_expressions(values: Values) -> list[FieldError]:
    texts = values.get("expressions")
    if not isinstance(texts, list | tuple) or not texts:
        return [FieldError("expressions", "Write a cron expression, like 0 8 * * 1-5.")]
    if len(texts) > MOST_EXPRESSIONS:
        sentence = f"Write up to {MOST_EXPRESSIONS} expressions; this has {len(texts)}."
        return [FieldError("expressions", sentence)]
    errors = []
    for text in texts:
        if not isinstance(text, str):
            errors.append(FieldError("expressions", "Write each expression as text."))
            continue
        try:
            compile_cron(text)
        except CronError as refused:
            errors.append(FieldError("expressions", refused.sentence))
    return errors


def _in_future(at: str, now: datetime) -> list[FieldError]:
    instant = read_instant(at)
    if instant is None or instant > now:
        return []
    return [FieldError("at", "That moment has passed. Choose a later one.")]


def _runs_left(schedule: Schedule, now: datetime) -> list[FieldError]:
    return [
        FieldError("expressions", f"{text} has no run left before 2100. Choose a later year.")
        for text in schedule.values["expressions"]
        if compile_cron(text).next(now, schedule.zone) is None
    ]


_CHECKS: Mapping[ScheduleKind, tuple[Check, ...]] = {
    ScheduleKind.WEEKDAYS: (_check_times,),
    ScheduleKind.DAILY: (_check_times,),
    ScheduleKind.WEEKENDS: (_check_times,),
    ScheduleKind.CHOSEN_DAYS: (_check_days, _check_times),
    ScheduleKind.HOURLY: (_check_minute, _check_window),
    ScheduleKind.EVERY_HOURS: (_check_every(EVERY_HOURS, "hours"), _check_minute),
    ScheduleKind.EVERY_MINUTES: (_check_every(EVERY_MINUTES, "minutes"), _check_window),
    ScheduleKind.MONTH_DATE: (_check_day, _check_times),
    ScheduleKind.MONTH_LAST_DAY: (_check_times,),
    ScheduleKind.MONTH_WEEKDAY: (_check_which, _check_times),
    ScheduleKind.YEARLY: (_check_date, _check_time),
    ScheduleKind.ONCE: (_check_at,),
    ScheduleKind.WHEN_ASKED: (),
    ScheduleKind.CRON: (_check_expressions,),
}
