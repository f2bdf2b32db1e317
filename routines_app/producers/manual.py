"""Run it now."""

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from foundation import database_clock
from routines_app.fires import FireRequest, request_fires
from routines_app.fires.owed import settle_due
from routines_app.models import Routine, Run
from routines_app.rules.occurrence import occurrence_key

_CLICKS_LOOKED_AT = 20  # a double click is seconds old; a key older than that is found by its fire


def run_it_now(routine: Routine, person: User, key: str) -> Run:
    """Ask for a run of this routine now and return its row, which exists before anything wakes.

    `key` makes a double click one run. The newest occurrence that is due and may still run is
    consumed: the run carries its key, so that the schedule doesn't start a second one. Older ones
    that nothing had scanned yet are told as missed.
    """
    with transaction.atomic():
        held = Routine.objects.select_for_update().get(pk=routine.pk)
        asked_before = _asked_before(held, key)
        if asked_before is not None:
            return asked_before
        now = database_clock.now()
        request = FireRequest(held.pk, "manual", f"manual:{key}", now, person.pk)
        due = settle_due(held, now, ask=False)
        if due is not None:
            request = FireRequest(
                held.pk, "manual", occurrence_key(due), due, person.pk, payload={"asked": key}
            )
        request_fires([request], now)
    return Run.objects.select_related("fire").get(routine=held, fire__dedup_key=request.key)


def _asked_before(routine: Routine, key: str) -> Run | None:
    """The run that this very click made already, under its own key or an occurrence's."""
    newest = Run.objects.select_related("fire").filter(
        routine=routine, number__gt=routine.run_counter - _CLICKS_LOOKED_AT
    )
    asked = Q(fire__dedup_key=f"manual:{key}") | Q(fire__payload__asked=key)
    return newest.filter(asked).order_by("-number").first()
