"""How sign-up behaves on this installation."""

from allauth.account.adapter import DefaultAccountAdapter


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """allauth's behaviour with the product's rules."""
