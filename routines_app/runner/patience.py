"""Waiting for a database that is away for moments, so that a run outlives its restart."""

import time
from collections.abc import Callable
from typing import TypeVar

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from foundation import clock

log = structlog.get_logger()

PAUSE_SECONDS = 0.5
Done = TypeVar("Done")


def patiently(work: Callable[[], Done]) -> Done:
    """Do `work`, again each half second while the database is away, for as long as a lease lasts.

    `work` must stand being done twice: its first commit may have held though its answer was lost.
    Raises what it raised last, once a lease's time is over or when it is inside a transaction.
    """
    until = clock.monotonic() + settings.LEASE_SECONDS
    while True:
        try:
            return work()
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or clock.monotonic() >= until:
                raise
            log.warning("database_away", error=str(error))
            connection.close()
            time.sleep(PAUSE_SECONDS)
