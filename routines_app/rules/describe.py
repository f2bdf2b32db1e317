"""Cron in words: the whole sentence, and what each field says."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from routines_app.rules.cron import Cron
from routines_app.rules.cron_days import DayRule
from routines_app.rules.cron_parse import FIELDS, FIRST_YEAR, LAST_YEAR, Parsed
from routines_app.rules.wording import (
    MONTHS_IN_WORDS,
    WEEKDAYS_IN_WORDS,
    clock_words,
    days_in_words,
    figures,
    joined,
    number_words,
    ordinal,
    time_words,
)

FEW = 6
NTH = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}
_WORKDAYS = frozenset({1, 2, 3, 4, 5})


@dataclass(frozen=True, slots=True)
class FieldWords:
    """One box under the cron input: the field's name, its text, and what the text means."""

    field: str
    text: str
    words: str


def describe(cron: Cron) -> str:
    """What an expression means, without a zone: "every weekday at eight in the morning"."""
    parsed = cron.parsed
    days = _days(parsed)
    rounds = len(parsed.minutes) == 1 and _even(parsed.hours, 24) is not None
    stepped = len(parsed.minutes) > 3 and _even(parsed.minutes, 60) is not None
    few = len(parsed.hours) * len(parsed.minutes) <= FEW and not rounds and not stepped
    if few and len(parsed.seconds) == 1:
        said = f"{days} at {joined(_times(parsed))}"
    elif few:
        said = f"{days} at {joined(_times(parsed))}{_seconds(parsed)}"
    else:
        often = _every_second(parsed) or f"{_often(parsed)}{_seconds(parsed)}"
        said = often if days == "every day" else f"{often}, {_on(days).removesuffix(',')}"
    note = uneven(parsed)
    either = parsed.days.either
    return (
        f"{said}{_years(parsed)}"
        + (f"; {note}" if note else "")
        + (". Cron means either, not both" if either else "")
    )


def describe_crons(crons: Sequence[Cron]) -> str:
    """Several expressions of one schedule in words."""
    return "; and ".join(describe(cron) for cron in crons)


def explain_fields(cron: Cron) -> tuple[FieldWords, ...]:
    """What each field of the expression says, in the order in which it is written."""
    parsed = cron.parsed
    said = {
        "second": _second_words(parsed.seconds),
        "minute": _minute_words(parsed.minutes),
        "hour": _hour_words(parsed.hours),
        "day of the month": _date_words(parsed.days),
        "month": _months(parsed.months) or "any month",
        "weekday": _weekday_words(parsed.days),
        "year": _years(parsed).removeprefix(" in ") or "any year",
    }
    fields = FIELDS[len(parsed.texts)]
    return tuple(
        FieldWords(field.name, text, said[field.name])
        for field, text in zip(fields, parsed.texts, strict=True)
    )


def without_seconds(cron: Cron) -> str | None:
    """The five-field text of a six-field expression with one second; None for others."""
    parsed = cron.parsed
    if len(parsed.texts) != 6 or len(parsed.seconds) != 1:
        return None
    return " ".join(parsed.texts[1:])


def uneven(parsed: Parsed) -> str:
    """What a step that doesn't divide its field leaves: "then only ten minutes to the next"."""
    minutes, hours = parsed.minutes, parsed.hours
    if len(hours) == 24 and (step := _step(minutes)):
        rest = 60 - minutes[-1] + minutes[0]
        if rest < step:
            return f"then only {_counted(rest, 'minute')} to the next"
    if len(minutes) == 1 and len(parsed.days.weekdays) == 7 and (step := _step(hours)):
        rest = 24 - hours[-1] + hours[0]
        if rest < step and len(hours) > 2:
            return f"then only {_counted(rest, 'hour')} to the next"
    return ""


def _counted(number: int, unit: str) -> str:
    return f"{number_words(number)} {unit}{'' if number == 1 else 's'}"


def _step(values: Sequence[int]) -> int | None:
    """The even step between values; None when they aren't even or there is only one."""
    steps = {b - a for a, b in pairwise(values)}
    return steps.pop() if len(steps) == 1 else None


def _even(values: Sequence[int], size: int) -> int | None:
    """The step when the values go round the whole field evenly, from 0."""
    step = _step(values)
    if step is None or values[0] != 0 or size % step or len(values) != size // step:
        return None
    return step


