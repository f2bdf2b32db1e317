"""The kinds of schedule, what each keeps, and the cron expressions that come from it.

The truth that is stored is the kind, its values (plain JSON) and the zone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from routines_app.rules.wording import figures, minutes_of

MOST_TIMES = 6
MOST_EXPRESSIONS = 12
EVERY_HOURS = (2, 3, 4, 6, 8, 12)
EVERY_MINUTES = (5, 10, 15, 20, 30)
ALL_DAYS = (0, 1, 2, 3, 4, 5, 6)
WORKDAYS = (1, 2, 3, 4, 5)
WEEKEND = (0, 6)
LAST = "last"


class ScheduleKind(StrEnum):
    """What the first blank of the sentence says. Each comment lists the values that it keeps.

    `times` is one to six of "8:00"; weekdays are numbers, 0 for Sunday; `window` is
    {"from": 8, "to": 18, "days": [1, 2, 3, 4, 5]} in whole hours, or absent.
    """

    WEEKDAYS = "weekdays"  # times
    DAILY = "daily"  # times
    WEEKENDS = "weekends"  # times
    CHOSEN_DAYS = "chosen_days"  # days, times
    HOURLY = "hourly"  # minute, window
    EVERY_HOURS = "every_hours"  # every (2, 3, 4, 6, 8, 12), minute
    EVERY_MINUTES = "every_minutes"  # every (5, 10, 15, 20, 30), window
    MONTH_DATE = "month_date"  # day (1 to 31), times
    MONTH_LAST_DAY = "month_last_day"  # times
    MONTH_WEEKDAY = "month_weekday"  # which (1 to 4, or "last"), weekday, times
    YEARLY = "yearly"  # month, day, time
    ONCE = "once"  # at: an RFC 3339 instant with an offset
    WHEN_ASKED = "when_asked"  # nothing
    CRON = "cron"  # expressions


@dataclass(frozen=True)
class Schedule:
    """When a routine is due: the kind and its values, in an IANA zone."""

    kind: ScheduleKind
    values: Mapping[str, Any]
    zone: str


def schedule_of(kind: ScheduleKind, values: Mapping[str, Any], zone: str) -> Schedule:
    """The schedule in its one settled form: times in figures and order, days as their own kind.

    Values that don't fit are left as they are, for `validate` to refuse.
    """
    settled = dict(values)
    if _is_list(settled.get("times")):
        settled["times"] = _settled_times(settled["times"])
    if isinstance(settled.get("time"), str):
        settled["time"] = _settled_times([settled["time"]])[0]
    if _are_days(settled.get("days")):
        settled["days"] = sorted(set(settled["days"]))
        if kind is ScheduleKind.CHOSEN_DAYS and (named := _named(settled["days"])):
            kind = named
            del settled["days"]
    if "window" in settled:
        _settle_window(settled)
    return Schedule(kind, settled, zone)


def _settle_window(values: dict[str, Any]) -> None:
    window = values["window"]
    if window is None or window == {}:
        del values["window"]
    elif isinstance(window, Mapping) and _are_days(window.get("days")):
        days = sorted(set(window["days"]))
        start, end = window.get("from"), window.get("to")
        if (start, end, values.get("minute")) == (0, 23, 0):
            end = 24  # on the hour, both end at 23:00
        values["window"] = {**window, "to": end, "days": days}
        if (start, end) == (0, 24) and days == [*ALL_DAYS]:
            del values["window"]


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _are_days(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(type(day) is int and 0 <= day <= 6 for day in value)
    )


def _settled_times(times: Iterable[Any]) -> list[Any]:
    """Times in figures, in order and each once; as they came when one isn't a time."""
    typed = list(times)
    minutes = [minutes_of(time) if isinstance(time, str) else None for time in typed]
    known = sorted({minute for minute in minutes if minute is not None})
    return typed if None in minutes else [figures(minute) for minute in known]


def _named(days: Sequence[int]) -> ScheduleKind | None:
    return {
        WORKDAYS: ScheduleKind.WEEKDAYS,
        WEEKEND: ScheduleKind.WEEKENDS,
        ALL_DAYS: ScheduleKind.DAILY,
    }.get(tuple(days))


