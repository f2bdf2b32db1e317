"""What an admin sets of a workspace."""

from django.db import transaction

from accounts.models import User, Workspace
from routines_app.configure.content import FieldError, Refused
from routines_app.rules.zones import known_zones


def configure_workspace(
    workspace: Workspace, person: User, *, name: str, zone: str
) -> Workspace | Refused:
    """Save both, or say everything that stands against it. Its address stays what it was."""
    name, errors = " ".join(name.split()), []
    if not name:
        errors.append(FieldError("name", "Give it a name."))
    elif len(name) > 80:
        errors.append(FieldError("name", "Shorten the name to 80 characters."))
    elif "\0" in name:
        errors.append(FieldError("name", "Take out the NUL character; a name can’t hold it."))
    if zone not in known_zones():
        errors.append(FieldError("zone", "There is no zone of that name. Choose one of the list."))
    if errors:
        return Refused(errors)
    with transaction.atomic():
        held = Workspace.objects.select_for_update().get(pk=workspace.pk)
        held.name, held.zone = name, zone
        held.save(update_fields=["name", "zone"])
    return held
