"""The sentence of a routine: one complete template for each kind of schedule, with its blanks.

The form fills the blanks with controls, the pages with words. `{every}` is the first blank.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

from routines_app.models import Routine
from routines_app.rules import zones
from routines_app.rules.checks import read_instant
from routines_app.rules.kinds import (
    ALL_DAYS,
    EVERY_HOURS,
    EVERY_MINUTES,
    WORKDAYS,
    Schedule,
    ScheduleKind,
)
from routines_app.rules.read_back import ORDER
from routines_app.rules.recognise import same_sentence
from routines_app.rules.schedule import crons
from routines_app.rules.wording import (
    MONTHS_IN_WORDS,
    WEEKDAYS_IN_WORDS,
    days_in_words,
    joined,
    ordinal,
)

Words = dict[str, str]
_BLANK = re.compile(r"\{(\w+)\}")


def form_template(kind: ScheduleKind) -> str:
    """The sentence as the form has it."""
    return f"{_form_when(kind)} {{agent}} wakes {{machine}} and does this:"


def _form_when(kind: ScheduleKind) -> str:
    match kind:
        case ScheduleKind.WEEKDAYS | ScheduleKind.DAILY | ScheduleKind.WEEKENDS:
            return "Every {every} at {times}, {zone},"
        case ScheduleKind.CHOSEN_DAYS:
            return "Every {every} {days} at {times}, {zone},"
        case ScheduleKind.HOURLY:
            return "Every {every}, {minute} minutes past, {window}, {zone},"
        case ScheduleKind.EVERY_HOURS:
            return "Every {every} from midnight, {minute} minutes past, {zone},"
        case ScheduleKind.EVERY_MINUTES:
            return "Every {every}, {window}, {zone},"
        case ScheduleKind.MONTH_DATE:
            return "Every {every} {day} at {times}, {zone},"
        case ScheduleKind.MONTH_LAST_DAY:
            return "Every {every} at {times}, {zone},"
        case ScheduleKind.MONTH_WEEKDAY:
            return "Every {every} {which} {weekday} at {times}, {zone},"
        case ScheduleKind.YEARLY:
            return "Every {every} on {day} {month} at {time}, {zone},"
        case ScheduleKind.ONCE:
            return "Just {every} on {date} at {time}, {zone},"
        case ScheduleKind.WHEN_ASKED:
            return "Run {every}:"
        case ScheduleKind.CRON:
            return "On a {every} {expressions}, {zone},"
        case _:
            assert_never(kind)


def _said_when(schedule: Schedule) -> str:
    """The same as pages say it, without the zone."""
    match schedule.kind:
        case ScheduleKind.WEEKDAYS | ScheduleKind.DAILY | ScheduleKind.WEEKENDS:
            return "Every {every} at {times}"
        case ScheduleKind.CHOSEN_DAYS:
            return "Every {days} at {times}"
        case ScheduleKind.HOURLY:
            past = "" if schedule.values["minute"] == 0 else " at {minute}"
            return f"Every {{every}}{past}, {{window}}"
        case ScheduleKind.EVERY_HOURS:
            past = "" if schedule.values["minute"] == 0 else ", from {minute}"
            return f"Every {{every}}{past}"
        case ScheduleKind.EVERY_MINUTES:
            return "Every {every}, {window}"
        case ScheduleKind.MONTH_DATE:
            return "Every month on the {day} at {times}"
        case ScheduleKind.MONTH_LAST_DAY:
            return "Every {every} at {times}"
        case ScheduleKind.MONTH_WEEKDAY:
            return "Every month on the {which} {weekday} at {times}"
        case ScheduleKind.YEARLY:
            return "Every {day} {month} at {time}"
        case ScheduleKind.ONCE:
            return "Once, on {date} at {time}"
        case ScheduleKind.WHEN_ASKED:
            return "{every}"
        case ScheduleKind.CRON:
            return "On the schedule {expressions}"
        case _:
            assert_never(schedule.kind)


@dataclass(frozen=True)
class Option:
    """One choice of the first blank: its code in the form, its words, and what it stands for."""

    code: str
    words: str
    kind: ScheduleKind
    every: int | None = None


def _options() -> Iterator[Option]:
    for kind, words in (
        (ScheduleKind.WEEKDAYS, "weekday"),
        (ScheduleKind.DAILY, "day"),
        (ScheduleKind.WEEKENDS, "weekend day"),
        (ScheduleKind.CHOSEN_DAYS, "chosen day"),
        (ScheduleKind.HOURLY, "hour"),
    ):
        yield Option(kind.value, words, kind)
    for hours in EVERY_HOURS:
        kind = ScheduleKind.EVERY_HOURS
        yield Option(f"{kind.value}-{hours}", f"{hours} hours", kind, hours)
    for minutes in EVERY_MINUTES:
        kind = ScheduleKind.EVERY_MINUTES
        yield Option(f"{kind.value}-{minutes}", f"{minutes} minutes", kind, minutes)
    for kind, words in (
        (ScheduleKind.MONTH_DATE, "month on the"),
        (ScheduleKind.MONTH_LAST_DAY, "month on the last day"),
        (ScheduleKind.MONTH_WEEKDAY, "month on a weekday, the"),
        (ScheduleKind.YEARLY, "year"),
        (ScheduleKind.ONCE, "once"),
        (ScheduleKind.WHEN_ASKED, "only when asked"),
        (ScheduleKind.CRON, "custom schedule"),
    ):
        yield Option(kind.value, words, kind)


OPTIONS = tuple(_options())
_BY_CODE = {option.code: option for option in OPTIONS}


def option_of(code: str) -> Option | None:
    """The option of this code; None when there is none."""
    return _BY_CODE.get(code)


def code_of(schedule: Schedule) -> str:
    """The first blank's code for a schedule."""
    every = schedule.values.get("every")
    return f"{schedule.kind.value}-{every}" if every is not None else schedule.kind.value


