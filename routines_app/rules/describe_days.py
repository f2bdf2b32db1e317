"""Which days a cron expression means, in words."""

from collections.abc import Sequence
from itertools import pairwise

from routines_app.rules.cron_days import DayRule
from routines_app.rules.cron_fields import FIRST_YEAR, LAST_YEAR
from routines_app.rules.cron_parse import Parsed
from routines_app.rules.wording import (
    MONTHS_IN_WORDS,
    WEEKDAYS_IN_WORDS,
    days_in_words,
    joined,
    number_words,
    ordinal,
)

FEW = 6
NTH = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}
_WORKDAYS = frozenset({1, 2, 3, 4, 5})


def even_step(values: Sequence[int]) -> int | None:
    """The even step between values; None when they aren't even or there is only one."""
    steps = {b - a for a, b in pairwise(values)}
    return steps.pop() if len(steps) == 1 else None


def contiguous(values: Sequence[int]) -> bool:
    return len(values) > 1 and values[-1] - values[0] == len(values) - 1


def counted(number: int, unit: str) -> str:
    return f"{number_words(number)} {unit}{'' if number == 1 else 's'}"


def on_days(days: str) -> str:
    """The days after how often: "on weekdays", "on the 1st of every month"."""
    if days == "every weekday":
        return "on weekdays"
    return days.replace("every ", "on ", 1) if days.startswith("every ") else days


def days_words(parsed: Parsed) -> str:
    """Which days: "every weekday", "on the 1st of every month, and also every Friday"."""
    rule = parsed.days
    months = months_words(parsed.months)
    inside = f" in {months}" if months else ""
    of_month = f" of {months or 'every month'}"
    dates, weekdays = dates_words(rule), weekdays_words(rule)
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


def dates_words(rule: DayRule) -> str:
    """The days of the month; empty when any will do."""
    if rule.any_date:
        return ""
    if rule.last_working:
        return "on the last working day"
    if rule.nearest is not None:
        return f"on the working day nearest to the {ordinal(rule.nearest)}"
    dates = sorted(rule.dates)
    step = even_step(dates)
    if len(dates) > FEW and step and step > 1 and not rule.from_end:
        every = "other" if step == 2 else NTH.get(step, ordinal(step))
        return f"on every {every} day from the {ordinal(dates[0])} to the {ordinal(dates[-1])}"
    if len(dates) > 2 and step == 1 and not rule.from_end:
        return f"on the {ordinal(dates[0])} to the {ordinal(dates[-1])}"
    said = [f"the {ordinal(day)}" for day in dates]
    said += [
        "the last day" if days == 0 else f"the day {counted(days, 'day')} before the last"
        for days in sorted(rule.from_end)
    ]
    return f"on {joined(said)}"


def weekdays_words(rule: DayRule) -> str:
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


def months_words(months: Sequence[int]) -> str:
    """The months' names; empty when any will do."""
    if len(months) == 12:
        return ""
    names = [MONTHS_IN_WORDS[month - 1] for month in months]
    return f"{names[0]} to {names[-1]}" if len(names) > 3 and contiguous(months) else joined(names)


def years_words(parsed: Parsed) -> str:
    """ " in 2030", and nothing when any year will do."""
    years = parsed.years
    if len(years) == LAST_YEAR - FIRST_YEAR + 1:
        return ""
    if len(years) <= FEW:
        return f" in {joined([str(year) for year in years])}"
    if contiguous(years):
        return f" in {years[0]} to {years[-1]}"
    return f" in {len(years)} of the years from {years[0]} to {years[-1]}"
