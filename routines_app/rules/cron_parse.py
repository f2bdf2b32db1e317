"""Reading a cron expression: five, six (seconds first) or seven (year last) fields.

Everything that isn't understood is refused with the field and a reason that says what to do.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from routines_app.rules.cron_days import MONTH_LENGTHS, DayRule

FIRST_YEAR, LAST_YEAR = 1970, 2099
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

# fmt: off
MONTHS_IN_WORDS = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)
WEEKDAYS_IN_WORDS = (
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
)
# fmt: on
MONTH_NAMES = tuple(month[:3].upper() for month in MONTHS_IN_WORDS)
WEEKDAY_NAMES = tuple(day[:3].upper() for day in WEEKDAYS_IN_WORDS)


class CronError(ValueError):
    """The expression is refused: `field` says where, `reason` says why and what to do."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason

    @property
    def sentence(self) -> str:
        """The reason, led by its field: "In the minute: ..."."""
        return self.reason if self.field == "expression" else f"In the {self.field}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Field:
    """One field's name as people see it, its bounds, and its names."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    first_name: int = 0
    wraps: bool = True

    def number(self, text: str) -> int | None:
        """The value of a number or a name; None when it is neither. Not checked for range."""
        if re.fullmatch(r"[0-9]+", text):
            return int(text[-9:]) if not text[:-9].strip("0") else 10**9
        if text in self.names:
            return self.names.index(text) + self.first_name
        return None

    def refuse(self, reason: str) -> CronError:
        """A refusal in this field."""
        return CronError(self.name, reason)


SECOND = Field("second", 0, 59)
MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
DAY = Field("day of the month", 1, 31)
MONTH = Field("month", 1, 12, MONTH_NAMES, 1)
WEEKDAY = Field("weekday", 0, 7, WEEKDAY_NAMES)
YEAR = Field("year", FIRST_YEAR, LAST_YEAR, wraps=False)

FIELDS = {
    5: (MINUTE, HOUR, DAY, MONTH, WEEKDAY),
    6: (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY),
    7: (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, YEAR),
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
    seconds = _values(SECOND, by_name.get("second", "0"))
    minutes = _values(MINUTE, by_name["minute"])
    hours = _values(HOUR, by_name["hour"])
    rule = _day_rule(by_name[DAY.name], by_name[WEEKDAY.name])
    months = _values(MONTH, by_name["month"])
    years = _values(YEAR, by_name.get("year", "*"))
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


def _values(field: Field, text: str) -> tuple[int, ...]:
    """The sorted values that a field names."""
    found: set[int] = set()
    for part in text.split(","):
        found.update(_part(field, part, text))
    return tuple(sorted(found))


def _part(field: Field, part: str, text: str) -> Iterator[int]:
    """The values of one part between commas, weekdays already folded to 0..6."""
    if not part:
        raise field.refuse(f"There is a comma too many in {_shown(text)}. Take it out.")
    _refuse_foreign(field, part)
    base, slash, step_text = part.partition("/")
    step = _step(field, step_text, part) if slash else 1
    if base == "*":
        return iter(range(field.low, _top(field) + 1, step))
    start_text, dash, end_text = base.partition("-")
    start = _number(field, start_text, part)
    if not dash:
        end = _top(field) if slash else start
        start = start % 7 if field is WEEKDAY else start
        return iter(range(start, max(start, end % 7 if field is WEEKDAY else end) + 1, step))
    return _range(field, start, _number(field, end_text, part), step)


def _range(field: Field, start: int, end: int, step: int) -> Iterator[int]:
    """From `start` to `end`, over the top of the field when `end` is the smaller."""
    if field is WEEKDAY:
        if start == 7:
            start, end = 0, end % 7
        if start > end:
            end += 7
        return (day % 7 for day in range(start, end + 1, step))
    if start <= end:
        return iter(range(start, end + 1, step))
    if not field.wraps:
        raise field.refuse(f"The range {start}-{end} runs backwards. Write {end}-{start}.")
    size = field.high - field.low + 1
    return ((value - field.low) % size + field.low for value in range(start, end + size + 1, step))


def _top(field: Field) -> int:
    return 6 if field is WEEKDAY else field.high


def _step(field: Field, text: str, part: str) -> int:
    if not re.fullmatch(r"[0-9]+", text):
        raise field.refuse(f"After the / in {_shown(part)}, write one whole number, like */5.")
    step = field.number(text) or 0
    size = _top(field) - field.low + 1
    if not 1 <= step <= size:
        raise field.refuse(
            f"The step in {_shown(part)} must be from 1 to {size}: "
            "steps start again with each round of the field."
        )
    return step


def _number(field: Field, text: str, part: str) -> int:
    value = field.number(text)
    if value is None:
        raise field.refuse(f"{_shown(part)} isn't understood. {_allowed(field)}")
    if not field.low <= value <= field.high:
        raise field.refuse(f"{_shown(text)} is out of range. {_allowed(field)}")
    return value


def _allowed(field: Field) -> str:
    names = f", or {field.names[0]} to {field.names[-1]}" if field.names else ""
    return f"Write numbers from {field.low} to {field.high}{names}, ranges like 1-3, lists or *."


def _refuse_foreign(field: Field, part: str) -> None:
    """Refuses what other schedulers know and this one doesn't, with its own reason."""
    if part.startswith("?"):
        raise field.refuse("? stands alone, in one of the two day fields only. Write * here.")
    if re.match(r"[HR]($|[/(])", part):
        raise field.refuse(
            f"{part[0]} lets the scheduler choose a value, and here you do. Write a number."
        )
    if "~" in part:
        raise field.refuse("~ asks for a random value, and here you choose. Write a number.")


def _shown(text: str) -> str:
    return f'"{text if len(text) <= 20 else text[:20] + "…"}"'


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
        return frozenset(), frozenset(), _number(DAY, nearest[1], text), False
    plain: set[int] = set()
    from_end: set[int] = set()
    for part in text.split(","):
        if part == "L":
            from_end.add(0)
        elif before := re.fullmatch(r"L-([0-9]+)", part):
            days = DAY.number(before[1]) or 0
            if not 1 <= days <= 30:
                raise DAY.refuse(f"After L- write 1 to 30 days, not {_shown(before[1])}.")
            from_end.add(days)
        elif "W" in part:
            raise DAY.refuse(
                f"W in {_shown(text)} isn't understood. Write it alone, after one date, "
                "like 15W, or as LW for the last working day."
            )
        else:
            plain.update(_part(DAY, part, text))
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
                raise WEEKDAY.refuse(f"After # write 1 to 5, not {_shown(count)}.")
            nth.add((_number(WEEKDAY, day, part) % 7, int(count)))
        elif part.endswith("L") and len(part) > 1:
            last.add(_number(WEEKDAY, part[:-1], part) % 7)
        else:
            plain.update(_part(WEEKDAY, part, text))
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


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st..."""
    if 10 <= number % 100 <= 20:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
