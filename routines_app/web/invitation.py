"""An invitation's own page, which is the way in, and the email with its link."""

import hashlib
from enum import StrEnum
from smtplib import SMTPException

import structlog
from django.conf import settings
from django.contrib import messages
from django.core.cache import cache
from django.core.mail import send_mail
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from redis.exceptions import RedisError

from accounts.access import membership_of
from accounts.adapter import INVITED
from accounts.invite import Invited, NotJoined, invitation_of, is_for, join, masked
from accounts.models import InvitationState, Membership, User
from foundation import clock
from routines_app.web.access import to_sign_in

log = structlog.get_logger()

MOST_TO_ONE, MOST_BY_ONE, A_DAY = 5, 100, 86_400  # letters to an address, of a workspace; seconds


class Letter(StrEnum):
    """What became of an invitation's letter."""

    SENT = "sent"
    NOT_TAKEN = "not_taken"  # by the mail server
    ENOUGH = "enough"  # for a day
    NO_SERVER = "no_server"


@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Whoever has the link may read it; joining takes the invited person, signed in."""
    found = invitation_of(secret)
    if found is None:
        return render(request, "pages/invitation.html", {"invitation": None}, status=404)
    person = request.user if isinstance(request.user, User) else None
    if person is not None and membership_of(person, found.workspace.slug) is not None:
        return redirect("routines", found.workspace.slug)
    state = found.state(clock.now())
    if request.method == "POST" and state is InvitationState.WAITING:
        if person is None:
            return to_sign_in(request)
        joined = join(secret, person, clock.now())
        if isinstance(joined, Membership):
            request.session.pop(INVITED, None)
            messages.info(request, f"You are in {found.workspace} now.")
            return redirect("routines", found.workspace.slug)
        if isinstance(joined, NotJoined):
            state = joined.state
    if state is InvitationState.WAITING and person is None:
        request.session[INVITED] = secret
    waits = state is InvitationState.WAITING
    anothers = waits and person is not None and not is_for(found, person.email)
    context = {
        "invitation": found,
        "whose": masked(found.email),
        "anothers": anothers,
        "state": state.value,
        "person": person,
        "here": request.path,
    }
    return render(
        request,
        "pages/invitation.html",
        context,
        status=410 if not waits else 403 if anothers and request.method == "POST" else 200,
    )


def link_of(invited: Invited) -> str:
    """The whole address of an invitation's page."""
    return f"{settings.SITE_URL}{reverse('invitation', args=[invited.secret])}"


def send_invitation(invited: Invited) -> Letter:
    """Email the link. Nobody is flooded by it: an address gets a few letters a day, whoever asks,
    and a workspace sends a hundred."""
    found = invited.invitation
    if settings.EMAIL_TO_LOG:
        return Letter.NO_SERVER
    address = hashlib.sha256(found.email.encode()).hexdigest()
    if not _within(f"letters-of:{found.workspace_id}", MOST_BY_ONE) or not _within(
        f"letters-to:{address}", MOST_TO_ONE
    ):
        return Letter.ENOUGH
    context = {"invitation": found, "link": link_of(invited)}
    try:
        sent = send_mail(
            # split() knows every mark that ends a line; a name may hold any of them
            " ".join(f"{found.invited_by} asks you into {found.workspace}".split()),
            render_to_string("email/invitation.txt", context),
            None,
            [found.email],
        )
    except (SMTPException, OSError) as error:
        log.warning("invitation_not_sent", workspace=found.workspace_id, error=str(error))
        return Letter.NOT_TAKEN
    return Letter.SENT if sent else Letter.NOT_TAKEN


def _within(what: str, most: int) -> bool:
    """Count one more within a day; whether it's within the number. Without the cache it is."""
    try:
        cache.add(what, 0, A_DAY)
        return cache.incr(what) <= most
    except (RedisError, ValueError) as error:  # ValueError: its day ended in this very moment
        log.warning("letters_not_counted", error=str(error))
        return True
