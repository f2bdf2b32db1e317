"""Who waits, and in which place."""

from routines_app.models import Fire, Run
from routines_app.rules.status import RunStatus


def waiting_fires(*, machine_id: int | None = None, limit: int = 100) -> list[int]:
    """Ids of fires that nobody holds, the longest due first; of one machine, or of all."""
    fires = Fire.objects.filter(closed_at__isnull=True, claim_token__isnull=True)
    if machine_id is not None:
        fires = fires.filter(run__machine_id=machine_id)
    return list(fires.order_by("due_at", "id").values_list("id", flat=True)[:limit])


def place_in_line(run: Run) -> int:
    """Its place among the runs that wait for its machine, 1 for the next; 0 when it doesn't wait.

    The run that has the machine isn't in the line.
    """
    if run.status != RunStatus.QUEUED or run.machine_id is None:
        return 0
    waiting = Fire.objects.filter(
        run__machine_id=run.machine_id, closed_at__isnull=True, claim_token__isnull=True
    ).exclude(pk=run.fire_id)
    due, fire_id = run.fire.due_at, run.fire_id
    ahead = waiting.filter(due_at__lt=due) | waiting.filter(due_at=due, pk__lt=fire_id)
    return ahead.count() + 1
