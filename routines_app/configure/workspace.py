"""What a new workspace comes with, so that its first routine can run at once."""

from django.conf import settings
from django.db import transaction

from accounts.models import User, Workspace
from billing.models import Account
from machines.models import Machine
from routines_app.models import Agent, AgentRuntime, AgentVersion

FIRST_MACHINE = "quay-1"
ROSTER = (
    (
        "Assistant",
        AgentRuntime.MODEL,
        "Works out what is needed, and does small things itself.",
    ),
    (
        "Script",
        AgentRuntime.SCRIPT,
        "Runs your command and reports what it printed. No model.",
    ),
)


@transaction.atomic
def furnish(workspace: Workspace, person: User) -> Machine:
    """Give the workspace its account, its roster and one machine, asleep; that machine.

    Again on a furnished workspace changes nothing.
    """
    Account.objects.get_or_create(workspace=workspace, defaults={"plan": settings.PLAN})
    for name, runtime, purpose in ROSTER:
        agent, made = Agent.objects.get_or_create(
            workspace=workspace,
            slug=name.lower(),
            defaults={"name": name, "runtime": runtime, "purpose": purpose},
        )
        if made:
            AgentVersion.objects.create(agent=agent, number=1, changed_by=person)
    machine, _ = Machine.objects.get_or_create(
        workspace=workspace,
        slug=FIRST_MACHINE,
        defaults={
            "name": FIRST_MACHINE,
            "provider": settings.MACHINE_PROVIDER,
            "created_by": person,
            "state_reason": "It came with the workspace.",
        },
    )
    return machine
