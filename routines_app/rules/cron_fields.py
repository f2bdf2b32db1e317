"""The fields of a cron expression: their bounds, and the values that their text names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

FIRST_YEAR, LAST_YEAR = 1970, 2099

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
        if self.field == "expression" or "would never run" in self.reason:
            return self.reason
        return f"In the {self.field}: {self.reason}"


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


def values_of(field: Field, text: str) -> tuple[int, ...]:
    """The sorted values that a field names."""
    found: set[int] = set()
    for part in text.split(","):
        found.update(part_values(field, part, text))
    return tuple(sorted(found))


def part_values(field: Field, part: str, text: str) -> Iterator[int]:
    """The values of one part between commas, weekdays already folded to 0..6."""
    if not part:
        raise field.refuse(f"There is a comma too many in {shown(text)}. Take it out.")
    _refuse_foreign(field, part)
    base, slash, step_text = part.partition("/")
    step = _step(field, step_text, part) if slash else 1
    if base == "*":
        return iter(range(field.low, _top(field) + 1, step))
    start_text, dash, end_text = base.partition("-")
    start = number_in(field, start_text, part)
    if not dash:
        end = _top(field) if slash else start
        start = start % 7 if field is WEEKDAY else start
        return iter(range(start, max(start, end % 7 if field is WEEKDAY else end) + 1, step))
    return _range(field, start, number_in(field, end_text, part), step)


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
        raise field.refuse(f"After the / in {shown(part)}, write one whole number, like */5.")
    step = field.number(text) or 0
    size = _top(field) - field.low + 1
    if not 1 <= step <= size:
        raise field.refuse(
            f"The step in {shown(part)} must be from 1 to {size}: "
            "steps start again with each round of the field."
        )
    return step


def number_in(field: Field, text: str, part: str) -> int:
    value = field.number(text)
    if value is None:
        raise field.refuse(f"{shown(part)} isn't understood. {_allowed(field)}")
    if not field.low <= value <= field.high:
        raise field.refuse(f"{shown(text)} is out of range. {_allowed(field)}")
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


def shown(text: str) -> str:
    return f'"{text if len(text) <= 20 else text[:20] + "…"}"'


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st..."""
    if 10 <= number % 100 <= 20:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
