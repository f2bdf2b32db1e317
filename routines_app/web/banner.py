"""The one line above a page that says what holds everything up. At most one is shown."""

from dataclasses import dataclass
from typing import cast

from django.http import HttpRequest
from django.urls import reverse

from accounts.models import Membership, Role, User, Workspace
from foundation import clock
from routines_app.web.dates import clock_time, day_of, moment_words


@dataclass(frozen=True)
class Banner:
    """`lead` in bold, then `rest`; `act` is a button that posts to `href`, "" shows none."""

    lead: str
    rest: str
    act: str = ""
    href: str = ""


def banner_of(request: HttpRequest, workspace: Workspace) -> Banner | None:
    """What the reader has to know on any page of this workspace; the weightiest alone."""
    return _paused(workspace, cast(User, request.user))


def _paused(workspace: Workspace, person: User) -> Banner | None:
    since = workspace.paused_at
    if since is None:
        return None
    now, zone = clock.now(), person.zone
    today = day_of(since, zone) == day_of(now, zone)
    when = clock_time(since, zone) if today else moment_words(since, now, zone)
    by = f", by {workspace.paused_by}" if workspace.paused_by else ""
    lead = f"Everything is paused{by} since {when}."
    rest = "Nothing starts, not even by Run it now; each run that falls due says so."
    membership = Membership.objects.filter(workspace=workspace, user=person).first()
    if membership is None or not membership.may(Role.MEMBER):
        return Banner(lead, rest)
    return Banner(lead, rest, "Turn it back on", reverse("resume", args=[workspace.slug]))
