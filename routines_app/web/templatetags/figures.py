"""Filters for figures in columns."""

from django import template

from routines_app.web.templatetags.words import money

register = template.Library()


@register.filter
def thousands(number: int) -> str:
    """A whole number with its thousands apart.

    >>> thousands(1274), thousands(7)
    ('1,274', '7')
    """
    return f"{number:,}"


@register.filter
def negative(micro: int) -> int:
    """The same amount, taken off."""
    return -micro


@register.filter
def signed(micro: int) -> str:
    """Money with its sign, as a ledger has it.

    >>> signed(-40_000), signed(70_000), signed(0)
    ('−$0.04', '+$0.07', '$0.00')
    """
    return f"+{money(micro)}" if micro > 0 else money(micro)
