"""Holds: a live run's cap set aside, freed with the run's own end."""

import uuid
from datetime import datetime

from billing.models import Hold


def take_hold(workspace_id: int, run_key: uuid.UUID, amount: int) -> None:
    """Set `amount` micro-dollars aside for a run. Taken once a run: a second time adds nothing."""
    Hold.objects.get_or_create(
        run_key=run_key, defaults={"workspace_id": workspace_id, "amount": amount}
    )


def free_hold(run_key: uuid.UUID, now: datetime) -> None:
    """Give back what a run held. Doing it twice is doing it once."""
    Hold.objects.filter(run_key=run_key, freed_at__isnull=True).update(freed_at=now)
