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
