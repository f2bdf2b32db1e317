"""Today on one line: what ran, what is still to come, and where now is.

Positions are percentages of the viewer's calendar day, which may have 23 or 25 hours.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import assert_never

from django.db.models import Q
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from accounts.models import Workspace
from routines_app.models import Routine, Run
from routines_app.rules import zones
from routines_app.rules.schedule import next_occurrence
from routines_app.rules.status import Shape
from routines_app.web.dates import clock_time, count_words
from routines_app.web.heartbeat import ORDER, word
from routines_app.web.run_words import shape_of_status

BIN = timedelta(minutes=15)
MANY = 60  # above so many marks a quarter of an hour shows only its worst
MOST = 5_000  # runs of one day that are looked at
DAWN, DUSK = time(6, 30), time(19, 0)
_WORST = (
    Shape.LIVE, Shape.POINT, Shape.BLOCK, Shape.RING, Shape.DONE, Shape.QUIET, Shape.STUB,
    Shape.WAITING,
)  # fmt: skip


@dataclass(frozen=True)
class Mark:
    """One tick; `shape` None is an occurrence that is still to come."""

    at: datetime
    shape: Shape | None


@dataclass(frozen=True)
class Today:
    """The day's ribbon: its drawing, its heading, the hours beneath it."""

    heading: str
    drawing: SafeString
    hours: list[str]
    slept: str


def today_of(workspace: Workspace, routines: Sequence[Routine], now: datetime, zone: str) -> Today:
    """Today in the viewer's zone."""
    place = zones.as_zone(zone)
    day = now.astimezone(place).date()
    start, end = _midnight(day, zone), _midnight(day + timedelta(days=1), zone)
    past = _past(workspace, start, end)
    coming = _coming(routines, max(now, start), end)
    shown = past if len(past) + len(coming) <= MANY else _binned(past, start)
    return Today(
        heading=f"{day:%A} {day.day} {day:%B}",
        drawing=_drawing(shown + coming, (start, end, now), _label(past, coming, zone), zone),
        hours=["0:00", "6:00", "12:00", "18:00", "24:00"],
        slept=_slept(past, day, zone, now),
    )


def _midnight(day: date, zone: str) -> datetime:
    return zones.first_instant(datetime.combine(day, time()), zones.as_zone(zone))


def _past(workspace: Workspace, start: datetime, end: datetime) -> list[Mark]:
    found = (
        Run.objects.filter(
            Q(finished_at__gte=start) | Q(finished_at__isnull=True), workspace=workspace
        )
        .filter(fire__due_at__gte=start, fire__due_at__lt=end)
        .order_by("fire__due_at")
        .values_list("fire__due_at", "status")[:MOST]
    )
    return [Mark(at, shape_of_status(status)) for at, status in found]


def _coming(routines: Iterable[Routine], now: datetime, end: datetime) -> list[Mark]:
    """One mark for each quarter of an hour in which something is still due today.

    Schedules that are the same are looked at once, and quarters that have a mark are passed over:
    the work is bounded by the day's quarters and not by how often routines run.
    """
    marks: dict[datetime, Mark] = {}
    seen: set[tuple[str, str, str, datetime]] = set()
    for routine in routines:
        at = routine.next_fire_at if routine.enabled else None
        if at is None or at >= end:
            continue
        kept = (routine.schedule_kind, str(routine.schedule_values), routine.zone, at)
        if kept in seen:
            continue
        seen.add(kept)
        while at is not None and at < end:
            slot = _slot(at, end)
            if at >= now:
                marks.setdefault(slot, Mark(at, None))
            while slot in marks:
                slot += BIN
            at = next_occurrence(routine.schedule, max(slot - timedelta(seconds=1), at))
    return sorted(marks.values(), key=lambda mark: mark.at)


