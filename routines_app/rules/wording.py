"""Small words: numbers, ordinals, lists, dates, and times of day as people say them."""

import re
from collections.abc import Sequence
from datetime import date

from routines_app.rules.cron_fields import MONTHS_IN_WORDS, WEEKDAYS_IN_WORDS, ordinal

__all__ = [
    "MONTHS_IN_WORDS",
    "NUMBERS",
    "WEEKDAYS_IN_WORDS",
    "date_words",
    "days_in_words",
    "figures",
    "hour_words",
    "joined",
    "minutes_of",
    "number_words",
    "o_clock",
    "ordinal",
    "time_words",
    "times_words",
]

# fmt: off
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)
# fmt: on
_TENS = ("twenty", "thirty", "forty", "fifty")

MIDNIGHT, NOON, DAY = 0, 720, 1440


def number_words(number: int) -> str:
    """A whole number from 0 to 59 in words, others in figures."""
    if 0 <= number < 20:
        return _SMALL[number]
    if number < 60:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")
    return str(number)


NUMBERS = {number_words(number): number for number in range(60)}


def joined(parts: Sequence[str], last: str = "and") -> str:
    """ "a", "a and b", "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def figures(minutes: int) -> str:
    """Minutes from midnight as the one settled form of a time: "8:00", "17:30"."""
    return f"{minutes // 60}:{minutes % 60:02}"


def minutes_of(settled: str) -> int | None:
    """Minutes from midnight of a time in figures ("8:00", "08:00"); None for anything else."""
    found = re.fullmatch(r"([0-9]{1,2}):([0-9]{2})", settled)
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        return None
    return int(found[1]) * 60 + int(found[2])


def part_of_day(minutes: int) -> str:
    """When in the day, by the hour: morning to 11, afternoon to 17, evening to 20, then night."""
    hour = minutes // 60
    if hour < 12:
        return "in the morning"
    if hour < 18:
        return "in the afternoon"
    return "in the evening" if hour < 21 else "at night"


def clock_words(minutes: int) -> str:
    """The time without its part of the day: "eight", "half past eight", "noon", "9:40"."""
    hour, minute = divmod(minutes % DAY, 60)
    if minute not in (0, 15, 30, 45):
        return figures(minutes % DAY)
    if minute == 45:
        return f"quarter to {hour_words((hour + 1) % 24, noon=False)}"
    said = {0: "", 15: "quarter past ", 30: "half past "}[minute]
    return said + hour_words(hour, noon=minute == 0)


def hour_words(hour: int, *, noon: bool = True) -> str:
    """The hour's word: "midnight", "eight", and "noon" (or "twelve") for 12."""
    if hour % 24 == 0:
        return "midnight"
    if hour == 12 and noon:
        return "noon"
    return _SMALL[hour % 12 or 12]


def time_words(minutes: int) -> str:
    """A time as it is read back: "half past eight in the morning", "noon", "9:40"."""
    said = clock_words(minutes)
    if ":" in said or said == "noon" or said.endswith("midnight"):
        return said
    return f"{said} {part_of_day(minutes)}"


def times_words(times: Sequence[int]) -> str:
    """Times in minutes from midnight, in order: "eight in the morning and noon".

    Two that are twelve hours apart share their word: "half past one, in the morning and again in
    the afternoon".
    """
    said = [time_words(minutes) for minutes in times]
    if len(times) == 2 and times[1] - times[0] == DAY // 2:
        clock = clock_words(times[0])
        parts = [part_of_day(minutes) for minutes in times]
        if said == [f"{clock} {part}" for part in parts]:
            return f"{clock}, {parts[0]} and again {parts[1]}"
    return joined(said)


def o_clock(minutes: int) -> str:
    """A time as it is said of a clock: "eight o'clock", "half past nine", "noon", "9:40"."""
    said = clock_words(minutes)
    return f"{said} o'clock" if said in NUMBERS else said


def days_in_words(weekdays: Sequence[int]) -> str:
    """Weekdays (0 is Sunday) from Monday on: "Monday and Thursday"."""
    ordered = sorted(weekdays, key=lambda day: (day + 6) % 7)
    return joined([WEEKDAYS_IN_WORDS[day] for day in ordered])


def date_words(day: date, *, weekday: bool = True, year: bool = False) -> str:
    """A date: "Sunday 28 March", "28 March 2027"."""
    name = f"{WEEKDAYS_IN_WORDS[day.isoweekday() % 7]} " if weekday else ""
    number = f" {day.year}" if year else ""
    return f"{name}{day.day} {MONTHS_IN_WORDS[day.month - 1]}{number}"