def to_json(schedule: Schedule) -> dict[str, Any]:
    """Plain JSON: {"kind", "values", "zone"}."""
    return {"kind": str(schedule.kind), "values": dict(schedule.values), "zone": schedule.zone}


def from_json(stored: Mapping[str, Any]) -> Schedule:
    """The schedule that `to_json` wrote. Raises ValueError for anything of another shape."""
    try:
        kind, values, zone = ScheduleKind(stored["kind"]), stored["values"], stored["zone"]
    except KeyError as missing:
        raise ValueError(f"A schedule needs kind, values and zone; {missing} is missing.") from None
    if not isinstance(values, Mapping) or not isinstance(zone, str):
        raise ValueError("A schedule's values are an object and its zone is a name.")
    return schedule_of(kind, values, zone)


def expressions(schedule: Schedule) -> tuple[str, ...]:
    """The cron expressions of a valid schedule; none for ONCE and WHEN_ASKED.

    Times at different minutes become several expressions, never a product.
    """
    kind, values = schedule.kind, schedule.values
    match kind:
        case ScheduleKind.ONCE | ScheduleKind.WHEN_ASKED:
            return ()
        case ScheduleKind.CRON:
            return tuple(values["expressions"])
        case ScheduleKind.HOURLY:
            return (_hourly(values),)
        case ScheduleKind.EVERY_HOURS:
            return (f"{values['minute']} */{values['every']} * * *",)
        case ScheduleKind.EVERY_MINUTES:
            window = values.get("window")
            if window is None:
                return (f"*/{values['every']} * * * *",)
            hours = _hours(window["from"], window["to"] - 1)
            return (f"*/{values['every']} {hours} * * {_days(window['days'])}",)
        case ScheduleKind.YEARLY:
            return _at_times([values["time"]], f"{values['day']} {values['month']} *")
        case _:
            return _at_times(values["times"], _day_fields(kind, values))


def _day_fields(kind: ScheduleKind, values: Mapping[str, Any]) -> str:
    """Day of the month, month and weekday of a kind that has times."""
    match kind:
        case ScheduleKind.WEEKDAYS:
            return "* * 1-5"
        case ScheduleKind.WEEKENDS:
            return "* * 6,0"
        case ScheduleKind.CHOSEN_DAYS:
            return f"* * {_days(values['days'])}"
        case ScheduleKind.MONTH_DATE:
            return f"{values['day']} * *"
        case ScheduleKind.MONTH_LAST_DAY:
            return "L * *"
        case ScheduleKind.MONTH_WEEKDAY:
            which = "L" if values["which"] == LAST else f"#{values['which']}"
            return f"* * {values['weekday']}{which}"
        case _:
            return "* * *"


def _at_times(times: Sequence[str], day_fields: str) -> tuple[str, ...]:
    """One expression for each minute of the hour, in the order of their first times."""
    hours: dict[int, list[int]] = {}
    for time in times:
        minutes = minutes_of(time)
        assert minutes is not None  # valid schedules only
        hours.setdefault(minutes % 60, []).append(minutes // 60)
    return tuple(
        f"{minute} {','.join(str(hour) for hour in sorted(at))} {day_fields}"
        for minute, at in hours.items()
    )


def last_hour(minute: int, window: Mapping[str, Any]) -> int:
    """The last hour in which an hourly schedule at `minute` is still inside its window."""
    to: int = window["to"]
    return to - 1 if minute > 0 or to == 24 else to


def _hourly(values: Mapping[str, Any]) -> str:
    minute, window = values["minute"], values.get("window")
    if window is None:
        return f"{minute} * * * *"
    hours = _hours(window["from"], last_hour(minute, window))
    return f"{minute} {hours} * * {_days(window['days'])}"


def _hours(first: int, last: int) -> str:
    if (first, last) == (0, 23):
        return "*"
    return str(first) if first == last else f"{first}-{last}"


def _days(days: Sequence[int]) -> str:
    match tuple(days):
        case (1, 2, 3, 4, 5):
            return "1-5"
        case (0, 6):
            return "6,0"
        case (0, 1, 2, 3, 4, 5, 6):
            return "*"
        case _:
            return ",".join(str(day) for day in days)
