"""How sign-up behaves on this installation, and what sign-in says in the product's words."""

from typing import ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest

from accounts.models import Membership, Role, User


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
        return sign_up_open()
