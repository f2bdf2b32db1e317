"""A typed sentence becomes a schedule: "every weekday at half past eight". No model, no clock.

What the product reads back is always understood, and so are the common ways to say the same.
"""

import re
from datetime import date, datetime, time

from routines_app.rules import zones
from routines_app.rules.cron import CronError, compile_cron
from routines_app.rules.kinds import Schedule, ScheduleKind, schedule_of
from routines_app.rules.sentence_parts import (
    ORDERS,
    WEEKDAYS,
    Refusal,
    one_time,
    read_date,
    read_day_and_month,
    read_days,
    read_times,
    split_list,
)
from routines_app.rules.sentence_repeats import Found, read_hours, read_minutes
from routines_app.rules.times import Unreadable, read_time

__all__ = ["Refusal", "parse_sentence"]

LONGEST = 256

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
_DAYS_FIRST = re.compile(
    r"(?:(?:every|on) )?(?P<days>[^:0-9]+?),? (?P<often>every (?:[\w-]+ )?(?:minutes?|hours?)\b.*)"
)
_TIME_FIRST = re.compile(
    r"(?:at )?(?P<time>.+?),? (?P<days>(?:every|on|weekdays|weekends|daily|monthly|yearly)\b.*)"
)
_REMARKS = re.compile(
    r"(the last is at .+|five months have none, and are skipped|february has .+|leap years only)?"
)
_PART_OF_EVERY_DAY = re.compile(
    r"^(?:every )?(?P<part>morning|afternoon|evening|night)s?\b(?P<rest>.*)$"
)


def parse_sentence(text: str, zone: str = "UTC", today: date | None = None) -> Schedule | Refusal:
    """The schedule that a sentence means, in `zone` unless it names another.

    `today` is the date from which "once on 30 March" or "tomorrow" is counted. A sentence that
    isn't understood, or could mean two things, comes back as a Refusal that says what to do.
    """
    plain = " ".join(text.replace("’", "'").split()).rstrip(".").strip()
    if len(plain) > LONGEST:
        return Refusal(f"Keep the sentence to {LONGEST} characters; this has {len(plain)}.")
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
        if found is not None and (count > 1 or "/" in name or found in ("UTC", "GMT")):
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
    if not _REMARKS.fullmatch(note.strip()):
        return Refusal(
            "Only one sentence is kept. Choose several times in one, or write it as cron."
        )
    main = re.sub(r"\beach\b", "every", main.strip())
    main = _time_last(main)
    if _EVERY_OTHER.search(main):
        return Refusal(
            "Every other one can't be kept yet. Choose every one, or dates such as the 1st of "
            "every month."
        )
    for read in (read_minutes, read_hours, _month, _year, _week):
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
    """ "at 9 every weekday" with its time at the end, "every weekday every hour" with its days."""
    repeats = _DAYS_FIRST.fullmatch(text)
    if repeats is not None and read_days(repeats["days"]) is not None:
        return f"{repeats['often']} on {repeats['days']}"
    found = _TIME_FIRST.fullmatch(text)
    first = split_list(found["time"])[:1] if found is not None else []
    if found is None or not first or isinstance(read_time(first[0]), Unreadable):
        return text
    return f"{found['days']} at {found['time']}"


def _once(text: str, zone: str, today: date | None) -> Schedule | Refusal:
    text = re.sub(r"^once,? ?(on |at )?", "", text)
    found = re.fullmatch(r"(?P<date>.+?),? at (?P<time>.+)", text)
    if found is None:
        return Refusal("At what time? Write it like: once on 30 March 2027 at 9:00.")
    day = read_date(found["date"], today)
    if isinstance(day, Refusal):
        return day
    minutes = one_time(found["time"])
    if isinstance(minutes, Refusal):
        return minutes
    place = zones.as_zone(zone)
    at = zones.first_instant(datetime.combine(day, time(*divmod(minutes, 60))), place)
    return schedule_of(ScheduleKind.ONCE, {"at": at.astimezone(place).isoformat()}, zone)


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
