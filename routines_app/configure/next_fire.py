"""When a routine fires next: computed anew from its schedule, never by adding."""

from datetime import datetime

from routines_app.models import Routine
from routines_app.rules.schedule import next_occurrence


def set_next_fire(routine: Routine, now: datetime) -> None:
    """Set `next_fire_at` (not saved): the first occurrence after now and all that was evaluated.

    None when it is off or nothing comes.
    """
    if not routine.enabled:
        routine.next_fire_at = None
        return
    after = max(now, routine.evaluated_until) if routine.evaluated_until else now
    routine.next_fire_at = next_occurrence(routine.schedule, after)


def advance_past(routine: Routine, due: datetime, now: datetime) -> None:
    """Move on, in the caller's transaction, past an occurrence that has just been asked for."""
    until = max(due, now)
    if routine.evaluated_until is None or routine.evaluated_until < until:
        routine.evaluated_until = until
    set_next_fire(routine, now)
    routine.save(update_fields=["evaluated_until", "next_fire_at"])
