"""Facts about this installation as a whole, for the pages before sign-in."""

from django import template

from accounts.adapter import place_owner, sign_up_open
from accounts.models import User

register = template.Library()


@register.simple_tag
def place_owner_name() -> str:
    """The name of whoever owns this place."""
    owner = place_owner()
    return str(owner) if owner else "whoever runs it"


@register.simple_tag
def first_person() -> bool:
    """Whether nobody lives here yet, so that whoever signs up owns the place."""
    return not User.objects.exists()


@register.simple_tag
def may_sign_up() -> bool:
    """Whether a stranger may make an account here."""
    return sign_up_open()