def _slot(at: datetime, origin: datetime) -> datetime:
    """The start of the quarter of an hour that `at` falls in, counted from `origin`."""
    return origin + ((at - origin) // BIN) * BIN


def _binned(marks: Iterable[Mark], start: datetime) -> list[Mark]:
    worst: dict[datetime, Shape] = {}
    for mark in marks:
        slot = _slot(mark.at, start)
        shapes = [shape for shape in (mark.shape, worst.get(slot)) if shape is not None]
        worst[slot] = min(shapes, key=_WORST.index)
    return [Mark(slot, shape) for slot, shape in worst.items()]


def _label(past: Sequence[Mark], coming: Sequence[Mark], zone: str) -> str:
    """The whole day in words, for those who don't see it."""
    counts = Counter(mark.shape for mark in past)
    parts = ", ".join(f"{counts[s]} {word(s).lower()}" for s in ORDER if counts[s])
    said = f"Today so far: {len(past)} run{'' if len(past) == 1 else 's'}."
    if parts:
        said = f"{said} {parts[:1].upper()}{parts[1:]}."
    if coming:
        said = f"{said} More to come; the next at {clock_time(coming[0].at, zone)}."
    return said


def _slept(past: Sequence[Mark], day: date, zone: str, now: datetime) -> str:
    """What ran before the morning, said in the morning: "eight ran while you slept"."""
    place = zones.as_zone(zone)
    if now.astimezone(place).time() >= time(12):
        return ""
    idle = (Shape.RING, Shape.WAITING, None)
    ran = sum(mark.at.astimezone(place).time() < DAWN and mark.shape not in idle for mark in past)
    return f"{count_words(ran)} ran while you slept" if ran else ""


def _drawing(
    marks: Sequence[Mark], span: tuple[datetime, datetime, datetime], label: str, zone: str
) -> SafeString:
    start, end, now = span
    day = start.astimezone(zones.as_zone(zone)).date()

    def place(at: datetime) -> str:
        return f"{100 * (at - start) / (end - start):.3f}%"

    def wall(hour: int, minute: int = 0) -> datetime:
        return zones.first_instant(datetime.combine(day, time(hour, minute)), zones.as_zone(zone))

    hours = [(place(wall(hour)), 8 if hour % 6 == 0 else 3) for hour in range(24)]
    hours.append(("100%", 8))
    dusk = wall(DUSK.hour, DUSK.minute)
    return format_html(
        '<svg class="hb" role="img" aria-label="{}">'
        '<rect class="night" x="0" y="2" width="{}" height="35" rx="3"/>'
        '<rect class="night" x="{}" y="2" width="{}" height="35" rx="3"/>'
        '<line class="base" x1="0" x2="100%" y1="37" y2="37"/>{}{}'
        '<svg x="{}" overflow="visible" width="1" height="1"><path class="nowline" d="M0 -2v48"/>'
        '<text class="nowtext" y="-7">{}</text></svg></svg>',
        label,
        place(wall(DAWN.hour, DAWN.minute)),
        place(dusk),
        f"{100 * (end - dusk) / (end - start):.3f}%",
        format_html_join(
            "",
            '<svg x="{}" overflow="visible" width="1" height="1">'
            '<path class="base" d="M0 38v{}"/></svg>',
            hours,
        ),
        format_html_join(
            "",
            '<svg x="{}" overflow="visible" width="1" height="1">{}</svg>',
            ((place(mark.at), _mark(mark.shape)) for mark in marks),
        ),
        place(now),
        clock_time(now, zone),
    )


def _mark(shape: Shape | None) -> SafeString:
    match shape:
        case None:
            return mark_safe('<path class="next" d="M0 34v-18"/>')
        case Shape.DONE:
            return mark_safe('<rect class="done" x="-2" y="11" width="4" height="25" rx="2"/>')
        case Shape.QUIET:
            return mark_safe('<rect class="quiet" x="-2" y="24" width="4" height="12" rx="2"/>')
        case Shape.STUB:
            return mark_safe('<rect class="stub" x="-2" y="32.5" width="4" height="3.5" rx="1"/>')
        case Shape.RING:
            return mark_safe('<circle class="skip" cx="0" cy="37" r="2.75"/>')
        case Shape.BLOCK:
            return mark_safe('<rect class="stop" x="-2" y="38" width="4" height="7"/>')
        case Shape.POINT:
            return mark_safe('<path class="fail" d="M-2.5 38h5l-2.5 12z"/>')
        case Shape.LIVE:
            return mark_safe(
                '<rect class="live" x="-2.25" y="11.75" width="4.5" height="24" rx="2.2"/>'
            )
        case Shape.WAITING:
            return mark_safe('<path class="next wait" d="M0 34v-18"/>')
        case _:
            assert_never(shape)