def _contiguous(values: Sequence[int]) -> bool:
    return len(values) > 1 and values[-1] - values[0] == len(values) - 1


def _times(parsed: Parsed) -> list[str]:
    second = parsed.seconds[0] if len(parsed.seconds) == 1 else 0
    return [_time(hour * 60 + minute, second) for hour in parsed.hours for minute in parsed.minutes]


def _time(minutes: int, second: int) -> str:
    said = time_words(minutes)
    if not second:
        return said
    clock = clock_words(minutes)
    if ":" in clock:
        return f"{clock}:{second:02}"
    return f"{clock} and {_counted_figures(second)}{said.removeprefix(clock)}"


def _counted_figures(second: int) -> str:
    return f"{second} second{'' if second == 1 else 's'}"


def _past(minutes: Sequence[int]) -> str:
    return joined([f":{minute:02}" for minute in minutes])


def _often(parsed: Parsed) -> str:
    """How often, for an expression with more times of day than can be listed."""
    minutes, hours = parsed.minutes, parsed.hours
    step = 1 if len(minutes) == 60 else _even(minutes, 60)
    if len(hours) == 24:
        if step:
            return "every minute" if step == 1 else f"every {number_words(step)} minutes"
        if len(minutes) == 1:
            return "every hour" + (f" at {_past(minutes)}" if minutes[0] else "")
        return f"every hour at {_past(minutes)}"
    if len(minutes) == 1 and (every := _even(hours, 24)):
        return f"every {number_words(every)} hours, from {time_words(minutes[0])}"
    first, last = hours[0] * 60 + minutes[0], hours[-1] * 60 + minutes[-1]
    between = f"from {figures(first)} to {figures(last)}"
    if step and (_contiguous(hours) or len(hours) == 1):
        return f"every minute {between}" if step == 1 else _every(step, between)
    if len(minutes) == 1 and _contiguous(hours):
        return f"every hour {between}"
    if len(minutes) == 1:
        return f"at {joined([figures(hour * 60 + minutes[0]) for hour in hours])}"
    past = "every minute" if step == 1 else f"at {_past(minutes)}"
    return f"{past} of the hours {joined([str(hour) for hour in hours])}"


def _every_second(parsed: Parsed) -> str:
    """ "every second", "every ten seconds", when all minutes are due; empty for the rest."""
    step = 1 if len(parsed.seconds) == 60 else _even(parsed.seconds, 60)
    if len(parsed.hours) < 24 or len(parsed.minutes) < 60 or not step:
        return ""
    return "every second" if step == 1 else f"every {number_words(step)} seconds"


def _every(step: int, between: str) -> str:
    return f"every {number_words(step)} minutes {between}"


def _seconds(parsed: Parsed) -> str:
    seconds = parsed.seconds
    if seconds == (0,):
        return ""
    if len(seconds) == 60:
        return ", at every second"
    if step := _even(seconds, 60):
        return f", every {number_words(step)} seconds"
    said = joined([str(second) for second in seconds])
    return f", at {said} second{'' if seconds == (1,) else 's'}"


def _on(days: str) -> str:
    """The days after how often: "on weekdays", "on the 1st of every month"."""
    if days == "every weekday":
        return "on weekdays"
    return days.replace("every ", "on ", 1) if days.startswith("every ") else days


def _days(parsed: Parsed) -> str:
    """Which days: "every weekday", "on the 1st of every month, and also every Friday"."""
    rule = parsed.days
    months = _months(parsed.months)
    inside = f" in {months}" if months else ""
    of_month = f" of {months or 'every month'}"
    dates, weekdays = _dates(rule), _weekdays(rule)
    if not dates and not weekdays:
        return f"every day{inside}"
    if not dates:
        return f"{weekdays}{of_month if weekdays.startswith('on the') else inside}"
    if not weekdays:
        return f"{dates}{of_month}"
    if rule.either:
        return f"{dates}{of_month}, and also {weekdays}{inside},"
    only = weekdays.removeprefix("every ").removeprefix("on ")
    return f"{dates}{of_month}, when that is {'' if 'the ' in only else 'a '}{only},"


