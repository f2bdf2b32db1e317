"""The monthly budget: what a workspace may spend in a calendar month before nothing starts."""

from dataclasses import dataclass
from datetime import datetime

import structlog
from django.conf import settings
from django.db import transaction

from accounts.models import Membership, Role
from billing.models import Account
from billing.plans import DOLLAR

MAX_BUDGET = 1_000_000 * DOLLAR

log = structlog.get_logger()


@dataclass(frozen=True)
class BudgetRefused:
    """Nothing was changed; `sentence` says why and what to do."""

    sentence: str


def set_budget(
    membership: Membership, amount: int | None, now: datetime
) -> Account | BudgetRefused:
    """Set the month's budget in micro-dollars, None for none, under the person's name.

    Only an admin may. Runs under way go on: their caps are held already.
    """
    if not membership.may(Role.ADMIN):
        return BudgetRefused("Only an admin may set the budget. Ask one.")
    if amount is not None and not 0 <= amount <= MAX_BUDGET:
        return BudgetRefused("Write an amount from $0.00 to $1,000,000.00.")
    with transaction.atomic():
        account, _ = Account.objects.select_for_update(of=("self",)).get_or_create(
            workspace_id=membership.workspace_id, defaults={"plan": settings.PLAN}
        )
        before = account.monthly_budget
        account.monthly_budget, account.budget_by, account.budget_at = amount, membership.user, now
        account.save(update_fields=["monthly_budget", "budget_by", "budget_at"])
    log.info(
        "budget_set",
        workspace=membership.workspace_id,
        person=membership.user_id,
        before=before,
        after=amount,
    )
    return account
