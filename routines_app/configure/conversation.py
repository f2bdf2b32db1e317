"""Starting a routine's conversation anew."""

from django.db import transaction

from accounts.models import User
from foundation import database_clock
from routines_app.models import Conversation, Routine


def start_anew(routine: Routine, person: User) -> int:
    """Forget what its runs said; how many runs that were. The next run starts without them.

    A run that goes on now began with them, so it leaves nothing. Its runs and state.md stay.
    """
    now = database_clock.now()
    with transaction.atomic():
        held = Routine.objects.select_for_update().get(pk=routine.pk)
        kept, _ = Conversation.objects.get_or_create(routine=held)
        forgotten = kept.turns.count()
        kept.turns.all().delete()
        kept.edition += 1
        kept.anew_at, kept.anew_by = now, person
        kept.save(update_fields=["edition", "anew_at", "anew_by"])
    return forgotten
