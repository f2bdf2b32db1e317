"""Who may ask for a run. A new source is one more entry here and nothing elsewhere."""

from collections.abc import Callable

from routines_app.models import Fire

SOURCES: dict[str, Callable[[Fire], str]] = {
    "timer": lambda fire: "by the schedule",
    "manual": lambda fire: f"by {fire.requested_by}" if fire.requested_by else "by somebody",
}


def asked_by(fire: Fire) -> str:
    """Who asked, as the end of a sentence: "by the schedule"."""
    words = SOURCES.get(fire.source)
    return words(fire) if words else f"by {fire.source}"
