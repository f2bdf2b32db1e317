"""Telling a run once more, because somebody asked for it."""

from django.db import transaction

from foundation import database_clock
from routines_app.delivery.tell import ring_for_delivery
from routines_app.models import Delivery, Run


def send_again(run: Run) -> int:
    """Put the run's deliveries that are over back into the outbox; how many there were.

    One that still waits is on its way already. Each is told to the same channel as before.
    """
    with transaction.atomic():
        over = Delivery.objects.select_for_update().filter(run=run).exclude(state="waiting")
        again = list(over.values_list("pk", flat=True))
        Delivery.objects.filter(pk__in=again).update(
            state="waiting", next_try_at=database_clock.now(), ended_at=None, answer=""
        )
        for delivery_id in again:
            transaction.on_commit(lambda pk=delivery_id: ring_for_delivery(pk))  # type: ignore[misc]
    return len(again)
