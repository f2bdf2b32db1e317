"""What a new workspace comes with, so that its first routine can run at once."""

from django.conf import settings
from django.db import transaction

from accounts.models import User, Workspace
from billing.models import Account
from machines.models import Machine
from routines_app.models import Agent, AgentRuntime, AgentVersion
from routines_app.rules.roster import THE_SEVEN, Member

FIRST_MACHINE = "quay-1"


@transaction.atomic
def furnish(workspace: Workspace, person: User) -> Machine:
    """Give the workspace its account, its roster and one machine, asleep; that machine.

    Again on a furnished workspace changes nothing.
    """
    Account.objects.get_or_create(workspace=workspace, defaults={"plan": settings.PLAN})
    for member in THE_SEVEN:
        _hire(workspace, person, member)
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


def _hire(workspace: Workspace, person: User, member: Member) -> None:
    """Give the workspace one of the seven, unless an agent of that slug is or was there."""
    agent, made = Agent.objects.get_or_create(
        workspace=workspace,
        slug=member.slug,
        defaults={
            "name": member.name,
            "runtime": AgentRuntime.MODEL if member.tier else AgentRuntime.SCRIPT,
            "purpose": member.purpose,
            "came_as": member.slug,
        },
    )
    if made:
        AgentVersion.objects.create(
            agent=agent,
            number=1,
            name=member.name,
            purpose=member.purpose,
            persona=member.persona,
            tier=member.tier or "",
            tools=list(member.tools),
            note="As it came",
            changed_by=person,
        )
