"""Tags that draw outcomes on the line."""

from collections.abc import Sequence

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from routines_app.rules.status import Shape
from routines_app.web import heartbeat as line

register = template.Library()


@register.simple_tag
def heartbeat(shapes: Sequence[Shape], expects: bool = False) -> SafeString:
    """The last runs as one image, oldest first."""
    return line.heartbeat(shapes, expects=expects)


@register.simple_tag
def lone_tick(shape: Shape | None) -> SafeString:
    """One run's mark, or the expected one for None."""
    return line.lone_tick(shape)


@register.filter
def glyph(shape: Shape) -> SafeString:
    """The small mark of an outcome."""
    return line.glyph(shape)


@register.filter
def hue(shape: Shape) -> str:
    """The class that colours an outcome."""
    return line.hue(shape)


@register.filter
def status_word(shape: Shape) -> str:
    """The outcome's word where no sentence stands."""
    return line.word(shape)


@register.simple_tag
def legend() -> list[Shape]:
    """The six endings, in the order in which a legend shows them."""
    return [Shape.DONE, Shape.QUIET, Shape.STUB, Shape.RING, Shape.BLOCK, Shape.POINT]


@register.simple_tag
def bar(percent: float, kind: str = "") -> SafeString:
    """A meter's bar; `percent` is cut to 0 to 100, `kind` is empty, past or stop."""
    return format_html(
        '<svg class="{}" aria-hidden="true"><rect width="100%" height="4" rx="2"/>'
        '<rect width="{}%" height="4" rx="2"/></svg>',
        f"bar {kind}".strip(),
        round(min(max(percent, 0), 100)),
    )
