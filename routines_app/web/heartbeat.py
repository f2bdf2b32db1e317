"""The line: how outcomes are drawn and said, for lists, pages and screen readers.

Above the line it went well, on it it didn't run, below it something went wrong.
Measures are SVG units of the design guide: pitch 7.6, base at 22 of 38.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import assert_never

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from routines_app.rules.status import Shape

TICKS = 28
PITCH = 7.6
ORDER = (
    Shape.DONE,
    Shape.QUIET,
    Shape.STUB,
    Shape.RING,
    Shape.BLOCK,
    Shape.POINT,
    Shape.LIVE,
    Shape.WAITING,
)


def hue(shape: Shape) -> str:
    """The class that colours a word, glyph or chip of this shape."""
    match shape:
        case Shape.DONE:
            return "done"
        case Shape.QUIET | Shape.STUB:
            return "quiet"
        case Shape.RING:
            return "skip"
        case Shape.BLOCK:
            return "stop"
        case Shape.POINT:
            return "fail"
        case Shape.LIVE | Shape.WAITING:
            return "live"
        case _:
            assert_never(shape)


def word(shape: Shape) -> str:
    """The status word of a shape, as it stands alone."""
    match shape:
        case Shape.DONE:
            return "Done"
        case Shape.QUIET:
            return "Nothing to report"
        case Shape.STUB:
            return "Nothing to do"
        case Shape.RING:
            return "Didn’t run"
        case Shape.BLOCK:
            return "Stopped early"
        case Shape.POINT:
            return "Failed"
        case Shape.LIVE:
            return "Running"
        case Shape.WAITING:
            return "Waiting"
        case _:
            assert_never(shape)


def describe(shapes: Sequence[Shape]) -> str:
    """A heartbeat in words, oldest first: counts without zeros, the latest last.

    >>> describe([Shape.DONE, Shape.POINT])
    'Last 2 runs: 1 done, 1 failed. Latest: failed.'
    """
    if not shapes:
        return "No runs yet."
    counts = Counter(shapes)
    parts = ", ".join(f"{counts[s]} {word(s).lower()}" for s in ORDER if counts[s])
    number = "Last run" if len(shapes) == 1 else f"Last {len(shapes)} runs"
    return f"{number}: {parts}. Latest: {word(shapes[-1]).lower()}."


def tick(shape: Shape, left: float) -> SafeString:
    """One mark, four units wide, whose left edge is at `left`."""
    return mark_safe(_tick(shape, left))  # numbers only


def _tick(shape: Shape, left: float) -> str:
    at = _short(left)
    match shape:
        case Shape.DONE:
            return f'<rect class="done" x="{at}" y="2" width="4" height="19" rx="2"/>'
        case Shape.QUIET:
            return f'<rect class="quiet" x="{at}" y="12" width="4" height="9" rx="2"/>'
        case Shape.STUB:
            return f'<rect class="stub" x="{at}" y="17.5" width="4" height="3.5" rx="1"/>'
        case Shape.RING:
            return f'<circle class="skip" cx="{_short(left + 2)}" cy="22" r="2.75"/>'
        case Shape.BLOCK:
            return f'<rect class="stop" x="{at}" y="23" width="4" height="7"/>'
        case Shape.POINT:
            return f'<path class="fail" d="M{_short(left - 0.5)} 23h5l-2.5 12z"/>'
        case Shape.LIVE:
            edge = _short(left - 0.25)
            return f'<rect class="live" x="{edge}" y="2.75" width="4.5" height="18" rx="2.2"/>'
        case Shape.WAITING:
            return f'<path class="next wait" d="M{_short(left + 2)} 20v-16"/>'
        case _:
            assert_never(shape)


def expected(left: float) -> SafeString:
    """The grey dotted mark of a run that is still to come."""
    return mark_safe(f'<path class="next" d="M{_short(left + 2)} 20v-15"/>')


def heartbeat(shapes: Sequence[Shape], *, expects: bool) -> SafeString:
    """The last runs as one image, oldest first; `expects` adds the dotted next one."""
    return _drawn(tuple(shapes)[-TICKS:], expects)


@lru_cache(maxsize=4096)
def _drawn(shown: tuple[Shape, ...], expects: bool) -> SafeString:
    width = PITCH * max(len(shown) + expects, 1)
    marks = [_tick(shape, 1.8 + PITCH * place) for place, shape in enumerate(shown)]
    if expects:
        marks.append(expected(1.8 + PITCH * len(shown)))
    return format_html(
        '<svg class="hb" role="img" aria-label="{}" width="{}" height="38" viewBox="0 0 {} 38">'
        '<path class="base" d="M0 22H{}"/>{}</svg>',
        describe(shown),
        round(width),
        _short(width),
        _short(width),
        mark_safe("".join(marks)),
    )


def lone_tick(shape: Shape | None) -> SafeString:
    """One mark as a drawing of its own, hidden from screen readers; None is the expected one."""
    mark = expected(4) if shape is None else tick(shape, 4)
    return format_html(
        '<svg class="hb" aria-hidden="true" viewBox="0 0 12 38" width="12" height="38">{}</svg>',
        mark,
    )


def glyph(shape: Shape) -> SafeString:
    """The small mark beside a word or a sentence, in the colour of its surroundings."""
    return format_html(
        '<svg class="gl" aria-hidden="true" viewBox="0 0 14 18">'
        '<path d="M0 11h14" stroke="currentColor" stroke-opacity=".38"/>{}</svg>',
        mark_safe(_glyph_mark(shape)),
    )


def _glyph_mark(shape: Shape) -> str:
    match shape:
        case Shape.DONE:
            return '<rect x="5" y="0" width="4" height="10" rx="1.6" fill="currentColor"/>'
        case Shape.QUIET:
            return '<rect x="5" y="5" width="4" height="5" rx="1.4" fill="currentColor"/>'
        case Shape.STUB:
            return '<rect x="5" y="7.6" width="4" height="2.4" rx=".8" fill="currentColor"/>'
        case Shape.RING:
            return (
                '<circle cx="7" cy="11" r="2.9" fill="var(--bg,var(--paper))" '
                'stroke="currentColor" stroke-width="1.5"/>'
            )
        case Shape.BLOCK:
            return '<rect x="5" y="12" width="4" height="4.4" fill="currentColor"/>'
        case Shape.POINT:
            return '<path d="M4 12h6l-3 6z" fill="currentColor"/>'
        case Shape.LIVE:
            return (
                '<rect x="4.75" y=".75" width="4.5" height="9" rx="2" fill="none" '
                'stroke="currentColor" stroke-width="1.5"/>'
            )
        case Shape.WAITING:
            return (
                '<path d="M7 10V0" stroke="currentColor" stroke-width="1.5" '
                'stroke-dasharray="1.5 2.5" stroke-linecap="round"/>'
            )
        case _:
            assert_never(shape)


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
