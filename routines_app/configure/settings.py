"""What an admin sets of a workspace."""

from django.conf import settings
from django.db import transaction

from accounts.models import User, Workspace
from billing.models import Account
from routines_app.configure.content import FieldError, Refused
from routines_app.rules.zones import known_zones

MAX_BUDGET = 1_000_000_000_000  # $1,000,000


def configure_workspace(
    workspace: Workspace, person: User, *, name: str, zone: str, monthly_budget: int | None
) -> Workspace | Refused:
    """Save them all, or say everything that stands against it.

    `monthly_budget` in micro-dollars, None without one. Its address stays what it was.
    """
    name, errors = " ".join(name.split()), []
    if not name:
        errors.append(FieldError("name", "Give it a name."))
    elif len(name) > 80:
        errors.append(FieldError("name", "Shorten the name to 80 characters."))
    elif "\0" in name:
        errors.append(FieldError("name", "Take out the NUL character; a name can’t hold it."))
    if zone not in known_zones():
        errors.append(FieldError("zone", "There is no zone of that name. Choose one of the list."))
    if monthly_budget is not None and not 0 <= monthly_budget <= MAX_BUDGET:
        errors.append(FieldError("budget", "Write an amount from $0.00 to $1,000,000.00."))
    if errors:
        return Refused(errors)
    with transaction.atomic():
        held = Workspace.objects.select_for_update().get(pk=workspace.pk)
        held.name, held.zone = name, zone
        held.save(update_fields=["name", "zone"])
        Account.objects.get_or_create(workspace=held, defaults={"plan": settings.PLAN})
        Account.objects.filter(workspace=held).update(monthly_budget=monthly_budget)
    return held
