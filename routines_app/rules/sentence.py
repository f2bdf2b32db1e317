"""A typed sentence becomes a schedule: "every weekday at half past eight". No model, no clock.

What the product reads back is always understood, and so are the common ways to say the same.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

from routines_app.rules import zones
from routines_app.rules.cron import CronError, compile_cron
from routines_app.rules.kinds import EVERY_HOURS, EVERY_MINUTES, Schedule, ScheduleKind, schedule_of
from routines_app.rules.sentence_parts import (
    ORDERS,
    WEEKDAYS,
    Refusal,
    read_date,
    read_day_and_month,
    read_days,
    read_times,
    read_window,
    whole_number,
)
from routines_app.rules.times import Question, Settled, Unreadable, read_time

__all__ = ["Refusal", "parse_sentence"]

Found = tuple[ScheduleKind, dict[str, Any]]
Reader = Callable[[str, str], Found | Refusal | None]

_EXAMPLES = (
    "Write it like: every weekday at 8:00, every 15 minutes, or on the 1st of every month at 9."
)
_ASKED = re.compile(
    r"(only )?(when(ever)?|if|as) (i|we|you|someone|somebody|anyone|people)?\s*"
    r"(am |are |is )?ask(s|ed)?( me| for it| for this)?"
    r"|on (request|demand)|by hand|manually|never by itself|only by hand"
)
_EVERY_OTHER = re.compile(
    r"every (other|second|2|two|third|3|three|four|4) (week|month|day|year|weekday|"
    + "|".join(WEEKDAYS)
    + r")s?\b(?! of)|fortnight|biweekly|alternate"
)
_PART_OF_EVERY_DAY = re.compile(
    r"^(?:every )?(?P<part>morning|afternoon|evening|night)s?\b(?P<rest>.*)$"
)
_LAST_IS = re.compile(r"the last is at (?P<time>.+)")


def parse_sentence(text: str, zone: str = "UTC", today: date | None = None) -> Schedule | Refusal:
    """The schedule that a sentence means, in `zone` unless it names another.

    `today` is the date from which "once on 30 March" or "tomorrow" is counted. A sentence that
    isn't understood, or could mean two things, comes back as a Refusal that says what to do.
    """
    plain = " ".join(text.replace("’", "'").split()).rstrip(".").strip()
    if not plain:
        return Refusal(f"Type when it should run. {_EXAMPLES}")
    cron = _as_cron(plain, zone)
    if cron is not None:
        return cron
    main, semicolon, note = plain.partition(";")
    main, named = _take_zone(main)
    if isinstance(named, Refusal):
        return named
    return _read(f"{main}{semicolon}{note}".casefold(), named or zone, today)


def _take_zone(text: str) -> tuple[str, str | Refusal | None]:
    """The sentence without ", London time" at its end, and the zone's name; None without one."""
    words = text.split()
    for count in range(min(4, len(words) - 1), 0, -1):
        name = " ".join(words[-count:])
        found = zones.from_words(name)
        if found is not None and (count > 1 or "/" in name or name.isupper()):
            return re.sub(r"(,| in| on)$", "", " ".join(words[:-count])), found
    unknown = re.search(r"(?:,| in) (?P<place>[^,\d]{1,40} time)$", text)
    if unknown is not None:
        sentence = f'There is no zone called "{unknown["place"]}". Name a city, or UTC.'
        return text, Refusal(sentence)
    return text, None


def _read(plain: str, zone: str, today: date | None) -> Schedule | Refusal:
    plain = re.sub(
        r"^(please )?(run |do |wake )?(it |this )?(?=every|each|on|at|once|when)", "", plain
    )
    if _ASKED.fullmatch(plain):
        return schedule_of(ScheduleKind.WHEN_ASKED, {}, zone)
    if re.match(r"(once|tomorrow|today)\b", plain):
        return _once(plain, zone, today)
    main, _, note = plain.partition(";")
    main = re.sub(r"\beach\b", "every", main.strip())
    main = _time_last(main)
    if _EVERY_OTHER.search(main):
        return Refusal(
            "Every other one can't be kept yet. Choose every one, or dates such as the 1st of "
            "every month."
        )
    for read in (_minutes, _hours, _month, _year, _week):
        found = read(main, note.strip())
        if isinstance(found, Refusal):
            return found
        if found is not None:
            return schedule_of(*found, zone)
    return Refusal(f'"{plain[:60]}" isn\'t understood as a schedule. {_EXAMPLES}')


