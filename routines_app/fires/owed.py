"""What a routine owes: asked for before its schedule or its switch changes, and kept as spans.

A change throws the next occurrence away. Whatever was due by then and not scanned yet would vanish
with it, so every change settles first and then notes what is in force.
"""

from datetime import datetime
from typing import Any

from django.db.models import F
from django.db.models.functions import Greatest

from routines_app.fires.beats import last_beat
from routines_app.fires.missed import Missed, record_missed
from routines_app.fires.request import FireRequest, request_fires
from routines_app.models import OnSpan, Routine
from routines_app.rules.due import due_by
from routines_app.rules.kinds import ScheduleKind, to_json
from routines_app.rules.occurrence import occurrence_key

_MOVED = ["run_counter", "next_fire_at", "evaluated_until", "enabled", "off_reason", "off_by",
          "off_at"]  # fmt: skip


def settle_due(routine: Routine, now: datetime, *, ask: bool = True) -> datetime | None:
    """Write what the schedule owes by now as the scan would, and move the routine on.

    Call it in the transaction that holds the routine's row, before anything of it is changed; the
    object's moved fields are read anew. Returns the occurrence that may still run, None without
    one: it has been asked for, or with `ask` False is the caller's to ask for.
    """
    next_at, seen = routine.next_fire_at, routine.evaluated_until
    if not routine.enabled or routine.deleted_at or next_at is None or next_at > now:
        return None
    outcome, following = due_by(
        next_at,
        tuple(routine.expressions),
        routine.zone,
        now,
        max(now, seen) if seen else now,
        routine.grace,
    )
    if outcome.fires is not None and ask:
        key = occurrence_key(outcome.fires)
        asked = FireRequest(routine.pk, "timer", key, outcome.fires, scheduled=True)
        request_fires([asked], now)
    missed = [Missed(routine.pk, routine.workspace_id, span) for span in outcome.missed]
    Routine.objects.filter(pk=routine.pk).update(
        next_fire_at=following, evaluated_until=Greatest(F("evaluated_until"), now)
    )
    record_missed(missed, down_since(missed, last_beat("scan"), now), now)
    routine.refresh_from_db(fields=_MOVED)
    return outcome.fires


def down_since(missed: list[Missed], last_scan: datetime | None, now: datetime) -> datetime:
    """Since when nothing was scanning, as far as the last scan and what was missed tell."""
    first = min((each.span.first for each in missed), default=now)
    return min(first, last_scan) if last_scan else first


def note_on_span(routine: Routine, now: datetime) -> None:
    """Bring the routine's spans in line with what it is now; call it once its row is saved.

    All up to the watermark has been asked for, so a span ends and begins no earlier than that.
    """
    at = max(now, routine.evaluated_until) if routine.evaluated_until else now
    owed = _in_force(routine)
    current = OnSpan.objects.filter(routine=routine, ended_at__isnull=True).first()
    if current is not None and current.schedule == owed:
        return
    if current is not None:
        current.ended_at = max(at, current.started_at)
        current.save(update_fields=["ended_at"])
    if owed is not None:
        OnSpan.objects.create(routine=routine, schedule=owed, started_at=at)


def _in_force(routine: Routine) -> dict[str, Any] | None:
    """The schedule that fires now; None when nothing does."""
    if not routine.enabled or routine.deleted_at is not None:
        return None
    if routine.schedule_kind == ScheduleKind.WHEN_ASKED:
        return None
    return to_json(routine.schedule)
