"""How many failures in a row a run was the last of: five turn a routine off."""

from routines_app.models import Run
from routines_app.rules.status import RunStatus
from routines_app.web.dates import count_words

FIVE = 5
LOOKED_AT = 500  # runs before and after it; quiet checks stand between failures
_COMPLETED = frozenset(status.value for status in RunStatus if status.completed)
_COUNTED = frozenset(status.value for status in RunStatus if status.may_count)


def streak_at(run: Run) -> int:
    """The failures in a row up to and with this run; 0 when it doesn't count.

    A run that was done begins anew, and so does the one that turned the routine off.
    """
    if run.status not in _COUNTED or run.cause == "ours":
        return 0
    if run.routine.streak and _is_last_that_counted(run):
        return run.routine.streak
    earlier = Run.objects.filter(routine_id=run.routine_id, number__lt=run.number)
    streak = 1
    rows = earlier.order_by("-number").values_list("status", "cause", "facts__turned_off")
    for status, cause, turned_off in rows[:LOOKED_AT]:
        if status in _COMPLETED or turned_off:
            break
        streak += status in _COUNTED and cause != "ours"
    return min(streak, FIVE)


def _is_last_that_counted(run: Run) -> bool:
    later = Run.objects.filter(routine_id=run.routine_id, number__gt=run.number)
    statuses = later.order_by("number").values_list("status", flat=True)[:LOOKED_AT]
    return not any(status in _COUNTED or status in _COMPLETED for status in statuses)


def streak_words(streak: int) -> str:
    """How near the routine was to turning itself off; "" when it wasn't near, or did."""
    if not 0 < streak < FIVE:
        return ""
    said = "One failure" if streak == 1 else f"{count_words(streak).capitalize()} failures"
    return f"{said} in a row. Five would turn it off."
