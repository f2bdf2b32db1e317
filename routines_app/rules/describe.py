"""Cron in words: the whole sentence, and what each field says."""

from collections.abc import Sequence
from dataclasses import dataclass

from routines_app.rules.cron import Cron
from routines_app.rules.cron_days import DayRule
from routines_app.rules.cron_fields import FIELDS
from routines_app.rules.cron_parse import Parsed
from routines_app.rules.describe_days import (
    FEW,
    contiguous,
    counted,
    dates_words,
    days_words,
    even_step,
    months_words,
    on_days,
    weekdays_words,
    years_words,
)
from routines_app.rules.wording import (
    WEEKDAYS_IN_WORDS,
    clock_words,
    figures,
    joined,
    number_words,
    time_words,
    times_words,
)


@dataclass(frozen=True, slots=True)
class FieldWords:
    """One box under the cron input: the field's name, its text, and what the text means."""

    field: str
    text: str
    words: str


def describe(cron: Cron) -> str:
    """What an expression means, without a zone: "every weekday at eight in the morning"."""
    parsed = cron.parsed
    days = days_words(parsed)
    rounds = len(parsed.minutes) == 1 and _even(parsed.hours, 24) is not None
    stepped = len(parsed.minutes) > 3 and _even(parsed.minutes, 60) is not None
    few = len(parsed.hours) * len(parsed.minutes) <= FEW and not rounds and not stepped
    if few and parsed.seconds == (0,):
        said = f"{days} at {times_words(_minutes(parsed))}"
    elif few and len(parsed.seconds) == 1:
        said = f"{days} at {joined(_times(parsed))}"
    elif few:
        said = f"{days} at {joined(_times(parsed))}{_seconds(parsed)}"
    else:
        often = _every_second(parsed) or f"{_often(parsed)}{_seconds(parsed)}"
        said = often if days == "every day" else f"{often}, {on_days(days).removesuffix(',')}"
    note = uneven(parsed)
    either = parsed.days.either
    return (
        f"{said}{years_words(parsed)}"
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
        "month": months_words(parsed.months) or "any month",
        "weekday": _weekday_words(parsed.days),
        "year": years_words(parsed).removeprefix(" in ") or "any year",
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
    if len(hours) == 24 and (step := even_step(minutes)):
        rest = 60 - minutes[-1] + minutes[0]
        if rest < step:
            return f"then only {counted(rest, 'minute')} to the next"
    if len(minutes) == 1 and len(parsed.days.weekdays) == 7 and (step := even_step(hours)):
        rest = 24 - hours[-1] + hours[0]
        if rest < step and len(hours) > 2:
            return f"then only {counted(rest, 'hour')} to the next"
    return ""


def _even(values: Sequence[int], size: int) -> int | None:
    """The step when the values go round the whole field evenly, from 0."""
    step = even_step(values)
    if step is None or values[0] != 0 or size % step or len(values) != size // step:
        return None
    return step


def _times(parsed: Parsed) -> list[str]:
    second = parsed.seconds[0] if len(parsed.seconds) == 1 else 0
    return [_time(minutes, second) for minutes in _minutes(parsed)]


def _minutes(parsed: Parsed) -> list[int]:
    return [hour * 60 + minute for hour in parsed.hours for minute in parsed.minutes]


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
    if step and (contiguous(hours) or len(hours) == 1):
        return f"every minute {between}" if step == 1 else _every(step, between)
    if len(minutes) == 1 and contiguous(hours):
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
    if len(hours) > 2 and contiguous(hours):
        return f"{hours[0]} to {hours[-1]}"
    return joined([str(hour) for hour in hours])


def _date_words(rule: DayRule) -> str:
    return dates_words(rule).removeprefix("on ") or "any day of the month"


def _weekday_words(rule: DayRule) -> str:
    plain = sorted(rule.weekdays)
    if rule.nth or rule.last:
        return weekdays_words(rule).removeprefix("on ")
    if len(plain) > 2 and len(plain) < 7 and contiguous(plain):
        return f"{WEEKDAYS_IN_WORDS[plain[0]][:3]} to {WEEKDAYS_IN_WORDS[plain[-1]][:3]}"
    ordered = sorted(plain, key=lambda day: (day + 6) % 7)
    return (
        joined([WEEKDAYS_IN_WORDS[d][:3] for d in ordered])
        if len(plain) < 7
        else "any day of the week"
    )
