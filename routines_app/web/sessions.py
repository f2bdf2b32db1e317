"""Where somebody is signed in, and signing out there."""

from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.internal.flows.sessions import end_other_sessions, end_sessions
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from routines_app.web.access import PersonRequest, signed_in

# The first that a browser's own line names; several name others' for old pages' sake.
_BROWSERS = (
    ("Edg/", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"), ("Chrome/", "Chrome"),
    ("Safari/", "Safari"), ("curl/", "curl"),
)  # fmt: skip
_SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
    ("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


@dataclass(frozen=True)
class SignedIn:
    """One sign-in that still holds. `key` names it in a form."""

    key: int
    where: str
    address: str
    since: datetime
    here: bool


def browser_words(user_agent: str) -> str:
    """A browser's line in words.

    >>> browser_words("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    >>> browser_words("x")
    'A browser'
    """
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "A browser")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser


def sessions_of(request: PersonRequest) -> list[SignedIn]:
    """The person's sign-ins that still hold, this one first, then the newest."""
    rows = UserSession.objects.purge_and_list(request.user)
    found = [
        SignedIn(
            row.pk,
            browser_words(row.user_agent),
            row.ip,
            row.created_at,
            row.session_key == request.session.session_key,
        )
        for row in rows
    ]
    return sorted(found, key=lambda each: (not each.here, -each.since.timestamp()))


@require_POST
@signed_in
def sign_out_there(request: PersonRequest) -> HttpResponse:
    """Sign out at one other place, or without one at all others."""
    named = request.POST.get("session", "")
    if not named:
        end_other_sessions(request, request.user)
        messages.info(request, "You are signed out everywhere else.")
    elif named.isascii() and named.isdigit() and len(named) < 19:
        ours = UserSession.objects.filter(user=request.user, pk=int(named)).exclude(
            session_key=request.session.session_key
        )
        end_sessions(request, list(ours))
        messages.info(request, "You are signed out there.")
    return redirect("me")
