"""What a live run is at, and how long its machine usually takes to wake."""

from datetime import datetime, timedelta
from statistics import median

from routines_app.agents.turn import StepKind
from routines_app.models import Routine, Run
from routines_app.rules.status import RunStatus
from routines_app.web.dates import ahead, moment_words
from routines_app.web.doing import doing_words

LOOKED_AT = 20  # runs on the same machine
_TOLD = frozenset(
    (
        StepKind.RAN,
        StepKind.READ,
        StepKind.WROTE,
        StepKind.EDITED,
        StepKind.LISTED,
        StepKind.FETCHED,
        StepKind.WAITED,
    )
)
WOKEN = timedelta(seconds=1)  # below it the machine was awake already


def doing_of(run: Run, outline: list[tuple[int, str, str]]) -> str:
    """What it is at: the step that is open, else its latest one. `outline` is number, kind and
    title of each step."""
    words = doing_words(run)
    if words:
        return words
    for _, kind, said in reversed(outline):
        if kind == StepKind.SAID:
            return said
        if kind in _TOLD:
            return f"{kind} {said}"
    return ""


def usual_wake(run: Run) -> float:
    """How many seconds the machine of a run that wakes it usually takes: the median of its last
    wakings; 0.0 when it never had to be woken, or the run is further than that."""
    if run.status != RunStatus.WAKING or run.machine_id is None:
        return 0.0
    earlier = Run.objects.filter(
        workspace_id=run.workspace_id,
        machine_id=run.machine_id,
        finished_at__isnull=False,
        awake_at__isnull=False,
        waking_at__isnull=False,
    )
    pairs = earlier.order_by("-finished_at").values_list("waking_at", "awake_at")[:LOOKED_AT]
    lengths = [
        awake - waking for waking, awake in pairs if waking and awake and awake - waking >= WOKEN
    ]
    return median(length.total_seconds() for length in lengths) if lengths else 0.0


def when_it_ends(notify: str) -> str:
    """What one may count on after closing the page of a live run."""
    match notify:
        case "every":
            will = "The bell will have it."
        case "failure":
            will = "The bell rings if it fails, and its row says how it ended."
        case _:
            will = "The bell will have it if something changed or went wrong."
    return f"You can close this page. {will}"


def carries_on(routine: Routine, now: datetime, zone: str) -> str:
    """When the schedule comes next, for whoever stops a run; "" when it doesn't."""
    at = routine.next_fire_at
    if not routine.enabled or at is None:
        return ""
    when, far = moment_words(at, now, zone), ahead(at, now, zone)
    return when if far == "tomorrow" else f"{when}, {far}"
