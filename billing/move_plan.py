"""Moving a workspace to another plan."""

import structlog

from accounts.models import Workspace
from billing.models import Account
from billing.plans import Plan, plan_of

log = structlog.get_logger()


def move_plan(workspace: Workspace, code: str) -> Plan:
    """Let the workspace have the plan of that code from now on; nothing is turned off by it.

    Raises KeyError with the codes that there are.
    """
    plan = plan_of(code)
    Account.objects.update_or_create(workspace=workspace, defaults={"plan": plan.code})
    log.info("plan_moved", workspace=workspace.pk, plan=plan.code)
    return plan