def _as_cron(text: str, zone: str) -> Schedule | Refusal | None:
    """A cron expression typed where a sentence was expected."""
    looks = text.startswith("@") or re.match(r"[0-9*/,-]+\s+[0-9*/,-]+\s+\S+\s+\S+\s+\S+", text)
    if not looks:
        return None
    try:
        compile_cron(text)
    except CronError as refused:
        return Refusal(refused.sentence)
    return schedule_of(ScheduleKind.CRON, {"expressions": [text]}, zone)


def _time_last(text: str) -> str:
    """ "at 9 every weekday" with its time at the end."""
    found = re.fullmatch(
        r"at (.+?),? ((?:every|on|weekdays|weekends|daily|monthly|yearly).*)", text
    )
    return text if found is None else f"{found[2]} at {found[1]}"


def _once(text: str, zone: str, today: date | None) -> Schedule | Refusal:
    text = re.sub(r"^once,? ?(on |at )?", "", text)
    found = re.fullmatch(r"(?P<date>.+?),? at (?P<time>.+)", text)
    if found is None:
        return Refusal("At what time? Write it like: once on 30 March 2027 at 9:00.")
    day = read_date(found["date"], today)
    if isinstance(day, Refusal):
        return day
    minutes = _one_time(found["time"])
    if isinstance(minutes, Refusal):
        return minutes
    place = zones.as_zone(zone)
    at = zones.first_instant(datetime.combine(day, time(*divmod(minutes, 60))), place)
    return schedule_of(ScheduleKind.ONCE, {"at": at.astimezone(place).isoformat()}, zone)


def _one_time(text: str) -> int | Refusal:
    match read_time(text):
        case Settled(minutes):
            return minutes
        case Question(sentence, choices):
            return Refusal(sentence, choices)
        case Unreadable(sentence):
            return Refusal(sentence)


def _minutes(text: str, note: str) -> Found | Refusal | None:
    text = re.sub(r"^every (half|quarter)( of)?( an)?[ -]hour", _part_of_hour, text)
    found = re.match(r"every (?:(?P<every>[\w-]+) )?(?P<unit>minute|second)s?\b(?P<rest>.*)", text)
    if found is None:
        return None
    every = whole_number(found["every"]) if found["every"] else 1
    if found["unit"] == "second" and not found["every"] and found["rest"]:
        return None  # "every second Monday of the month"
    if found["unit"] == "second" or every not in EVERY_MINUTES:
        if every == 60 and found["unit"] == "minute":
            return _hours(f"every hour{found['rest']}", note)
        return Refusal("Choose every 5, 10, 15, 20 or 30 minutes, or write it as cron.")
    last = _LAST_IS.fullmatch(note)
    end = ""
    if last is not None:
        at = _one_time(last["time"])
        if isinstance(at, Refusal):
            return at
        end = f"{at // 60 + 1}:00" if at < 1380 else "24"
    window = read_window(found["rest"], end)
    if isinstance(window, Refusal):
        return window
    return ScheduleKind.EVERY_MINUTES, {"every": every, "window": window}


def _part_of_hour(found: re.Match[str]) -> str:
    return f"every {30 if found[1] == 'half' else 15} minutes"


def _hours(text: str, note: str) -> Found | Refusal | None:
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
    said = re.fullmatch(r"(?P<word>from|at|starting at)? ?(?P<time>.*)", rest)
    minute: int | Refusal | None = 0
    if said is not None and said["time"] and said["time"] not in ("day and night", "every day"):
        minute = _minute_of_hour(said["time"]) if said["word"] == "at" else None
        if minute is None:
            minute = _one_time(said["time"])
    if isinstance(minute, Refusal):
        return minute
    if minute is None or minute > 59:
        return Refusal(
            "Every few hours is counted from midnight. Choose a minute, like: every four hours, "
            "from 0:15; or write it as cron."
        )
    return ScheduleKind.EVERY_HOURS, {"every": every, "minute": minute}


