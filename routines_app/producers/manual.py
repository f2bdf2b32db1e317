"""Run it now."""

from django.db import transaction

from accounts.models import User
from foundation import database_clock
from routines_app.configure.next_fire import advance_past
from routines_app.fires import FireRequest, request_fires
from routines_app.models import Routine, Run
from routines_app.rules.occurrence import occurrence_key


def run_it_now(routine: Routine, person: User, key: str) -> Run:
    """Ask for a run of this routine now and return its row, which exists before anything wakes.

    `key` makes a double click one run. An occurrence that is due at this moment is consumed: the
    run carries its key, so that the schedule doesn't start a second one.
    """
    with transaction.atomic():
        held = Routine.objects.select_for_update().get(pk=routine.pk)
        now = database_clock.now()
        request = FireRequest(held.pk, "manual", f"manual:{key}", now, person.pk)
        asked_before = Run.objects.filter(
            routine=held, fire__dedup_key=request.key
        ).first()
        if asked_before is not None:
            return asked_before
        due = held.next_fire_at
        if held.enabled and due is not None and due <= now:
            request = FireRequest(
                held.pk, "manual", occurrence_key(due), due, person.pk, payload={"asked": key}
            )
            advance_past(held, due, now)
        request_fires([request], now)
        return Run.objects.select_related("fire").get(
            routine=held, fire__dedup_key=request.key
        )

