"""Whose a file is. A machine is shared; a routine's own folder is its owner's.

This keeps hands off by mistake. It is no wall: whatever runs on a machine may write all of its
home, so what must be apart belongs on machines of its own.
"""

from accounts.models import Membership, Role
from machines.models import Machine
from routines_app.models import Routine

ROUTINES = "routines"


def others_here(
    membership: Membership, machine: Machine, path: str, *, deletes: bool = False
) -> Routine | None:
    """A routine of somebody else's whose folder a change at `path` would touch; None when there is
    none, and for an admin, who may change every routine.

    `deletes`: all that is beneath the path goes too.
    """
    if membership.may(Role.ADMIN):
        return None
    parts = path.strip("/").split("/")
    if parts[0] != ROUTINES or (len(parts) < 2 and not deletes):
        return None
    others = (
        Routine.objects.select_related("owner")
        .filter(workspace_id=membership.workspace_id, machine=machine, deleted_at__isnull=True)
        .exclude(owner_id=membership.user_id)
    )
    return (others.filter(slug=parts[1]) if len(parts) > 1 else others).first()
