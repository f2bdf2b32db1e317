"""Reading a cron expression: five, six (seconds first) or seven (year last) fields.

Everything that isn't understood is refused with the field and a reason that says what to do.
"""

import re
from dataclasses import dataclass
from datetime import date

from routines_app.rules.cron_days import MONTH_LENGTHS, DayRule
from routines_app.rules.cron_fields import (
    DAY,
    FIELDS,
    FIRST_YEAR,
    HOUR,
    LAST_YEAR,
    MINUTE,
    MONTH,
    MONTHS_IN_WORDS,
    SECOND,
    WEEKDAY,
    YEAR,
    CronError,
    number_in,
    ordinal,
    part_values,
    shown,
    values_of,
)

LONGEST = 256

MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


@dataclass(frozen=True)
class Parsed:
    """An expression's meaning: sorted values of each field, and the rule for days."""

    texts: tuple[str, ...]
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: DayRule
    months: tuple[int, ...]
    years: tuple[int, ...]
    follows_real_time: bool  # the minute or the hour starts with *


def parse(text: str) -> Parsed:
    """The expression's meaning. Raises CronError(field, reason)."""
    texts = _split(text)
    by_name = dict(zip((field.name for field in FIELDS[len(texts)]), texts, strict=True))
    seconds = values_of(SECOND, by_name.get("second", "0"))
    minutes = values_of(MINUTE, by_name["minute"])
    hours = values_of(HOUR, by_name["hour"])
    rule = _day_rule(by_name[DAY.name], by_name[WEEKDAY.name])
    months = values_of(MONTH, by_name["month"])
    years = values_of(YEAR, by_name.get("year", "*"))
    real_time = by_name["minute"].startswith("*") or by_name["hour"].startswith("*")
    parsed = Parsed(texts, seconds, minutes, hours, rule, months, years, real_time)
    if not _ever_happens(parsed):
        raise DAY.refuse(_why_never(parsed))
    return parsed


def _split(text: str) -> tuple[str, ...]:
    whole = "expression"
    if len(text) > LONGEST:
        raise CronError(whole, f"It is {len(text)} characters long. Keep it to {LONGEST}.")
    _refuse_odd_characters(text)
    stripped = text.strip(" \t")
    if stripped.startswith("@"):
        stripped = _macro(stripped)
    if "=" in stripped:
        raise CronError(whole, "Take the zone out of the expression and choose it in its own box.")
    texts = tuple(stripped.upper().split())
    if len(texts) not in FIELDS:
        count = "nothing" if not texts else f"{len(texts)} field{'s' * (len(texts) != 1)}"
        raise CronError(
            whole,
            "Write five fields (minute, hour, day of the month, month, weekday); six start with "
            f"the second, and seven end with the year. This has {count}.",
        )
    return texts


def _refuse_odd_characters(text: str) -> None:
    odd = next((c for c in text if c != "\t" and not " " <= c <= "~"), None)
    if odd is None:
        return
    parts = re.split(r"[ \t]+", text.strip(" \t"))
    at = next(i for i, part in enumerate(parts) if odd in part)
    name = FIELDS[len(parts)][at].name if len(parts) in FIELDS else "expression"
    raise CronError(
        name,
        f"It holds a character that cron doesn't use ({odd!a}). Write it on one line "
        "with plain letters, digits, signs and spaces.",
    )


def _macro(text: str) -> str:
    word, *rest = text.lower().split()
    if word == "@reboot":
        raise CronError(
            "expression",
            "@reboot means when a computer starts, and a routine has no such moment. "
            "Choose times instead, like @daily.",
        )
    if word not in MACROS:
        raise CronError(
            "expression",
            f"{word[:20]} isn't known here. Use {', '.join(MACROS)}, or write the five fields.",
        )
    if rest:
        raise CronError("expression", f"{word} stands alone. Take out what follows it.")
    return MACROS[word]


