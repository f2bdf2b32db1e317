"""Pausing a workspace: nothing starts, and each run that falls due says why not."""

from django.db import transaction

from accounts.models import User, Workspace
from foundation import database_clock


def pause_workspace(workspace: Workspace, person: User) -> Workspace:
    """Let nothing start until it is resumed; what runs ends by itself.

    Pausing twice keeps who did it first, and since when.
    """
    with transaction.atomic():
        held = Workspace.objects.select_for_update().get(pk=workspace.pk)
        if held.paused_at is None:
            held.paused_at, held.paused_by = database_clock.now(), person
            held.save(update_fields=["paused_at", "paused_by"])
    return held


def resume_workspace(workspace: Workspace, person: User) -> Workspace:
    """Let things start again; what fell due meanwhile isn't made up for."""
    with transaction.atomic():
        held = Workspace.objects.select_for_update().get(pk=workspace.pk)
        if held.paused_at is not None:
            held.paused_at, held.paused_by = None, None
            held.save(update_fields=["paused_at", "paused_by"])
    return held
