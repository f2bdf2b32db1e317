"""Deciding who is told of a run's end, in the transaction that records it."""

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from routines_app.models import Delivery, Routine, Run
from routines_app.rules.telling import should_ring

log = structlog.get_logger()


def tell(run: Run, routine: Routine) -> None:
    """Write the outbox rows of a run that has just ended; call it inside its transaction."""
    if not should_ring(run.state, routine.notify):
        return
    delivery, made = Delivery.objects.get_or_create(
        run=run, channel="bell", defaults={"workspace_id": run.workspace_id}
    )
    if made:
        transaction.on_commit(lambda: _ring_for(delivery.pk))


def _ring_for(delivery_id: int) -> None:
    try:
        current_app.send_task("routines_app.tasks.deliver", [delivery_id])
    except OperationalError as error:
        log.warning("delivery_doorbell_lost", delivery=delivery_id, error=str(error))
