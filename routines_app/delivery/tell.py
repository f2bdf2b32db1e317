"""Deciding who is told of a run's end, in the transaction that records it."""

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from foundation import database_clock
from routines_app.delivery.attention import settle
from routines_app.models import Delivery, Routine, Run
from routines_app.rules.status import RunStatus
from routines_app.rules.telling import cause_key, should_ring, third_overlap

log = structlog.get_logger()


def tell(run: Run, routine: Routine) -> None:
    """Write the outbox rows of a run that has just ended; call it inside its transaction."""
    settle(run)
    if not should_ring(run.state, routine.notify):
        return
    if run.state is RunStatus.SKIP_OVERLAP and not third_overlap(_before(run)):
        return
    now = run.finished_at or database_clock.now()
    cause = cause_key(run.state, str(routine.key), routine.workspace.zone, now)
    if cause and Delivery.objects.filter(workspace_id=run.workspace_id, cause=cause).exists():
        return
    delivery, made = Delivery.objects.get_or_create(
        run=run, channel="bell", defaults={"workspace_id": run.workspace_id, "cause": cause}
    )
    if made:
        transaction.on_commit(lambda: ring_for_delivery(delivery.pk))


def _before(run: Run) -> list[str]:
    """The statuses of the three runs before this one, the newest first."""
    runs = Run.objects.filter(routine_id=run.routine_id, number__lt=run.number)
    return list(runs.order_by("-number").values_list("status", flat=True)[:3])


def ring_for_delivery(delivery_id: int) -> None:
    """Tell a worker that a delivery waits; one that isn’t told finds it by itself."""
    try:
        current_app.send_task("routines_app.tasks.deliver", [delivery_id])
    except OperationalError as error:
        log.warning("delivery_doorbell_lost", delivery=delivery_id, error=str(error))