def _day_rule(date_text: str, weekday_text: str) -> DayRule:
    if date_text == "?" and weekday_text == "?":
        raise WEEKDAY.refuse("? in both day fields leaves no day chosen. Write * in this one.")
    dates, from_end, nearest, last_working = _dates(date_text)
    weekdays, nth, last = _weekdays(weekday_text)
    free = ("*", "?")
    either = not (date_text.startswith(free) or weekday_text.startswith(free))
    return DayRule(dates, from_end, nearest, last_working, weekdays, nth, last, either)


def _dates(text: str) -> tuple[frozenset[int], frozenset[int], int | None, bool]:
    if text == "?":
        text = "*"
    if text == "LW":
        return frozenset(), frozenset(), None, True
    if nearest := re.fullmatch(r"([0-9]+)W", text):
        return frozenset(), frozenset(), number_in(DAY, nearest[1], text), False
    plain: set[int] = set()
    from_end: set[int] = set()
    for part in text.split(","):
        if part == "L":
            from_end.add(0)
        elif before := re.fullmatch(r"L-([0-9]+)", part):
            days = DAY.number(before[1]) or 0
            if not 1 <= days <= 30:
                raise DAY.refuse(f"After L- write 1 to 30 days, not {shown(before[1])}.")
            from_end.add(days)
        elif "W" in part:
            raise DAY.refuse(
                f"W in {shown(text)} isn't understood. Write it alone, after one date, "
                "like 15W, or as LW for the last working day."
            )
        else:
            plain.update(part_values(DAY, part, text))
    return frozenset(plain), frozenset(from_end), None, False


def _weekdays(text: str) -> tuple[frozenset[int], frozenset[tuple[int, int]], frozenset[int]]:
    if text == "?":
        text = "*"
    plain: set[int] = set()
    nth: set[tuple[int, int]] = set()
    last: set[int] = set()
    for part in text.split(","):
        if part == "L":
            raise WEEKDAY.refuse("L needs its weekday: 5L is the last Friday of the month.")
        day, hash_sign, count = part.partition("#")
        if hash_sign:
            if not day:
                raise WEEKDAY.refuse("# needs its weekday: 1#1 is the first Monday.")
            if count not in {"1", "2", "3", "4", "5"}:
                raise WEEKDAY.refuse(f"After # write 1 to 5, not {shown(count)}.")
            nth.add((number_in(WEEKDAY, day, part) % 7, int(count)))
        elif part.endswith("L") and len(part) > 1:
            last.add(number_in(WEEKDAY, part[:-1], part) % 7)
        else:
            plain.update(part_values(WEEKDAY, part, text))
    return frozenset(plain), frozenset(nth), frozenset(last)


def _ever_happens(parsed: Parsed) -> bool:
    """Whether any date in the years comes; years of the same shape are looked at once."""
    shapes: set[tuple[int, bool]] = set()
    for year in parsed.years:
        shape = (date(year, 1, 1).weekday(), date(year, 12, 31).timetuple().tm_yday == 366)
        if shape in shapes:
            continue
        shapes.add(shape)
        if any(parsed.days.days_of(year, month) for month in parsed.months):
            return True
    return False


def _why_never(parsed: Parsed) -> str:
    """Why no such date comes, in words."""
    rule = parsed.days
    smallest = min(rule.dates, default=rule.nearest or 0)
    longest = max(29 if month == 2 else MONTH_LENGTHS[month - 1] for month in parsed.months)
    end = "This would never run. Choose another day or month."
    names = [MONTHS_IN_WORDS[month - 1] for month in parsed.months]
    months = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    never = "never has" if len(names) == 1 else "never have"
    if smallest > longest:
        return f"{months} {never} a {ordinal(smallest)}. {end}"
    if smallest == 29 and parsed.months == (2,) and rule.any_weekday:
        if len(parsed.years) == 1:
            return (
                f"February {parsed.years[0]} has no 29th. This would never run. Choose a leap year."
            )
        return "None of these years is a leap year, so none has a 29 February. " + end
    given = "" if len(parsed.years) == LAST_YEAR - FIRST_YEAR + 1 else " in the years given"
    return f"{months} {never} such a day{given}. {end}"
