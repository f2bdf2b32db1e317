"""Taking back what waits: the fires of a schedule that was changed, or of a deleted routine."""

from django.db import transaction
from django.db.models import F

from billing.holds import free_hold
from foundation import database_clock
from routines_app.delivery.tell import tell
from routines_app.models import Fire, Routine, RoutineTotals, Run
from routines_app.rules.status import RunStatus


def withdraw_fires(
    routine: Routine, status: RunStatus, facts: dict[str, object], *, before: int | None = None
) -> int:
    """End every fire of the routine that nobody holds as a refusal; how many.

    Call it in the transaction that changed the routine, whose row that holds. `before`: only those
    that the schedule asked for at an earlier `schedule_version`.
    """
    assert status.refused, f"{status} says that it ran"
    # A locked fire is being claimed or ended at this moment, by somebody who then wants the
    # routine's row: it is left to admission, so that the two never wait for each other.
    waiting = Fire.objects.select_for_update(skip_locked=True).filter(
        routine=routine, claim_token__isnull=True, closed_at__isnull=True
    )
    if before is not None:
        waiting = waiting.filter(schedule_version__lt=before)
    with transaction.atomic():
        found = list(waiting.order_by("due_at", "pk"))
        for fire in found:
            _withdraw(fire, routine, status, facts)
        if found:
            RoutineTotals.objects.get_or_create(routine=routine)
            RoutineTotals.objects.filter(routine=routine).update(
                refusals=F("refusals") + len(found)
            )
    return len(found)


def _withdraw(fire: Fire, routine: Routine, status: RunStatus, facts: dict[str, object]) -> None:
    now = database_clock.now()
    run = Run.objects.select_for_update().get(fire_id=fire.pk)
    run.status, run.finished_at, run.facts = status, now, {**run.facts, **facts}
    run.save(update_fields=["status", "finished_at", "facts"])
    free_hold(run.key, now)
    Fire.objects.filter(pk=fire.pk).update(closed_at=now)
    tell(run, routine)
