"""What the top of every page says while the scheduler is late, and for an hour afterwards."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from routines_app.fires.beats import ALLOWED, Scanner, scanner
from routines_app.web.dates import clock_time, count_words, day_of, moment_words

TOLD_FOR = timedelta(hours=1)
_NOTHING_LOST = "Nothing is lost: what was due starts as soon as it can, and says when it was due."


@dataclass(frozen=True)
class Banner:
    """One line: what is the matter, and what it means."""

    lead: str
    rest: str


def banner_of(workspace_id: int, zone: str) -> Banner | None:
    """The banner of this workspace's pages now; None when there is nothing to say."""
    seen = scanner(workspace_id)
    return None if seen is None else banner(seen, zone, embedded=settings.EMBEDDED)


def banner(seen: Scanner, zone: str, *, embedded: bool) -> Banner | None:
    """What is to be said of a scanner that was seen so."""
    late = seen.now - seen.at
    if late > ALLOWED["scan"]:
        return Banner(f"The scheduler is {_length(late)} behind.", _NOTHING_LOST)
    if seen.gap_from is None or seen.gap_to is None or seen.now - seen.gap_to > TOLD_FOR:
        return None
    span = _span(seen.gap_from, seen.gap_to, zone)
    lead = f"The scheduler was down {span}."
    if embedded:
        lead = f"This computer was off or asleep {span}."
    return Banner(lead, _missed(seen.missed))


def _span(start: datetime, end: datetime, zone: str) -> str:
    if day_of(start, zone) == day_of(end, zone):
        return f"from {clock_time(start, zone)} to {clock_time(end, zone)}"
    return f"from {moment_words(start, end, zone)} to {clock_time(end, zone)}"


def _missed(count: int) -> str:
    match count:
        case 0:
            return "No run was missed."
        case 1:
            return "One run was missed; its row says so."
        case _:
            return f"{count_words(count).capitalize()} runs were missed; each says so."


def _length(late: timedelta) -> str:
    minutes = int(late.total_seconds() // 60)
    for unit, size in (("day", 1440), ("hour", 60), ("minute", 1)):
        if minutes >= size:
            count = minutes // size
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return "a minute"
