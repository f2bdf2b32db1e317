"""How a workspace stands in its month: what is spent, held and left. Amounts in micro-dollars."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings

from accounts.models import Workspace
from billing.holds import balance, held, month_start, spent_this_month
from billing.ledger import credit_key
from billing.models import Account, LedgerEntry
from billing.plans import Plan, plan_of


@dataclass(frozen=True)
class Standing:
    """The month so far.

    `start` and `end` are the month's first instant and the next one's. `spent` has refunds taken
    off. `credit` is the balance before holds, None where the plan keeps none. `budget` is None
    without one.
    """

    plan: Plan
    start: datetime
    end: datetime
    spent: int
    held: int
    credit: int | None
    budget: int | None

    @property
    def month(self) -> str:
        """The month's name."""
        return f"{self.start:%B}"

    @property
    def budget_left(self) -> int | None:
        """What the budget still allows, never below none; None without a budget."""
        return None if self.budget is None else max(self.budget - self.spent, 0)

    @property
    def left(self) -> int | None:
        """The smaller of credit and budget left; None when neither limits."""
        limits = [each for each in (self.credit, self.budget_left) if each is not None]
        return min(limits) if limits else None

    @property
    def by_budget(self) -> bool:
        """Whether the budget is what limits, and not the credit."""
        return self.left is not None and self.left == self.budget_left and self.left != self.credit


def account_of(workspace: Workspace) -> Account:
    """The workspace's account; one that isn't saved, on the place's plan, where it has none yet."""
    found = Account.objects.filter(workspace=workspace).select_related("budget_by").first()
    return found or Account(workspace=workspace, plan=settings.PLAN)


def standing(account: Account, now: datetime) -> Standing:
    """How the account stands at `now`. The month is the workspace's own."""
    workspace, plan = account.workspace, plan_of(account.plan)
    start = month_start(workspace.zone, now)
    credit = None
    if plan.credit is not None:
        credit = balance(workspace.pk) + _to_come(workspace, plan.credit, now)
    return Standing(
        plan=plan,
        start=start,
        end=next_month(start),
        spent=spent_this_month(account, now),
        held=held(workspace.pk),
        credit=credit,
        budget=account.monthly_budget,
    )


def next_month(start: datetime) -> datetime:
    """The first instant of the month after the one that begins at `start`, in the same zone."""
    year, month = (start.year + 1, 1) if start.month == 12 else (start.year, start.month + 1)
    return start.replace(year=year, month=month, fold=0)


def _to_come(workspace: Workspace, credit: int, now: datetime) -> int:
    """The month's included credit while no run has asked for it; it is written with the first."""
    key = credit_key(now.astimezone(ZoneInfo(workspace.zone)))
    there = LedgerEntry.objects.filter(workspace=workspace, key=key).exists()
    return 0 if there else credit
