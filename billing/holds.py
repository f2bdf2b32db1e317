"""Holds: a live run's cap set aside, freed with the run's own end.

A workspace's account row is locked while its money is judged, so that live holds never exceed
what is there, however many runs are admitted at once.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Sum

from billing.ledger import grant_credit
from billing.models import Account, Hold, LedgerEntry
from billing.plans import plan_of


@dataclass(frozen=True)
class NotEnough:
    """The money that is left is less than the run may cost. Amounts in micro-dollars.

    `kind`: budget (the month's own limit) or credit (the balance). `limit` is the budget.
    """

    kind: Literal["budget", "credit"]
    left: int
    limit: int


def take_hold(
    workspace_id: int, run_key: uuid.UUID, amount: int, now: datetime
) -> NotEnough | None:
    """Set `amount` micro-dollars aside for a run, or say what is missing; None when it is held.

    Taken once a run: a second time adds nothing. Call it inside the admitting transaction.
    """
    with transaction.atomic(savepoint=False):
        account, _ = Account.objects.select_for_update(of=("self",)).get_or_create(
            workspace_id=workspace_id
        )
        if Hold.objects.filter(run_key=run_key).exists():
            return None
        missing = _missing(account, amount, now) if amount else None
        if missing is None:
            Hold.objects.create(
                workspace_id=workspace_id, run_key=run_key, amount=amount, taken_at=now
            )
        return missing


FREE_HOLD = (
    "UPDATE billing_hold SET freed_at = %(now)s WHERE run_key = %(run_key)s AND freed_at IS NULL"
)
"""`free_hold` as a part of the statement that writes a run's end."""


def free_hold(run_key: uuid.UUID, now: datetime) -> None:
    """Give back what a run held. Doing it twice is doing it once."""
    Hold.objects.filter(run_key=run_key, freed_at__isnull=True).update(freed_at=now)


def balance(workspace_id: int) -> int:
    """The sum of the ledger's entries."""
    total = LedgerEntry.objects.filter(workspace_id=workspace_id).aggregate(sum=Sum("amount"))
    return int(total["sum"] or 0)


def held(workspace_id: int) -> int:
    """What live runs hold."""
    live = Hold.objects.filter(workspace_id=workspace_id, freed_at__isnull=True)
    return int(live.aggregate(sum=Sum("amount"))["sum"] or 0)


def spent_this_month(account: Account, now: datetime) -> int:
    """Micro-dollars spent, refunds taken off, in the workspace's own calendar month."""
    start = month_start(account.workspace.zone, now)
    entries = LedgerEntry.objects.filter(
        workspace_id=account.workspace_id, created_at__gte=start, kind__in=["run", "refund"]
    )
    return -int(entries.aggregate(sum=Sum("amount"))["sum"] or 0)


def month_start(zone: str, now: datetime) -> datetime:
    """The first instant of the month, in that zone."""
    return now.astimezone(ZoneInfo(zone)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _missing(account: Account, amount: int, now: datetime) -> NotEnough | None:
    live = held(account.workspace_id)
    if account.monthly_budget is not None:
        left = account.monthly_budget - spent_this_month(account, now) - live
        if left < amount:
            return NotEnough("budget", max(left, 0), account.monthly_budget)
    credit = plan_of(account.plan).credit
    if credit is not None:
        grant_credit(account, credit, now)
        left = balance(account.workspace_id) - live
        if left < amount:
            return NotEnough("credit", max(left, 0), 0)
    return None
