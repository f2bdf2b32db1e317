"""Addresses of places on a machine's disk."""

from django import template
from django.template import Context
from django.urls import reverse

register = template.Library()


@register.simple_tag(takes_context=True)
def address_of(context: Context, path: str) -> str:
    """The page of a path on this page's machine; "" is its home."""
    slugs = [context["workspace"].slug, context["machine"].slug]
    return reverse("file", args=[*slugs, path]) if path else reverse("file_root", args=slugs)
