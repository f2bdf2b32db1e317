"""What came before a run, read once for all that its page says of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from statistics import median_low

from routines_app.models import Run
from routines_app.rules.status import RunStatus
from routines_app.web.dates import count_words

LOOKED_AT = 500  # runs; a page says nothing of what lies further back
FIVE = 5
_COMPLETED = frozenset(status.value for status in RunStatus if status.completed)
_COUNTED = frozenset(status.value for status in RunStatus if status.may_count)
_FIELDS = (
    "number", "status", "cause", "facts__turned_off", "version", "queued_at", "waking_at",
    "turn_at", "finished_at",
)  # fmt: skip


@dataclass(frozen=True)
class PastRun:
    """An earlier run of the routine, as far as what comes after it asks."""

    number: int
    status: str
    cause: str
    turned_off: bool | None
    version: int | None
    queued_at: datetime
    waking_at: datetime | None
    turn_at: datetime | None
    finished_at: datetime | None

    @property
    def completed(self) -> bool:
        return self.status in _COMPLETED

    @property
    def counted(self) -> bool:
        return self.status in _COUNTED and self.cause != "ours"


def past_of(run: Run) -> list[PastRun]:
    """The runs before it, the newest first, at most 500."""
    earlier = Run.objects.filter(routine_id=run.routine_id, number__lt=run.number)
    return [PastRun(*row) for row in earlier.order_by("-number").values_list(*_FIELDS)[:LOOKED_AT]]


def streak_at(run: Run, past: Sequence[PastRun]) -> int:
    """The failures in a row up to and with this run; 0 when it doesn't count.

    A run that was done begins anew, and so does the one that turned the routine off.
    """
    if run.status not in _COUNTED or run.cause == "ours":
        return 0
    if run.routine.streak and run.number == run.routine.run_counter:
        return run.routine.streak  # turning the routine on begins anew too, and no row says so
    since = takewhile(lambda each: not each.completed and not each.turned_off, past)
    return min(1 + sum(each.counted for each in since), FIVE)


def streak_words(streak: int) -> str:
    """How near the routine was to turning itself off; "" when it wasn't near, or did."""
    if not 0 < streak < FIVE:
        return ""
    said = "One failure" if streak == 1 else f"{count_words(streak).capitalize()} failures"
    return f"{said} in a row. Five would turn it off."


def quiet_before(past: Sequence[PastRun]) -> list[PastRun]:
    """The checks that found nothing, in a row, right before; the newest first."""
    return list(takewhile(lambda each: each.status == RunStatus.NOTHING_TO_DO, past))


def usual_quiet(past: Sequence[PastRun]) -> float | None:
    """How many seconds a check that finds nothing usually takes: the median of the last twenty;
    None with fewer than three."""
    lengths = [
        (each.finished_at - each.waking_at).total_seconds()
        for each in past
        if each.status == RunStatus.NOTHING_TO_DO and each.waking_at and each.finished_at
    ][:20]
    return median_low(lengths) if len(lengths) > 2 else None
