"""The plans beside each other, and what a smaller one would mean for what runs here."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import Role, Workspace
from billing.plans import PLANS, SELF_HOSTED, Plan, plan_of
from billing.standing import account_of
from routines_app.models import Routine
from routines_app.web import plan_words
from routines_app.web.access import WorkspaceRequest, in_workspace


@dataclass(frozen=True)
class Row:
    """One plan of the table, in words; `yours` is the one that the workspace has."""

    plan: Plan
    routines: str
    often: str
    machines: str
    yours: bool


@dataclass(frozen=True)
class Down:
    """What a smaller plan would keep running, oldest first, and what it wouldn't."""

    plan: Plan
    keeps: list[Routine]
    stops: list[Routine]


@in_workspace(Role.VIEWER)
@require_GET
def choose(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """The table. Whoever runs the place moves a workspace; nothing is bought here."""
    mine = plan_of(account_of(request.workspace).plan)
    rows = [
        Row(
            plan,
            plan_words.routines(plan),
            plan_words.often(plan, bare=True),
            plan_words.machines(plan, bare=True),
            plan.code == mine.code,
        )
        for plan in PLANS.values()
        if plan is not SELF_HOSTED or mine is SELF_HOSTED
    ]
    context = {"mine": mine, "rows": rows, "down": _down(request.workspace, mine)}
    return render(request, "pages/plan_choose.html", context)


def _down(workspace: Workspace, mine: Plan) -> Down | None:
    """The next plan down under which something would stop; None when there is none."""
    on = list(
        Routine.objects.filter(workspace=workspace, enabled=True, deleted_at__isnull=True).order_by(
            "pk"
        )
    )
    order = [plan for plan in PLANS.values() if plan is not SELF_HOSTED]
    lower = order[: order.index(mine)] if mine in order else []
    for plan in reversed(lower):
        if plan.routines is not None and len(on) > plan.routines:
            return Down(plan, on[: plan.routines], on[plan.routines :])
    return None