def _dates(rule: DayRule) -> str:
    """The days of the month; empty when any will do."""
    if rule.any_date:
        return ""
    if rule.last_working:
        return "on the last working day"
    if rule.nearest is not None:
        return f"on the working day nearest to the {ordinal(rule.nearest)}"
    dates = sorted(rule.dates)
    step = _step(dates)
    if len(dates) > FEW and step and step > 1 and not rule.from_end:
        every = "other" if step == 2 else NTH.get(step, ordinal(step))
        return f"on every {every} day from the {ordinal(dates[0])} to the {ordinal(dates[-1])}"
    if len(dates) > 2 and step == 1 and not rule.from_end:
        return f"on the {ordinal(dates[0])} to the {ordinal(dates[-1])}"
    said = [f"the {ordinal(day)}" for day in dates]
    said += [
        "the last day" if days == 0 else f"the day {_counted(days, 'day')} before the last"
        for days in sorted(rule.from_end)
    ]
    return f"on {joined(said)}"


def _weekdays(rule: DayRule) -> str:
    """The weekdays; empty when any will do."""
    if rule.any_weekday:
        return ""
    said = [f"the {NTH[n]} {WEEKDAYS_IN_WORDS[day]}" for day, n in sorted(rule.nth, key=_nth_order)]
    said += [f"the last {WEEKDAYS_IN_WORDS[day]}" for day in sorted(rule.last)]
    if rule.weekdays:
        plain = "weekday" if rule.weekdays == _WORKDAYS else days_in_words(sorted(rule.weekdays))
        return f"every {plain}" + (f" and {joined(said)}" if said else "")
    return f"on {joined(said)}"


def _nth_order(nth: tuple[int, int]) -> tuple[int, int]:
    return nth[1], nth[0]


def _months(months: Sequence[int]) -> str:
    """The months' names; empty when any will do."""
    if len(months) == 12:
        return ""
    names = [MONTHS_IN_WORDS[month - 1] for month in months]
    return f"{names[0]} to {names[-1]}" if len(names) > 3 and _contiguous(months) else joined(names)


def _years(parsed: Parsed) -> str:
    """ " in 2030", and nothing when any year will do."""
    years = parsed.years
    if len(years) == LAST_YEAR - FIRST_YEAR + 1:
        return ""
    if len(years) <= FEW:
        return f" in {joined([str(year) for year in years])}"
    if _contiguous(years):
        return f" in {years[0]} to {years[-1]}"
    return f" in {len(years)} of the years from {years[0]} to {years[-1]}"


def _second_words(seconds: Sequence[int]) -> str:
    if len(seconds) == 60:
        return "every second"
    if step := _even(seconds, 60):
        return f"every {number_words(step)} seconds"
    return f"at {joined([str(second) for second in seconds])} second{'s' * (seconds != (1,))}"


def _minute_words(minutes: Sequence[int]) -> str:
    if len(minutes) == 60:
        return "every minute"
    if step := _even(minutes, 60):
        return f"every {number_words(step)} minutes"
    if len(minutes) == 1:
        named = {0: "on the hour", 15: "quarter past", 30: "half past", 45: "quarter to"}
        return named.get(minutes[0], f"at :{minutes[0]:02}")
    return f"at {_past(minutes)}"


def _hour_words(hours: Sequence[int]) -> str:
    if len(hours) == 24:
        return "every hour"
    if step := _even(hours, 24):
        return f"every {number_words(step)} hours"
    if len(hours) == 1:
        return number_words(hours[0]) if hours[0] else "midnight"
    if len(hours) > 2 and _contiguous(hours):
        return f"{hours[0]} to {hours[-1]}"
    return joined([str(hour) for hour in hours])


def _date_words(rule: DayRule) -> str:
    return _dates(rule).removeprefix("on ") or "any day of the month"


def _weekday_words(rule: DayRule) -> str:
    plain = sorted(rule.weekdays)
    if rule.nth or rule.last:
        return _weekdays(rule).removeprefix("on ")
    if len(plain) > 2 and len(plain) < 7 and _contiguous(plain):
        return f"{WEEKDAYS_IN_WORDS[plain[0]][:3]} to {WEEKDAYS_IN_WORDS[plain[-1]][:3]}"
    ordered = sorted(plain, key=lambda day: (day + 6) % 7)
    return (
        joined([WEEKDAYS_IN_WORDS[d][:3] for d in ordered])
        if len(plain) < 7
        else "any day of the week"
    )
