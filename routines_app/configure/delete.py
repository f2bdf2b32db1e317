"""Deleting a routine: it ends, and what it did stays written down."""

from django.db import transaction

from accounts.models import User
from foundation import database_clock
from routines_app.fires.owed import note_on_span, settle_due
from routines_app.fires.withdraw import withdraw_fires
from routines_app.models import Conversation, Routine
from routines_app.rules.status import RunStatus


def delete_routine(routine: Routine, person: User) -> Routine:
    """Delete it: its schedule ends, what waits ends as refused, what runs is stopped by its runner
    within seconds. Its conversation is forgotten; its runs and their ledger entries stay. Its slug
    is never used again.

    Deleting twice keeps who did it first.
    """
    now = database_clock.now()
    with transaction.atomic():
        held = Routine.objects.select_for_update().get(pk=routine.pk)
        if held.deleted_at is not None:
            return held
        settle_due(held, now)
        held.deleted_at, held.enabled, held.next_fire_at = now, False, None
        held.off_reason, held.off_by, held.off_at = "person", person, now
        held.save(
            update_fields=[
                "deleted_at", "enabled", "next_fire_at", "off_reason", "off_by", "off_at",
            ]
        )  # fmt: skip
        Conversation.objects.filter(routine=held).delete()
        note_on_span(held, now)
        withdraw_fires(held, RunStatus.SKIP_OFF, {"person": str(person)})
    return held
