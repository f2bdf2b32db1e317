"""Cron that is one of the sentences: "Same as: every weekday at eight. Use the sentence?" """

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from routines_app.rules.cron import Cron, CronKind, compile_cron
from routines_app.rules.cron_days import month_length
from routines_app.rules.cron_fields import FIRST_YEAR, LAST_YEAR
from routines_app.rules.cron_parse import Parsed
from routines_app.rules.kinds import (
    ALL_DAYS,
    EVERY_HOURS,
    EVERY_MINUTES,
    LAST,
    MOST_TIMES,
    Schedule,
    ScheduleKind,
    expressions,
    schedule_of,
)
from routines_app.rules.wording import WEEKDAYS_IN_WORDS, figures, joined, ordinal


def same_sentence(crons: Sequence[Cron], zone: str) -> Schedule | None:
    """The sentence that fires exactly when the expressions do; None when there is none."""
    if not crons or any(not _plain(cron.parsed) for cron in crons):
        return None
    found = _with_times(crons, zone)
    if found is None and len(crons) == 1:
        found = _repeating(crons[0], zone)
    return found


@dataclass(frozen=True, slots=True)
class BothDays:
    """How to have both day fields at once: the dates by cron, the weekday by a free check."""

    words: str
    expression: str
    check: str


def both_days_only(cron: Cron, zone: str) -> BothDays | None:
    """What to offer when cron reads two day fields as "either": "Friday the 13th only".

    None unless both fields are plain lists of dates and weekdays.
    """
    rule = cron.parsed.days
    if not rule.either or not rule.dates or not rule.weekdays:
        return None
    if rule.from_end or rule.nth or rule.last:
        return None
    texts = list(cron.parsed.texts)
    texts[-1 if len(texts) < 7 else -2] = "*"
    weekdays = "".join(str(day or 7) for day in sorted(rule.weekdays))
    days = joined([WEEKDAYS_IN_WORDS[day] for day in sorted(rule.weekdays)], "or")
    dates = joined([f"the {ordinal(day)}" for day in sorted(rule.dates)], "or")
    return BothDays(
        f"{days} {dates} only", " ".join(texts), f"TZ={zone} date +%u | grep -q '[{weekdays}]'"
    )


def _plain(parsed: Parsed) -> bool:
    return parsed.seconds == (0,) and len(parsed.years) == LAST_YEAR - FIRST_YEAR + 1


def _with_times(crons: Sequence[Cron], zone: str) -> Schedule | None:
    """A sentence with one to six times, when all expressions mean the same days."""
    first = crons[0].parsed
    for cron in crons:
        parsed = cron.parsed
        if cron.kind is not CronKind.FIXED or parsed.months != first.months:
            return None
        if not parsed.days.same_days(first.days):
            return None
    times = sorted({h * 60 + m for c in crons for h in c.parsed.hours for m in c.parsed.minutes})
    if len(times) > MOST_TIMES:
        return None
    said = [figures(minutes) for minutes in times]
    for kind, values in _day_kinds(first):
        filled: dict[str, Any] = {**values, "times": said}
        if kind is ScheduleKind.YEARLY:
            if len(said) > 1:
                continue
            filled = {**values, "time": said[0]}
        candidate = schedule_of(kind, filled, zone)
        made = compile_cron(expressions(candidate)[0]).parsed
        if made.months == first.months and made.days.same_days(first.days):
            return candidate
    return None


def _day_kinds(parsed: Parsed) -> Iterator[tuple[ScheduleKind, dict[str, Any]]]:
    """The kinds that could mean these days; each is tested against the expression."""
    rule = parsed.days
    if rule.any_date and rule.any_weekday:
        yield ScheduleKind.DAILY, {}
    if rule.weekdays:
        yield ScheduleKind.CHOSEN_DAYS, {"days": sorted(rule.weekdays)}
    if rule.from_end == {0} and not rule.dates:
        yield ScheduleKind.MONTH_LAST_DAY, {}
    if len(rule.dates) == 1:
        (day,) = rule.dates
        yield ScheduleKind.MONTH_DATE, {"day": day}
        if len(parsed.months) == 1 and day <= month_length(2024, parsed.months[0]):
            yield ScheduleKind.YEARLY, {"day": day, "month": parsed.months[0]}
    for weekday, which in rule.nth:
        if which <= 4:
            yield ScheduleKind.MONTH_WEEKDAY, {"weekday": weekday, "which": which}
    for weekday in rule.last:
        yield ScheduleKind.MONTH_WEEKDAY, {"weekday": weekday, "which": LAST}


def _repeating(cron: Cron, zone: str) -> Schedule | None:
    for kind, values in _repeating_kinds(cron.parsed):
        candidate = schedule_of(kind, values, zone)
        if compile_cron(expressions(candidate)[0]).means_the_same(cron):
            return candidate
    return None


def _repeating_kinds(parsed: Parsed) -> Iterator[tuple[ScheduleKind, dict[str, Any]]]:
    minutes, hours = parsed.minutes, parsed.hours
    days = sorted(parsed.days.weekdays) or [*ALL_DAYS]
    first, last = hours[0], hours[-1]
    if len(minutes) == 1:
        minute = minutes[0]
        yield ScheduleKind.HOURLY, {"minute": minute}
        for every in EVERY_HOURS:
            yield ScheduleKind.EVERY_HOURS, {"every": every, "minute": minute}
        to = last if minute == 0 and first < last else last + 1
        for end in (to, 24):
            window = {"from": first, "to": end, "days": days}
            yield ScheduleKind.HOURLY, {"minute": minute, "window": window}
    for every in EVERY_MINUTES:
        yield ScheduleKind.EVERY_MINUTES, {"every": every}
        window = {"from": first, "to": last + 1, "days": days}
        yield ScheduleKind.EVERY_MINUTES, {"every": every, "window": window}
