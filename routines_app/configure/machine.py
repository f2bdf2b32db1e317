"""Making a machine."""

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils.text import slugify

from accounts.models import User, Workspace
from billing.plans import Plan, plan_of
from billing.standing import account_of
from machines.models import Machine

MOST = 50  # machines in one workspace: each has a folder and a disk


@dataclass(frozen=True)
class NoMachine:
    """It wasn't made; `sentence` says what to do."""

    sentence: str


def full_words(plan: Plan) -> str:
    """Why no machine is added to as many as the plan covers, and what to do."""
    number = "one machine" if plan.machines == 1 else f"{plan.machines} machines"
    return f"{plan.title} covers {number}. Delete one, or ask for another plan."


def make_machine(workspace: Workspace, person: User, name: str) -> Machine | NoMachine:
    """A new machine, asleep. Its slug is made from the name and is never used again."""
    name = " ".join(name.split())
    slug = slugify(name)[:60]
    if not slug or slug == "new":
        return NoMachine("Give it another name: one letter or figure at least, and not “new”.")
    if "\0" in name:
        return NoMachine("Take out the NUL character; a name can’t hold it.")
    if len(name) > 60:
        return NoMachine("Give it a name of 60 characters or fewer.")
    with transaction.atomic():
        # the workspace's row is held, so that two of the same name don't take one slug
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        if Machine.objects.filter(workspace=workspace, slug=slug).exists():
            return NoMachine(f"There is, or was, a machine called {slug}. Choose another name.")
        here = Machine.objects.filter(workspace=workspace, deleted_at__isnull=True).count()
        plan = plan_of(account_of(workspace).plan)
        if plan.machines is not None and here >= plan.machines:
            return NoMachine(full_words(plan))
        if here >= MOST:
            return NoMachine(f"A workspace holds {MOST} machines, and this one has them.")
        return Machine.objects.create(
            workspace=workspace,
            name=name,
            slug=slug,
            provider=settings.MACHINE_PROVIDER,
            created_by=person,
            state_reason=f"{person} made it."[:200],
        )
