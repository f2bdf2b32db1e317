"""The doorbell: a message that a fire waits. It is a hint; the queue is the database."""

from collections.abc import Sequence

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from foundation.failpoints import failpoint

log = structlog.get_logger()


def ring_for_fires(fire_ids: Sequence[int]) -> None:
    """Tell a runner about these fires once the current transaction has committed."""
    if fire_ids:
        transaction.on_commit(lambda: _send(list(fire_ids)))


def _send(fire_ids: list[int]) -> None:
    failpoint("doorbell.before")
    try:
        for fire_id in fire_ids:
            current_app.send_task("routines_app.tasks.take_fire", [fire_id])
    except OperationalError as error:
        # The broker is away. The fires are stored; the sweep of waiting fires finds them.
        log.warning("doorbell_lost", fires=fire_ids, error=str(error))
    failpoint("doorbell.after")
