"""How sign-up behaves on this installation, and what sign-in says in the product's words."""

from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from accounts.invite import invitation_of
from accounts.models import Invitation, InvitationState, Membership, Role, User
from foundation import clock

_SIGN_UP_LOCK = 7_310_642_001  # any number of our own, the same in every process


def place_owner() -> User | None:
    """The person who owns this place: the owner of its oldest workspace. None while it's empty."""
    first = (
        Membership.objects.select_related("user")
        .filter(role=Role.OWNER, workspace__deleted_at__isnull=True)
        .order_by("joined_at", "id")
        .first()
    )
    return first.user if first else User.objects.order_by("date_joined", "id").first()


def sign_up_open() -> bool:
    """Whether anybody may make an account: always where the operator opened it, else only the
    first person, who then owns the place."""
    return bool(settings.OPEN_SIGNUP) or not User.objects.exists()


INVITED = "invitation"  # where the session keeps the secret of the link that was followed


def invited_here(request: HttpRequest) -> Invitation | None:
    """The invitation whose link this browser has followed, while it waits; else None."""
    secret = request.session.get(INVITED)
    found = invitation_of(secret) if isinstance(secret, str) else None
    if found is None or found.state(clock.now()) is not InvitationState.WAITING:
        return None
    return found


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """allauth's behaviour with the product's rules and words."""

    error_messages: ClassVar[dict[str, object]] = DefaultAccountAdapter.error_messages | {
        "account_inactive": "This account is closed. Ask whoever runs this place.",
        "email_password_mismatch": "That email and password don’t go together.",
        "enter_current_password": "That isn’t your present password. Type it again.",
        "incorrect_code": "That isn’t the code that we sent. Type it again.",
        "incorrect_password": "That isn’t your password. Type it again.",
        "invalid_or_expired_key": "This link has been used or is too old. Ask for a new one.",
        "invalid_password_reset": "This link has been used or is too old. Ask for a new one.",
        "too_many_login_attempts": "Too many wrong tries. Wait five minutes, then try again.",
        "rate_limited": "That was asked too often. Wait a few minutes, then try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return sign_up_open() or invited_here(request) is not None

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Store a new person. Where only the first may sign up, two at the same instant are told
        apart here: the second finds the place taken. Whoever was invited may always."""
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_SIGN_UP_LOCK])
            if not self.is_open_for_signup(request):
                raise ImmediateHttpResponse(HttpResponseRedirect(reverse("account_signup")))
            saved: User = super().save_user(request, user, form, commit)
            return saved
