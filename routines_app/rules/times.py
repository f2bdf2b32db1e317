"""Typed times: `8`, `8am`, `8.30`, `0830`, `20:15`, `noon`, `half past 8` become "8:00".

A bare 1 to 7 could be night or afternoon, so it is answered with a question.
"""

import re
from dataclasses import dataclass

from routines_app.rules.wording import DAY, MIDNIGHT, NOON, NUMBERS, figures

HALF_DAY = 720


@dataclass(frozen=True, slots=True)
class Settled:
    """A time that is understood; `minutes` counts from midnight."""

    minutes: int

    @property
    def text(self) -> str:
        """The one form in which a field shows it: "8:00"."""
        return figures(self.minutes)


@dataclass(frozen=True, slots=True)
class Question:
    """A time with two meanings: `choices` are both of them, in figures."""

    sentence: str
    choices: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A time that isn't understood; the sentence says how to write one."""

    sentence: str


TypedTime = Settled | Question | Unreadable

_PARTS = {
    "in the morning": "morning",
    "in the afternoon": "afternoon",
    "in the evening": "evening",
    "at night": "night",
    "am": "am",
    "pm": "pm",
}
_PART = re.compile(
    r"^(?P<time>.*?)\s*(?P<part>in the morning|in the afternoon|in the evening|at night|am|pm)$"
)
_FIGURES = re.compile(r"^(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2}))?$")
_RUN_TOGETHER = re.compile(r"^(?P<hour>\d{1,2})(?P<minute>\d{2})$")
_SPOKEN = re.compile(
    r"^(?P<amount>[a-z0-9-]+|a quarter)(?: minutes?)? (?P<way>past|to) (?P<hour>\w+)$"
)
_HOW = "Write it like 8:00, 17:30, 8am, noon or half past 8."


def read_time(text: str) -> TypedTime:
    """What a typed time means."""
    plain = " ".join(text.casefold().replace("’", "'").split())
    plain = re.sub(r"\b([ap])\.?\s?m\.?$", r"\1m", plain)
    plain = re.sub(r"\bo'? ?clock\b", "", plain).replace("  ", " ").strip()
    if len(plain) > 60:
        return Unreadable(f"That is too long for a time. {_HOW}")
    if not plain:
        return Unreadable(f"Type a time. {_HOW}")
    part = ""
    if (found := _PART.match(plain)) and found["time"]:
        plain, part = found["time"], _PARTS[found["part"]]
    read = _figures(plain) or _spoken(plain)
    if read is None:
        return Unreadable(f'"{text.strip()[:30]}" isn\'t a time that is understood here. {_HOW}')
    minutes, open_to_doubt = read
    if minutes >= DAY:
        return Unreadable(f"The day ends at 23:59; midnight is 0:00. {_HOW}")
    if part:
        return _in_part(minutes, part, text)
    if open_to_doubt and 60 <= minutes < 480:
        early, late = figures(minutes), figures(minutes + HALF_DAY)
        when = "at night" if minutes < 300 else "in the morning"
        return Question(f"{early} {when}, or {late}?", (early, late))
    return Settled(minutes)


def _figures(text: str) -> tuple[int, bool] | None:
    """(minutes, whether only an hour was typed); None when it isn't figures."""
    found = _FIGURES.match(text) or _RUN_TOGETHER.match(text)
    if found is None or int(found["minute"] or 0) > 59:
        return None
    bare = found["minute"] is None and len(found["hour"]) == 1
    return int(found["hour"]) * 60 + int(found["minute"] or 0), bare


def _spoken(text: str) -> tuple[int, bool] | None:
    """(minutes, whether the half of the day is open); None when it isn't words."""
    hour = _hour(text)
    if hour is not None:
        return hour
    found = _SPOKEN.match(text)
    if found is None:
        return None
    base = _hour(found["hour"])
    amount = {"half": 30, "quarter": 15, "a quarter": 15}.get(found["amount"])
    if amount is None:
        word = found["amount"]
        amount = int(word) if word.isdecimal() else NUMBERS.get(word)
    if base is None or amount is None or not 0 < amount < 60:
        return None
    if found["amount"] == "half" and found["way"] == "to":
        return None
    minutes = base[0] + (amount if found["way"] == "past" else -amount)
    return minutes % DAY, base[1]


def _hour(text: str) -> tuple[int, bool] | None:
    if text in ("noon", "midday", "12 noon", "twelve noon"):
        return NOON, False
    if text in ("midnight", "12 midnight", "twelve midnight"):
        return MIDNIGHT, False
    if text.isascii() and text.isdecimal() and int(text) < 24:
        return int(text) * 60, len(text) == 1
    number = NUMBERS.get(text)
    return None if number is None or number > 23 else (number * 60, number < 13)


def _in_part(minutes: int, part: str, text: str) -> TypedTime:
    """The time in the part of the day that was named; a 24-hour time must agree with it."""
    clock = minutes % HALF_DAY
    match part:
        case "am" | "morning":
            meant = clock
        case "pm" | "afternoon":
            meant = clock + HALF_DAY
        case "evening":
            meant = clock + HALF_DAY
        case _:
            meant = clock + HALF_DAY if clock >= 360 else clock
    if minutes >= 780 and minutes != meant:
        return Unreadable(f'"{text.strip()[:30]}" says two different times. {_HOW}')
    return Settled(meant)
