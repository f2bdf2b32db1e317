"""The doorbell: a message that a fire waits. It is a hint; the queue is the database."""

from collections.abc import Sequence
from typing import Any

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from foundation.failpoints import failpoint

log = structlog.get_logger()

MOST_WAITING = 10_000
"""Doorbells that may lie unheard. While long turns fill every runner the sweep rings again and
again for what waits, and more of them would only fill the broker's memory."""
FEW = 2


def ring_for_fires(fire_ids: Sequence[int]) -> None:
    """Tell a runner about these fires once the current transaction has committed."""
    if fire_ids:
        transaction.on_commit(lambda: _send(list(fire_ids)))


def _send(fire_ids: list[int]) -> None:
    failpoint("doorbell.before")
    try:
        # A person waits for the few; only the many can fill the broker.
        room = MOST_WAITING - _unheard() if len(fire_ids) > FEW else FEW
        if room < len(fire_ids):
            log.warning("doorbells_unheard", most=MOST_WAITING, left_out=len(fire_ids) - room)
        for fire_id in fire_ids[: max(room, 0)]:
            current_app.send_task("routines_app.tasks.take_fire", [fire_id])
    except OperationalError as error:
        # The broker is away. The fires are stored; the sweep of waiting fires finds them.
        log.warning("doorbell_lost", fires=fire_ids, error=str(error))
    failpoint("doorbell.after")


def _unheard() -> int:
    """Doorbells in the broker that no runner has taken yet. Raises OperationalError."""
    broker: Any  # celery's types call it a producer
    with current_app.pool.acquire(block=True) as broker:
        try:
            queue = current_app.amqp.queues["runner"].bind(broker.default_channel)
            declared: Any = queue.queue_declare()
            return int(declared.message_count)
        except broker.connection_errors as error:
            raise OperationalError(str(error)) from error
