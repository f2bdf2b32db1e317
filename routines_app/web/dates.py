"""Instants in a reader's words: clock times, days, and how long ago or ahead.

Figures are the 24-hour clock without a leading zero (8:00, 13:30). Zones are IANA names.
"""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip


def count_words(count: int) -> str:
    """A count as prose writes it: words up to twelve, then figures. Zero is "no"."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def clock_time(moment: datetime, zone: str) -> str:
    """The time of day."""
    local = moment.astimezone(ZoneInfo(zone))
    return f"{local.hour}:{local.minute:02d}"


def day_of(moment: datetime, zone: str) -> date:
    """The calendar day of an instant."""
    return moment.astimezone(ZoneInfo(zone)).date()


def day_heading(day: date, today: date) -> str:
    """A day as a heading: Today, Yesterday, Wednesday 24 March; with the year when it differs."""
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    return _written(day, today, "%A")


def short_day(day: date, today: date) -> str:
    """A day beside a figure: Fri 26 March."""
    return _written(day, today, "%a")


def axis_day(day: date, today: date) -> str:
    """A day under a tick: 15 Feb."""
    return "Today" if day == today else f"{day.day} {day:%b}"


def date_words(day: date, today: date) -> str:
    """A day inside a sentence: yesterday, 9 February; with the year when it differs."""
    if day == today - timedelta(days=1):
        return "yesterday"
    return _written(day, today, "")


def moment_words(moment: datetime, now: datetime, zone: str) -> str:
    """A day and a time inside a sentence: today at 8:00, Monday 22 March at 11:00."""
    day, today = day_of(moment, zone), day_of(now, zone)
    at = clock_time(moment, zone)
    match (day - today).days:
        case 0:
            return f"today at {at}"
        case 1:
            return f"tomorrow at {at}"
        case -1:
            return f"yesterday at {at}"
        case _:
            return f"{_written(day, today, '%A')} at {at}"


def ahead(moment: datetime, now: datetime, zone: str) -> str:
    """How far off: in 4 minutes, in 3 hours, tomorrow, in 5 days."""
    seconds = (moment - now).total_seconds()
    days = (day_of(moment, zone) - day_of(now, zone)).days
    if seconds < 60:
        return "in a moment"
    if seconds < 3600:
        return f"in {_plural(int(seconds // 60), 'minute')}"
    if days == 0:
        return f"in {_plural(int(seconds // 3600), 'hour')}"
    return "tomorrow" if days == 1 else f"in {days} days"


def ago(moment: datetime, now: datetime) -> str:
    """How long since, for less than a day: 4 seconds ago, 41 min ago, 3 hours ago."""
    seconds = max(int((now - moment).total_seconds()), 0)
    if seconds < 60:
        return f"{_plural(seconds, 'second')} ago"
    if seconds < 3600:
        return f"{seconds // 60} min ago"
    return f"{_plural(seconds // 3600, 'hour')} ago"


def recently(moment: datetime, now: datetime, zone: str) -> str:
    """When something ended, in a list: 41 min ago within the hour, today 9:15, else the day."""
    if now - moment < timedelta(hours=1):
        return ago(moment, now)
    day, today = day_of(moment, zone), day_of(now, zone)
    if day == today:
        return f"today {clock_time(moment, zone)}"
    if day == today - timedelta(days=1):
        return f"yesterday {clock_time(moment, zone)}"
    return f"{_written(day, today, '%A')}"


def _written(day: date, today: date, weekday: str) -> str:
    year = "" if day.year == today.year else f" {day.year}"
    name = f"{day:{weekday}} " if weekday else ""
    return f"{name}{day.day} {day:%B}{year}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def typed_instant(text: str) -> datetime | None:
    """The instant of an address, as one that goes on from a page holds it; None for any other
    text, and for what is so far off that another zone or the database can't tell it."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None and 1970 <= found.year <= 9000 else None
