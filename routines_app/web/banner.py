"""The one line above a page that says what holds everything up. At most one is shown: that the
workspace is paused, else that the scheduler is late, or was until an hour ago."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.urls import reverse

from accounts.models import Membership, Role, User, Workspace
from foundation import clock
from routines_app.fires.beats import ALLOWED, Scanner, scanner
from routines_app.web.dates import clock_time, count_words, day_of, moment_words

TOLD_FOR = timedelta(hours=1)
NOTHING_LOST = "Nothing is lost: what was due starts as soon as it can, and says when it was due."


@dataclass(frozen=True)
class Banner:
    """`lead` in bold, then `rest`; `act` is a button that posts to `href`, "" shows none."""

    lead: str
    rest: str
    act: str = ""
    href: str = ""


def banner_of(workspace: Workspace, person: User) -> Banner | None:
    """What the reader has to know on any page of this workspace; the weightiest alone."""
    if workspace.paused_at is not None:
        return _paused(workspace, workspace.paused_at, person)
    seen = scanner(workspace.pk)
    return None if seen is None else banner(seen, person.zone, embedded=settings.EMBEDDED)


def banner(seen: Scanner, zone: str, *, embedded: bool) -> Banner | None:
    """What is to be said of a scanner that was seen so."""
    late = seen.now - seen.at
    if late > ALLOWED["scan"]:
        return Banner(f"The scheduler is {_length(late)} behind.", NOTHING_LOST)
    if seen.gap_from is None or seen.gap_to is None or seen.now - seen.gap_to > TOLD_FOR:
        return None
    span = _span(seen.gap_from, seen.gap_to, zone)
    lead = f"The scheduler was down {span}."
    if embedded:
        lead = f"This computer was off or asleep {span}."
    return Banner(lead, _missed(seen.missed))


def _paused(workspace: Workspace, since: datetime, person: User) -> Banner:
    now, zone = clock.now(), person.zone
    today = day_of(since, zone) == day_of(now, zone)
    when = clock_time(since, zone) if today else moment_words(since, now, zone)
    by = f", by {workspace.paused_by}" if workspace.paused_by else ""
    lead = f"Everything is paused{by} since {when}."
    rest = "Nothing starts, not even by Run it now; each run that falls due says so."
    membership = Membership.objects.filter(workspace=workspace, user=person).first()
    if membership is None or not membership.may(Role.ADMIN):
        return Banner(lead, rest)
    return Banner(lead, rest, "Turn it back on", reverse("resume", args=[workspace.slug]))


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
