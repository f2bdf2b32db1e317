"""Deleting a machine: its disk and what is in storage go for good; its name is never used again."""

from dataclasses import dataclass

import structlog
from django.db import transaction

from accounts.models import User
from foundation import database_clock
from machines.access import provider_named
from machines.lifecycle import MachineState
from machines.models import Machine
from machines.providers.base import MachineError, Ref
from routines_app.admission.machine_care import busy, stored_at
from routines_app.models import Routine

log = structlog.get_logger()

_MOVING = (MachineState.ARCHIVING, MachineState.RESTORING, MachineState.WAKING)


@dataclass(frozen=True)
class Deleted:
    """It is gone. Its runs keep their rows."""

    machine: Machine


@dataclass(frozen=True)
class StillNeeded:
    """Nothing was deleted: `routines` are turned on and live there."""

    routines: list[Routine]


@dataclass(frozen=True)
class NotNow:
    """Nothing was deleted; `sentence` says why and what to do."""

    sentence: str


def needed_by(machine: Machine) -> list[Routine]:
    """The routines on it that are turned on."""
    found = Routine.objects.filter(machine=machine, enabled=True, deleted_at__isnull=True)
    return list(found.order_by("name", "pk"))


def delete_machine(machine: Machine, person: User) -> Deleted | StillNeeded | NotNow:
    """Delete it, unless a routine that is turned on or a run needs it."""
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        if row.deleted_at is not None:
            return Deleted(row)
        routines = needed_by(row)
        if routines:
            return StillNeeded(routines)
        if busy(row):
            return NotNow(f"A run is on {row.name}. Stop it first, or wait until it ends.")
        if row.state in _MOVING:
            return NotNow(f"{row.name} is on its way. Try again in a few minutes.")
        now = database_clock.now()
        row.deleted_at, row.state_since = now, now
        row.state, row.state_reason = MachineState.ASLEEP, f"{person} deleted it."[:200]
        row.save(update_fields=["deleted_at", "state", "state_since", "state_reason"])
        row.spans.filter(ended_at__isnull=True).update(ended_at=now)
    clear_deleted(row)
    return Deleted(row)


def clear_deleted_machines() -> None:
    """Free what a deleted machine still holds because its provider couldn't just then."""
    for row in Machine.objects.filter(deleted_at__isnull=False).exclude(ref=""):
        clear_deleted(row)


def clear_deleted(row: Machine) -> None:
    """Free its disk and what is in storage; what can't be freed now is tried again later."""
    try:
        if row.ref:
            provider_named(row.provider).destroy(Ref(row.provider, row.ref))
        stored_at(row).unlink(missing_ok=True)
    except (MachineError, OSError) as error:
        log.warning("deleted_machine_not_freed", machine=row.slug, reason=str(error))
        return
    row.ref, row.archive = "", {}
    row.save(update_fields=["ref", "archive"])
