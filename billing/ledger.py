"""The append-only ledger."""

import uuid
from datetime import datetime

from billing.models import LedgerEntry


def charge_run(workspace_id: int, run_key: uuid.UUID, spent: int, note: str, now: datetime) -> None:
    """Write a run's model spending (micro-dollars) as one entry; nothing for $0.00."""
    if spent:
        LedgerEntry.objects.create(
            workspace_id=workspace_id,
            kind="run",
            amount=-spent,
            run_key=run_key,
            note=note[:200],
            created_at=now,
        )
