"""A routine's state.md as its pages show it: its text, read without waking anything."""

import structlog
from django.urls import NoReverseMatch, reverse

from machines.access import provider_for
from machines.lifecycle import MachineState
from machines.providers.base import MachineError, NotFound
from routines_app.models import Routine

log = structlog.get_logger()

MEMORY_SHOWN = 20_000  # bytes of state.md


def memory_link(routine: Routine) -> str:
    """The page of its state.md; empty when it has no machine."""
    if routine.machine is None or routine.machine.deleted_at is not None:
        return ""
    path = f"{routine.memory_folder.removeprefix('~/')}/state.md"
    try:
        return reverse("file", args=[routine.workspace.slug, routine.machine.slug, path])
    except NoReverseMatch:  # the files of machines aren't part of this site
        return ""


def read_memory(routine: Routine) -> str | None:
    """The text of its state.md; empty when it has none yet, None when it can't be read now."""
    if routine.machine is None or routine.machine.deleted_at is not None:
        return None
    if MachineState(routine.machine.state).cold:
        return None
    if not routine.machine.ref:
        return ""
    try:
        provider, ref = provider_for(routine.machine)
        data = provider.read_file(ref, f"{routine.memory_folder}/state.md")
    except NotFound:
        return ""
    except MachineError as error:
        log.info("memory_unread", routine=routine.pk, reason=str(error))
        return None
    return data[:MEMORY_SHOWN].decode(errors="replace")
