"""Sentences that repeat: "every 15 minutes from 8 to 18 on weekdays", "every four hours"."""

import re
from typing import Any

from routines_app.rules.kinds import EVERY_HOURS, EVERY_MINUTES, ScheduleKind
from routines_app.rules.sentence_parts import Refusal, one_time, read_window, whole_number

Found = tuple[ScheduleKind, dict[str, Any]]

_LAST_IS = re.compile(r"the last is at (?P<time>.+)")


def read_minutes(text: str, note: str) -> Found | Refusal | None:
    text = re.sub(r"^every (half|quarter)( of)?( an)?[ -]hour", _part_of_hour, text)
    found = re.match(r"every (?:(?P<every>[\w-]+) )?(?P<unit>minute|second)s?\b(?P<rest>.*)", text)
    if found is None:
        return None
    every = whole_number(found["every"]) if found["every"] else 1
    if found["unit"] == "second" and not found["every"] and found["rest"]:
        return None  # "every second Monday of the month"
    if found["unit"] == "second" or every not in EVERY_MINUTES:
        if every == 60 and found["unit"] == "minute":
            return read_hours(f"every hour{found['rest']}", note)
        return Refusal("Choose every 5, 10, 15, 20 or 30 minutes, or write it as cron.")
    last = _LAST_IS.fullmatch(note)
    end = ""
    if last is not None:
        at = one_time(last["time"])
        if isinstance(at, Refusal):
            return at
        end = f"{at // 60 + 1}:00" if at < 1380 else "24"
    window = read_window(found["rest"], end)
    if isinstance(window, Refusal):
        return window
    return ScheduleKind.EVERY_MINUTES, {"every": every, "window": window}


def _part_of_hour(found: re.Match[str]) -> str:
    return f"every {30 if found[1] == 'half' else 15} minutes"


def read_hours(text: str, note: str) -> Found | Refusal | None:
    text = re.sub(r"^hourly\b", "every hour", text)
    found = re.match(r"every (?:(?P<every>[\w-]+) )?hours?\b(?P<rest>.*)", text)
    if found is None:
        return None
    every = whole_number(found["every"]) if found["every"] else 1
    rest = found["rest"].removeprefix(",").strip()
    if every != 1:
        return _every_hours(every, rest)
    rest = rest.removeprefix("on the hour").strip()
    at = re.match(r"at (?P<at>.+?)(?=$|,| from | between | on | every )", rest)
    minute: int | Refusal | None = 0
    if at is not None:
        minute = _minute_of_hour(at["at"])
        rest = rest[at.end() :]
    if minute is None:
        return Refusal("At which minute of the hour? Write it like: every hour at :15.")
    window = read_window(rest, "")
    if isinstance(window, Refusal):
        return window
    return ScheduleKind.HOURLY, {"minute": minute, "window": window}


def _minute_of_hour(text: str) -> int | None:
    """The minute of ":15", "15 past", "quarter past", "half past"; None for anything else."""
    text = text.strip().removesuffix(" the hour").strip()
    named = {"quarter past": 15, "half past": 30, "quarter to": 45, "a quarter past": 15}
    if text in named:
        return named[text]
    found = re.fullmatch(r":?(?P<minute>[0-9]{1,2})(?: past| minutes past)?", text)
    minute = int(found["minute"]) if found else whole_number(text.removesuffix(" past"))
    return minute if minute is not None and 0 <= minute <= 59 else None


def _every_hours(every: int | None, rest: str) -> Found | Refusal:
    if every not in EVERY_HOURS:
        return Refusal("Choose every 2, 3, 4, 6, 8 or 12 hours, or write it as cron.")
    if re.match(r"on |every (?!day$)|between |.* to ", rest) and "quarter to" not in rest:
        return Refusal(
            "Every few hours runs all day, every day. For chosen days or hours, choose every "
            f"hour, or write it as cron: 0 */{every} * * 1-5."
        )
    said = re.fullmatch(r"(?P<word>from|at|starting at)? ?(?P<time>.*)", rest)
    minute: int | Refusal | None = 0
    if said is not None and said["time"] and said["time"] not in ("day and night", "every day"):
        minute = _minute_of_hour(said["time"]) if said["word"] == "at" else None
        if minute is None:
            minute = one_time(said["time"])
    if isinstance(minute, Refusal):
        return minute
    if minute is None or minute > 59:
        return Refusal(
            "Every few hours is counted from midnight. Choose a minute, like: every four hours, "
            "from 0:15; or write it as cron."
        )
    return ScheduleKind.EVERY_HOURS, {"every": every, "minute": minute}
