"""Keeping a claim while the work goes on, and noticing when it has to end."""

import threading
from enum import StrEnum
from types import TracebackType
from typing import Self

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from foundation import clock, database_clock
from routines_app.agents.turn import TurnInterrupted
from routines_app.fires import Claim, renew_lease
from routines_app.models import Fire

log = structlog.get_logger()

LOOK_SECONDS = 1.0  # Stop must work within two seconds


class Why(StrEnum):
    """Why a run has to end before its own end."""

    LOST = "lost"  # another runner has it: nothing may be written any more
    STOPPED = "stopped"
    DELETED = "deleted"
    DRAINING = "draining"


draining = threading.Event()  # set once when this process is asked to stop


class LeaseKeeper:
    """Renews one claim's lease on a thread of its own; `check` raises once the work has to end."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.why: Why | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._keep, name=f"lease-{claim.fire_id}", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join(timeout=10)

    def check(self) -> None:
        """Raise TurnInterrupted when the run has to end; `why` then says why."""
        if self.why is None and draining.is_set():
            self.why = Why.DRAINING
        if self.why is not None:
            raise TurnInterrupted(self.why)

    def _keep(self) -> None:
        renewed = clock.monotonic()
        try:
            while not self._over.wait(LOOK_SECONDS):
                try:
                    self._look()
                    if (
                        self.why is None
                        and clock.monotonic() - renewed >= settings.LEASE_RENEW_SECONDS
                    ):
                        if not renew_lease(self.claim, database_clock.now()):
                            self.why = Why.LOST
                        renewed = clock.monotonic()
                except (DatabaseError, InterfaceError) as error:
                    # The database is away: the lease runs on until it is back or has ended.
                    log.warning("lease_unreachable", fire=self.claim.fire_id, error=str(error))
                    connection.close()
        finally:
            connection.close()

    def _look(self) -> None:
        row = (
            Fire.objects.filter(pk=self.claim.fire_id)
            .values_list("claim_token", "run__stop_asked_at", "routine__deleted_at")
            .get()
        )
        if row[0] != self.claim.token:
            self.why = Why.LOST
        elif row[1] is not None:
            self.why = Why.STOPPED
        elif row[2] is not None:
            self.why = Why.DELETED
