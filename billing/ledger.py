"""The append-only ledger."""

import uuid
from datetime import datetime
from zoneinfo import ZoneInfo

from billing.models import Account, LedgerEntry


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


def grant_credit(account: Account, amount: int, now: datetime) -> None:
    """Write what the plan includes for this month (micro-dollars), once a month."""
    local = now.astimezone(ZoneInfo(account.workspace.zone))
    LedgerEntry.objects.bulk_create(
        [
            LedgerEntry(
                workspace_id=account.workspace_id,
                kind="credit",
                amount=amount,
                key=credit_key(local),
                note=f"Included in {local:%Y-%m}",
                created_at=now,
            )
        ],
        ignore_conflicts=True,
    )


def credit_key(local: datetime) -> str:
    """What makes a month's included credit once; `local` is in the workspace's zone."""
    return f"credit {local:%Y-%m}"


def refund_run(
    workspace_id: int, run_key: uuid.UUID, amount: int, note: str, now: datetime
) -> None:
    """Give a run's spending (micro-dollars) back, once; nothing for $0.00."""
    if amount:
        LedgerEntry.objects.create(
            workspace_id=workspace_id,
            kind="refund",
            amount=amount,
            run_key=run_key,
            note=note[:200],
            created_at=now,
        )
