"""The parts of a typed sentence: times, days, windows and dates, each with its own refusal."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from routines_app.rules.cron_days import MONTH_LENGTHS, month_length
from routines_app.rules.cron_fields import FIRST_YEAR, LAST_YEAR
from routines_app.rules.kinds import ALL_DAYS, MOST_TIMES, WEEKEND, WORKDAYS
from routines_app.rules.times import Question, Settled, Unreadable, read_time
from routines_app.rules.wording import (
    MONTHS_IN_WORDS,
    NUMBERS,
    WEEKDAYS_IN_WORDS,
    date_words,
    ordinal,
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A sentence that isn't a schedule yet: what to do, and the choices when it is a question."""

    sentence: str
    choices: tuple[str, ...] = ()


_PART = re.compile(r"(in the (?:morning|afternoon|evening)|at night|[ap]\.?m\.?)$")
_LAST_PART = re.compile(r"(?:,|\band\b|&)\s*(?=[^,&]*$)")
MONTHS = {name.casefold(): number for number, name in enumerate(MONTHS_IN_WORDS, 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
WEEKDAYS = {name.casefold(): number for number, name in enumerate(WEEKDAYS_IN_WORDS)}
WEEKDAYS |= {name[:3]: number for name, number in WEEKDAYS.items()}
WEEKDAYS |= {"tues": 2, "weds": 3, "thur": 4, "thurs": 4}
ORDERS: dict[str, int | str] = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": "last"}
ORDERS |= {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4}


def whole_number(text: str) -> int | None:
    """A number in figures or words."""
    if re.fullmatch(r"[0-9]{1,4}", text):
        return int(text)
    return NUMBERS.get(text)


def split_list(text: str) -> list[str]:
    """The items of "a, b and c"."""
    return [item.strip() for item in re.split(r",|\band\b|&|\+", text) if item.strip()]


def read_times(text: str) -> list[str] | Refusal:
    """One to six times in figures, from "8, noon and half past five in the afternoon"."""
    items = [re.sub(r"^at ", "", item) for item in split_list(text)]
    if not items:
        return Refusal("At what time? Add one, like: every weekday at 8:00.")
    part = _PART.search(items[-1])
    if part is not None and not any(_has_part(item) for item in items[:-1]):
        items[:-1] = [f"{item} {part[1]}" for item in items[:-1]]
    found: set[int] = set()
    for item in items:
        match read_time(item):
            case Settled(minutes):
                found.add(minutes)
            case Question(sentence, choices):
                return Refusal(sentence, choices)
            case Unreadable(sentence):
                return Refusal(sentence)
    if len(found) > MOST_TIMES:
        return Refusal(f"Choose up to six times; this has {len(found)}.")
    return [Settled(minutes).text for minutes in sorted(found)]


def one_time(text: str) -> int | Refusal:
    """One time, in minutes from midnight."""
    match read_time(text):
        case Settled(minutes):
            return minutes
        case Question(sentence, choices):
            return Refusal(sentence, choices)
        case Unreadable(sentence):
            return Refusal(sentence)


def _has_part(item: str) -> bool:
    return bool(_PART.search(item)) or ":" in item or item in ("noon", "midday", "midnight")


def read_days(text: str) -> list[int] | None:
    """Weekdays (0 is Sunday) from "weekdays", "every day", "Mondays and Thursdays"."""
    text = text.strip().removeprefix("every ").removeprefix("on ").strip()
    if text in ("day", "days", "every day", "all days", "any day"):
        return [*ALL_DAYS]
    if re.fullmatch(r"(week|work|working |business )days?", text):
        return [*WORKDAYS]
    if re.fullmatch(r"weekends?|weekend days?|the weekend", text):
        return [*WEEKEND]
    span = re.fullmatch(r"(\w+?)s? (?:to|through|until|-) (\w+?)s?", text)
    if span and span[1] in WEEKDAYS and span[2] in WEEKDAYS:
        first, last = WEEKDAYS[span[1]], WEEKDAYS[span[2]]
        return sorted({(first + step) % 7 for step in range((last - first) % 7 + 1)})
    days = [_weekday(re.sub(r"^(every|on) ", "", item)) for item in split_list(text)]
    known = sorted({day for day in days if day is not None})
    return known if known and None not in days else None


def _weekday(text: str) -> int | None:
    if text in WEEKDAYS:
        return WEEKDAYS[text]
    return WEEKDAYS.get(text.removesuffix("s"))


_WINDOW = re.compile(
    r"(?:(?:from|between) (?P<start>.+?)(?:(?: to | and | until | till | ?- ?)(?P<end>.+?))?)?"
    r"(?:,? (?P<days>(?:on|every) .+))?"
)


def read_window(text: str, last: str) -> dict[str, Any] | Refusal | None:
    """The window of "from 8 to 18 on weekdays"; `last` is the hour after which it is over.

    `last` comes from "the last is at 17:45" and may be empty. None when there is no window.
    """
    text = re.sub(r"^,? ?day and night,? ?", "", text.strip()).strip(" ,")
    if not text:
        return None
    found = _WINDOW.fullmatch(text) or _WINDOW.fullmatch(f" {text}")
    if found is None:
        return Refusal(
            f'"{text[:40]}" isn\'t understood. Write the window like: from 8 to 18 on weekdays.'
        )
    days = read_days(found["days"]) if found["days"] else [*ALL_DAYS]
    if days is None:
        return Refusal(
            f'Which days does "{found["days"][:40]}" mean? Write them like: on weekdays.'
        )
    if found["start"] is None:
        return {"from": 0, "to": 24, "days": days}
    hours = _hours(found["start"], found["end"] or last)
    if isinstance(hours, Refusal):
        return hours
    return {"from": hours[0], "to": hours[1], "days": days}


def _hours(start: str, end: str) -> tuple[int, int] | Refusal:
    """Whole hours of a window; "nine to five" ends at 17."""
    if not end:
        return Refusal("Until when? Write the window like: from 8 to 18 on weekdays.")
    first, last = _hour(start), _hour(end)
    for hour, text in ((first, start), (last, end)):
        if hour is None:
            return Refusal(f'"{text[:20]}" isn\'t a whole hour. Write one from 0 to 24.')
    assert first is not None and last is not None
    from_hour, from_sure = first
    to_hour, to_sure = last
    if not from_sure and not to_sure and from_hour < 8:
        choices = (f"from {from_hour}:00", f"from {from_hour + 12}:00")
        return Refusal(f"{choices[0].capitalize()}, or {choices[1]}?", choices)
    if not to_sure and from_hour <= 12:
        to_hour = from_hour + ((to_hour - from_hour) % 12 or 12)
    if to_hour == 0:
        to_hour = 24
    if to_hour > 24 or from_hour >= to_hour:
        return Refusal("Choose an end that is later than the start, on one day.")
    return from_hour, to_hour


def _hour(text: str) -> tuple[int, bool] | None:
    """A whole hour, and whether the half of the day is sure; None for anything else."""
    text = text.strip()
    if text in ("24", "24:00"):
        return 24, True
    number = whole_number(re.sub(r" o'clock$", "", text))
    if number is not None and 1 <= number <= 12:
        return number, number == 12
    match read_time(text):
        case Settled(minutes) if minutes % 60 == 0:
            return minutes // 60, True
        case _:
            return None


_DATE_FORMS = (
    re.compile(
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month>[a-z]+)(?:,? (?P<year>\d{4}))?"
    ),
    re.compile(r"(?P<month>[a-z]+) (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?"),
    re.compile(r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"),
)


def read_day_and_month(text: str) -> tuple[int, int, int | None] | Refusal | None:
    """(day, month, year or None) of "30 March 2027"; None when it is no date at all."""
    text = text.strip()
    for form in _DATE_FORMS:
        found = form.fullmatch(text)
        if found is None:
            continue
        month = MONTHS.get(found["month"]) or whole_number(found["month"])
        if month is None or not 1 <= month <= 12:
            continue
        day, year = int(found["day"]), int(found["year"]) if found["year"] else None
        longest = 29 if month == 2 else MONTH_LENGTHS[month - 1]
        if not 1 <= day <= longest:
            return Refusal(
                f"{MONTHS_IN_WORDS[month - 1]} never has a {ordinal(day)}. Choose another day."
            )
        return day, month, year
    return None


def read_date(text: str, today: date | None) -> date | Refusal:
    """The date of "Tuesday 30 March", "tomorrow", "2027-03-30": the next one from `today`."""
    text = text.strip().strip(",")
    if text in ("today", "tomorrow"):
        if today is None:
            return Refusal("Write the date, like 30 March 2027.")
        return today + timedelta(days=1) if text == "tomorrow" else today
    first, _, rest = text.partition(" ")
    weekday = WEEKDAYS.get(first.strip(","))
    if weekday is not None and not rest and today is not None:
        return today + timedelta(days=(weekday - today.isoweekday() % 7 - 1) % 7 + 1)
    read = read_day_and_month(rest if weekday is not None else text)
    if read is None:
        return Refusal(f'"{text[:40]}" isn\'t a date. Write it like 30 March 2027.')
    if isinstance(read, Refusal):
        return read
    found = _dated(*read, today)
    if isinstance(found, date) and weekday is not None and found.isoweekday() % 7 != weekday:
        right = WEEKDAYS_IN_WORDS[found.isoweekday() % 7]
        return Refusal(f"{date_words(found, weekday=False, year=True)} is a {right}. Choose one.")
    return found


def _dated(day: int, month: int, year: int | None, today: date | None) -> date | Refusal:
    if year is None:
        if today is None:
            return Refusal("Which year? Write the date like 30 March 2027.")
        year = today.year
        while day > month_length(year, month) or date(year, month, day) < today:
            year += 1
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return Refusal(f"Choose a year from {FIRST_YEAR} to {LAST_YEAR}.")
    if day > month_length(year, month):
        return Refusal(
            f"{MONTHS_IN_WORDS[month - 1]} {year} has no {ordinal(day)}. Choose another."
        )
    return date(year, month, day)
