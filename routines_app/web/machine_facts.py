"""What is known of one machine's day: its spans, what is still due on it, what woke it and what
was spent there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.db.models import Q, Sum
from django.utils import timezone

from billing.holds import month_start
from billing.models import Account
from billing.plans import Plan, plan_of
from machines.lifecycle import MachineState
from machines.models import AwakeSpan, Machine
from routines_app.models import Routine, Run
from routines_app.rules.schedule import instants_between
from routines_app.rules.zones import as_zone
from routines_app.web.day import Awake, Day, day_of

MOST_MARKS = 96  # wakings ahead that are drawn for one routine; more would be one grey bar
SHOWN_WAKINGS = 30
SHOWN_TODAY = 100
LEAD = timedelta(seconds=90)  # a run may be admitted this long before its machine's span begins


@dataclass(frozen=True)
class Waking:
    """One stretch of being awake. `run` is the first that asked for it, None when nobody's did;
    `spent` is what the models cost that its runs asked, in micro-dollars."""

    span: AwakeSpan
    run: Run | None
    spent: int

    @property
    def asked_by(self) -> str:
        """Who asked: a person, or the schedule."""
        if self.run is None:
            return ""
        return str(self.run.fire.requested_by or "the schedule")


@dataclass(frozen=True)
class Spent:
    """What the runs on a machine have cost, in micro-dollars."""

    today: int
    month: int


def plan_here(machine: Machine) -> Plan:
    """The plan that the machine is under."""
    account = Account.objects.filter(workspace_id=machine.workspace_id).first()
    return plan_of(account.plan if account else "self-hosted")


def falls_asleep(machine: Machine, now: datetime) -> datetime | None:
    """When an awake machine that nothing runs on goes to sleep; None when that isn't ahead."""
    if machine.state != MachineState.AWAKE or machine.used_at is None:
        return None
    at = machine.used_at + plan_here(machine).idle
    return at if at > now else None


def day_bounds(now: datetime) -> tuple[datetime, datetime]:
    """Today's first instant and tomorrow's, in the viewer's zone."""
    today, zone = timezone.localtime(now).date(), timezone.get_current_timezone()
    return (
        datetime.combine(today, time(), zone),
        datetime.combine(today + timedelta(days=1), time(), zone),
    )


def day_of_machine(machine: Machine, now: datetime) -> Day:
    """Today in the viewer's zone, for a machine with `lives_here` loaded."""
    start, end = day_bounds(now)
    spans = AwakeSpan.objects.filter(
        Q(ended_at__isnull=True) | Q(ended_at__gte=start), machine=machine, started_at__lt=end
    )
    return day_of(
        [Awake(span.started_at, span.ended_at) for span in spans],
        _still_due(machine, now, end),
        start,
        end,
        now,
    )


def next_wakings(machine: Machine) -> list[tuple[datetime, Routine]]:
    """The next occurrence of each routine here that is on, soonest first."""
    due = [
        (routine.next_fire_at, routine)
        for routine in machine.lives_here  # type: ignore[attr-defined]  # machines_of adds it
        if routine.enabled and routine.next_fire_at is not None
    ]
    return sorted(due, key=lambda pair: pair[0])


def _still_due(machine: Machine, now: datetime, end: datetime) -> list[datetime]:
    """Every occurrence that is left of the day; of one that comes very often, evenly thinned."""
    found: set[int] = set()
    for due, routine in next_wakings(machine):
        if due >= end:
            continue
        instants = sorted(instants_between(routine.schedule, due, end)) or [int(due.timestamp())]
        found.update(instants[:: len(instants) // MOST_MARKS + 1])
    zone = as_zone("UTC")
    return [datetime.fromtimestamp(at, zone) for at in sorted(found)]


def spans_shown(machine: Machine, now: datetime, *, every: bool) -> tuple[list[AwakeSpan], bool]:
    """Those of today in the viewer's zone, the newest first, or the last of all; and whether there
    are earlier ones than today's."""
    start, _ = day_bounds(now)
    spans = machine.spans.order_by("-started_at")
    today = Q(started_at__gte=start) | Q(ended_at__isnull=True) | Q(ended_at__gte=start)
    shown = spans[:SHOWN_WAKINGS] if every else spans.filter(today)[:SHOWN_TODAY]
    return list(shown), spans.exclude(today).exists()


def what_woke_it(machine: Machine, spans: Sequence[AwakeSpan], now: datetime) -> list[Waking]:
    """Each span (newest first) with the run that it was for and what its runs spent."""
    if not spans:
        return []
    runs = list(
        Run.objects.filter(machine=machine, waking_at__gte=spans[-1].started_at - LEAD)
        .select_related("routine", "fire__requested_by")
        .only(
            "number", "spent", "cause", "waking_at", "routine__name", "routine__slug",
            "routine__deleted_at", "fire__requested_by__name", "fire__requested_by__email",
        )
        .order_by("waking_at")[:5000]
    )  # fmt: skip
    found = []
    for span in spans:
        until = span.ended_at or now
        own = [run for run in runs if run.waking_at and _within(run.waking_at, span, until)]
        spent = sum(run.spent for run in own if run.cause != "ours")
        for_it = own[0] if own and own[0].routine.name in span.woken_by else None
        found.append(Waking(span, for_it, spent))
    return found


def _within(at: datetime, span: AwakeSpan, until: datetime) -> bool:
    return span.started_at - LEAD <= at <= until


def spent_on(machine: Machine, zone: str, now: datetime) -> Spent:
    """What its runs have cost today (in the viewer's zone) and in the workspace's month; what was
    refunded isn't counted."""
    start, _ = day_bounds(now)
    first = month_start(zone, now)
    runs = Run.objects.filter(machine=machine, workspace_id=machine.workspace_id).exclude(
        cause="ours"
    )
    sums = runs.filter(finished_at__gte=min(first, start)).aggregate(
        today=Sum("spent", filter=Q(finished_at__gte=start)),
        month=Sum("spent", filter=Q(finished_at__gte=first)),
    )
    return Spent(int(sums["today"] or 0), int(sums["month"] or 0))


@dataclass(frozen=True)
class Axis:
    """What is under and behind a day's line, in percent of its length (23 to 25 hours).

    `hours` are (position, anchor, words); `nights` are (position, width).
    """

    hours: tuple[tuple[str, str, str], ...]
    nights: tuple[tuple[str, str], ...]


def axis(now: datetime) -> Axis:
    """The axis of today in the viewer's zone."""
    start, end = day_bounds(now)
    length = end.timestamp() - start.timestamp()

    def at(hour: int, minute: int = 0) -> float:
        wall = end if hour == 24 else start.replace(hour=hour, minute=minute)
        return 100 * (wall.timestamp() - start.timestamp()) / length

    anchors = {0: "start", 24: "end"}
    hours = tuple(
        (f"{at(hour):.2f}%", anchors.get(hour, "middle"), f"{hour}:00")
        for hour in (0, 6, 12, 18, 24)
    )
    dawn, dusk = at(6, 30), at(19)
    return Axis(hours, (("0%", f"{dawn:.2f}%"), (f"{dusk:.2f}%", f"{100 - dusk:.2f}%")))
