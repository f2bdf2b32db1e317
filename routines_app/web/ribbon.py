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
_NAMED = (0, 6, 12, 18, 24)  # hours that the axis names
_AT = '<svg x="{}" overflow="visible" width="1" height="1">'
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
    """The day's ribbon: its heading, its drawing, the hours beneath it, and what ran at night.

    `odd` says that the day has 23 or 25 hours, "" on all others.
    """

    heading: str
    odd: str
    drawing: SafeString
    hours: SafeString
    slept: str


@dataclass(frozen=True)
class _Span:
    """The day in its zone: from midnight to midnight, and now."""

    start: datetime
    end: datetime
    now: datetime
    zone: str

    def place(self, at: datetime) -> str:
        """Where an instant lies, by real time."""
        return f"{100 * (at - self.start) / (self.end - self.start):.3f}%"

    def wall(self, hour: int, minute: int = 0) -> datetime:
        """The first instant at which the clocks show this; 24 is the day's end."""
        if hour == 24:
            return self.end
        place = zones.as_zone(self.zone)
        day = self.start.astimezone(place).date()
        return zones.first_instant(datetime.combine(day, time(hour, minute)), place)

    @property
    def length(self) -> str:
        """How long it is, in real hours."""
        return f"{(self.end - self.start) / timedelta(hours=1):g} hours"


def today_of(
    workspace: Workspace,
    routines: Sequence[Routine],
    now: datetime,
    zone: str,
    *,
    late: Sequence[datetime] = (),
) -> Today:
    """Today in the viewer's zone. `late` is what was due and hasn't been started."""
    place = zones.as_zone(zone)
    day = now.astimezone(place).date()
    span = _Span(_midnight(day, zone), _midnight(day + timedelta(days=1), zone), now, zone)
    waiting = [Mark(at, Shape.WAITING) for at in late if at >= span.start]
    past = _past(workspace, span.start, span.end) + waiting
    coming = _coming(routines, max(now, span.start), span.end)
    shown = past if len(past) + len(coming) <= MANY else _binned(past, span.start)
    label = _label(past, coming, _next_name(routines, now, span.end), zone)
    return Today(
        heading=f"{day:%A} {day.day} {day:%B}",
        odd="" if span.end - span.start == timedelta(days=1) else span.length,
        drawing=_drawing(shown + coming, span, label),
        hours=_hours(span),
        slept=_slept(past, day, zone, now),
    )


def _next_name(routines: Iterable[Routine], now: datetime, end: datetime) -> str:
    """The name of the routine that runs next today; empty when none does."""
    due = [
        (each.next_fire_at, each.name)
        for each in routines
        if each.enabled and each.next_fire_at and now <= each.next_fire_at < end
    ]
    return min(due)[1] if due else ""


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


def _label(past: Sequence[Mark], coming: Sequence[Mark], name: str, zone: str) -> str:
    """The whole day in words, for those who don't see it."""
    counts = Counter(mark.shape for mark in past)
    parts = ", ".join(f"{counts[s]} {word(s).lower()}" for s in ORDER if counts[s])
    said = f"Today so far: {len(past)} run{'' if len(past) == 1 else 's'}."
    if parts:
        said = f"{said} {parts[:1].upper()}{parts[1:]}."
    if coming:
        who = f"{name} " if name else ""
        said = f"{said} More to come; next is {who}at {clock_time(coming[0].at, zone)}."
    return said


def _slept(past: Sequence[Mark], day: date, zone: str, now: datetime) -> str:
    """What ran before the morning, said in the morning: "eight ran while you slept"."""
    place = zones.as_zone(zone)
    if now.astimezone(place).time() >= time(12):
        return ""
    idle = (Shape.RING, Shape.WAITING, None)
    ran = sum(mark.at.astimezone(place).time() < DAWN and mark.shape not in idle for mark in past)
    return f"{count_words(ran)} ran while you slept" if ran else ""


def _drawing(marks: Sequence[Mark], span: _Span, label: str) -> SafeString:
    dawn, dusk = span.wall(DAWN.hour, DAWN.minute), span.wall(DUSK.hour, DUSK.minute)
    return format_html(
        '<svg class="hb" role="img" aria-label="{}">'
        '<rect class="night" x="0" y="2" width="{}" height="35" rx="3"/>'
        '<rect class="night" x="{}" y="2" width="{}" height="35" rx="3"/>'
        '<line class="base" x1="0" x2="100%" y1="37" y2="37"/>{}{}'
        '<svg x="{}" overflow="visible" width="1" height="1"><path class="nowline" d="M0 -2v48"/>'
        '<text class="nowtext" y="-7">{}</text></svg></svg>',
        label,
        span.place(dawn),
        span.place(dusk),
        f"{100 * (span.end - dusk) / (span.end - span.start):.3f}%",
        format_html_join("", f'{_AT}<path class="base" d="M0 38v{{}}"/></svg>', _notches(span)),
        format_html_join(
            "", f"{_AT}{{}}</svg>", ((span.place(each.at), _mark(each.shape)) for each in marks)
        ),
        span.place(span.now),
        clock_time(span.now, span.zone),
    )


def _notches(span: _Span) -> list[tuple[str, int]]:
    """Each real hour's place and length: 23, 24 or 25 of them, and the day's end."""
    long = {span.wall(hour) for hour in _NAMED}
    at, notches = span.start, []
    while at < span.end:
        notches.append((span.place(at), 8 if at in long else 3))
        at += timedelta(hours=1)
    return [*notches, (span.place(span.end), 8)]


def _hours(span: _Span) -> SafeString:
    """The hours that have a name, each under its notch."""
    texts = [
        ("start" if hour == 0 else "end" if hour == 24 else "middle", span.wall(hour), hour)
        for hour in _NAMED
    ]
    return format_html(
        '<svg class="hours" aria-hidden="true">{}</svg>',
        format_html_join(
            "",
            '<text x="{}" y="14" text-anchor="{}">{}:00</text>',
            ((span.place(at), anchor, hour) for anchor, at, hour in texts),
        ),
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