def pieces(template: str) -> Iterator[tuple[str, str]]:
    """The template as ("text", its words) and ("blank", its name), in order."""
    at = 0
    for found in _BLANK.finditer(template):
        if found.start() > at:
            yield "text", template[at : found.start()]
        yield "blank", found.group(1)
        at = found.end()
    if at < len(template):
        yield "text", template[at:]


def figures(schedule: Schedule, *, inside: bool = False) -> str:
    """A schedule as lists say it, in figures: "Every weekday at 8:00"; `inside` a line, without
    the capital.

    Cron that is one of the sentences is said as that sentence.
    """
    if schedule.kind is ScheduleKind.CRON:
        schedule = same_sentence(crons(schedule), schedule.zone) or schedule
    words = blank_words(schedule)
    said = "".join(
        words[part] if kind == "blank" else part for kind, part in pieces(_said_when(schedule))
    )
    first = said[:1].lower() if inside else said[:1].upper()
    return f"{first}{said[1:]}"


@dataclass(frozen=True)
class Spoken:
    """A piece of the sentence; `anchor` is the field that it leads to, empty for plain words."""

    words: str
    anchor: str = ""


def spoken_sentence(routine: Routine) -> list[Spoken]:
    """The routine's sentence; each blank leads to its field in the form."""
    schedule = routine.schedule
    words = blank_words(schedule) | {
        "agent": routine.who,
        "machine": routine.machine.name if routine.machine else "its machine",
        "zone": zones.words(schedule.zone),
    }
    said = _said_when(schedule)
    if schedule.kind is ScheduleKind.WHEN_ASKED:
        said = f"{said},"
        words["every"] = "Only when asked"
    else:
        said = f"{said}, {{zone}},"
    template = f"{said} {{agent}} wakes {{machine}} and does this:"
    return [
        Spoken(words[part], part) if kind == "blank" else Spoken(part)
        for kind, part in pieces(template)
    ]


def blank_words(schedule: Schedule) -> Words:
    """What each blank of a schedule's sentence says."""
    values = schedule.values
    option = option_of(code_of(schedule))
    said: Words = {"every": option.words if option else str(schedule.kind)}
    if "times" in values:
        said["times"] = joined(list(values["times"]))
    if "days" in values:
        said["days"] = days_in_words(values["days"])
    if "minute" in values:
        said["minute"] = _minute(schedule)
    if schedule.kind in (ScheduleKind.HOURLY, ScheduleKind.EVERY_MINUTES):
        said["window"] = _window(values.get("window"))
    if "day" in values:
        yearly = schedule.kind is ScheduleKind.YEARLY
        said["day"] = str(values["day"]) if yearly else ordinal(values["day"])
    if "month" in values:
        said["month"] = MONTHS_IN_WORDS[values["month"] - 1]
    if "which" in values:
        said["which"] = ORDER[values["which"]]
        said["weekday"] = WEEKDAYS_IN_WORDS[values["weekday"]]
    if "time" in values:
        said["time"] = values["time"]
    if "at" in values:
        said |= _instant(schedule)
    if "expressions" in values:
        said["expressions"] = "; ".join(values["expressions"])
    return said


def _minute(schedule: Schedule) -> str:
    minute: int = schedule.values["minute"]
    return f"0:{minute:02}" if schedule.kind is ScheduleKind.EVERY_HOURS else f":{minute:02}"


def window_days(days: Any) -> str:
    """The days of a window: every day, on weekdays, on Monday and Thursday."""
    match tuple(days):
        case days_ if days_ == ALL_DAYS:
            return "every day"
        case days_ if days_ == WORKDAYS:
            return "on weekdays"
        case days_:
            return f"on {days_in_words(days_)}"


def _window(window: Any) -> str:
    if not window:
        return "day and night"
    return f"{window['from']}:00 to {window['to']}:00 {window_days(window['days'])}"


def _instant(schedule: Schedule) -> Words:
    at = read_instant(schedule.values["at"])
    assert at is not None  # valid schedules only
    local = at.astimezone(zones.as_zone(schedule.zone))
    return {
        "date": f"{local.day} {MONTHS_IN_WORDS[local.month - 1]} {local.year}",
        "time": f"{local.hour}:{local.minute:02}",
    }
