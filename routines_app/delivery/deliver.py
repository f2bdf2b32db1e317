"""Carrying out the outbox."""

from datetime import datetime

from django.db import transaction

from accounts.models import User
from foundation import database_clock
from foundation.failpoints import failpoint
from routines_app.delivery.attention import mark_read, settled_since, supersede
from routines_app.fires.beats import beat
from routines_app.models import Delivery, Notice, Run
from routines_app.rules.status import Rings

BATCH = 200


def deliver(delivery_id: int) -> None:
    """Tell one channel of one run, once; a delivery that is over stays as it is."""
    with transaction.atomic():
        row = (
            Delivery.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("run")
            .filter(pk=delivery_id, state="waiting")
            .first()
        )
        if row is None:
            return
        _carry_out(row)
        failpoint("deliver.before")
    failpoint("deliver.after")


def read_run(run: Run, person: User) -> Notice | None:
    """Note that this person has read how the run ended; the run's notice, if it rings at all.

    Whoever follows a run sees its end before the bell has rung: then it rings here, for others,
    and one that rings just now is waited for. So it can't ring afterwards for what was read.
    """
    with transaction.atomic():
        row = (
            Delivery.objects.select_for_update(of=("self",))
            .select_related("run")
            .filter(run=run, channel="bell", state="waiting")
            .first()
        )
        if row is not None:
            _carry_out(row)
        mark_read(Notice.objects.filter(run=run), person)
        return Notice.objects.filter(run=run).first()


def _carry_out(row: Delivery) -> None:
    """Tell, and note that it is told; the caller holds the row's lock."""
    now = database_clock.now()
    _ring_the_bell(row, now)
    row.state, row.ended_at, row.tries = "taken", now, row.tries + 1
    row.save(update_fields=["state", "ended_at", "tries"])


def deliver_waiting() -> int:
    """Carry out the outbox rows whose time has come, which a lost doorbell left; how many."""
    now = database_clock.now()
    rows = Delivery.objects.filter(state="waiting", next_try_at__lte=now).order_by("next_try_at")
    waiting = list(rows.values_list("id", flat=True)[:BATCH])
    for delivery_id in waiting:
        deliver(delivery_id)
    beat("outbox", database_clock.now())
    return len(waiting)


def _ring_the_bell(row: Delivery, now: datetime) -> None:
    needs = row.run.state.rings in (Rings.YES, Rings.SELDOM) and not settled_since(row.run)
    if needs:
        supersede(row.run)
    notice, made = Notice.objects.get_or_create(
        run=row.run,
        defaults={
            "workspace_id": row.workspace_id,
            "routine_id": row.run.routine_id,
            "needs_someone": needs,
            "rung_at": now,
        },
    )
    if not made:  # somebody had it sent again
        notice.rung_at = now
        notice.save(update_fields=["rung_at"])
        notice.read_by.clear()