def _month(text: str, note: str) -> Found | Refusal | None:
    text = re.sub(r"^monthly\b", "every month", text)
    found = (
        re.match(
            r"(?:on )?(?:the )?(?P<day>.+?) (?:of|in) (?:every|the|a) month\b(?P<rest>.*)", text
        )
        or re.match(r"every month,? on (?:the )?(?P<day>.+?)(?P<rest>,? at .+|$)", text)
        or re.match(r"(?:on|every) (?:the )?(?P<day>\w+ \w+day|last day)(?P<rest>,? at .+|$)", text)
    )
    if found is None:
        if text.startswith("every month"):
            return Refusal("On which day? Write it like: on the 1st of every month at 9:00.")
        return None
    day = re.sub(r"^every ", "", found["day"].strip())
    kind = _day_of_month(day)
    if kind is None:
        return Refusal(
            f'Which day of the month is "{day[:30]}"? Write it like the 1st, or last day.'
        )
    times = read_times(re.sub(r"^,? ?(at )?", "", found["rest"].strip()))
    if isinstance(times, Refusal):
        return times
    return kind[0], {**kind[1], "times": times}


def _day_of_month(day: str) -> Found | None:
    if day == "last day":
        return ScheduleKind.MONTH_LAST_DAY, {}
    which, _, weekday = day.partition(" ")
    if which in ORDERS and weekday in WEEKDAYS:
        values = {"which": ORDERS[which], "weekday": WEEKDAYS[weekday]}
        return ScheduleKind.MONTH_WEEKDAY, values
    number = re.fullmatch(r"(?:day )?([0-9]{1,2})(?:st|nd|rd|th)?", day)
    if number and 1 <= int(number[1]) <= 31:
        return ScheduleKind.MONTH_DATE, {"day": int(number[1])}
    if day in ("first", "first day"):
        return ScheduleKind.MONTH_DATE, {"day": 1}
    return None


def _year(text: str, note: str) -> Found | Refusal | None:
    text = re.sub(r"^(yearly|annually|every year),? ?(on )?", "every ", text)
    text = re.sub(r"^on (.+?),? every year\b", r"every \1", text)
    found = re.match(r"every (?:the )?(?P<date>.+?)(?:,? at (?P<time>.+))?$", text)
    if found is None:
        return None
    read = read_day_and_month(found["date"])
    if read is None or isinstance(read, Refusal):
        return read
    day, month, year = read
    if year is not None:
        return Refusal("A date with a year comes once. Write: once on that date, at a time.")
    times = read_times(found["time"] or "")
    if isinstance(times, Refusal):
        return times
    if len(times) > 1:
        return Refusal("Choose one time for a yearly date.")
    return ScheduleKind.YEARLY, {"day": day, "month": month, "time": times[0]}


def _with_part(found: re.Match[str]) -> str:
    """ "every evening at 8" as "every day at 8 in the evening"."""
    part = "at night" if found["part"] == "night" else f"in the {found['part']}"
    said = bool(re.search(r"in the |at night|[ap]\.?m\b|:|noon|midnight", found["rest"]))
    return f"every day{found['rest']}" + ("" if said or not found["rest"] else f" {part}")


def _week(text: str, note: str) -> Found | Refusal | None:
    text = re.sub(r"^daily\b", "every day", text)
    text = re.sub(r"^weekly,? (on )?", "every ", text)
    text = re.sub(r"^every week,? on ", "every ", text)
    text = _PART_OF_EVERY_DAY.sub(_with_part, text)
    found = re.match(r"(?:(?:every|on) )?(?P<days>.+?)(?:,? at (?P<times>.+))?$", text)
    if found is None:
        return None
    days = read_days(found["days"])
    if days is None:
        return None
    times = read_times(found["times"] or "")
    if isinstance(times, Refusal):
        return times
    return ScheduleKind.CHOSEN_DAYS, {"days": days, "times": times}
