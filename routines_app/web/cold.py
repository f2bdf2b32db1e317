"""A machine in cold storage, or on the way back, in words."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from machines.lifecycle import MachineState
from machines.models import Machine
from routines_app.admission.restoring import time_to_restore
from routines_app.models import Run
from routines_app.rules.status import RunStatus
from routines_app.web.dates import count_words

SHOWN_REFUSALS = 5


@dataclass(frozen=True)
class Coming:
    """How far a restore is, by the time that it usually takes. Seconds; `percent` is 0 to 100.

    `to_go` is "about 2 minutes to go", or that it takes longer than usual.
    """

    elapsed: float
    usual: float
    percent: int
    to_go: str


@dataclass(frozen=True)
class Happened:
    """One line of how a machine got where it is."""

    at: datetime
    what: str
    by: str


def about(length: timedelta) -> str:
    """A length of time as an estimate.

    >>> about(timedelta(seconds=20)), about(timedelta(seconds=70)), about(timedelta(minutes=4))
    ('less than a minute', 'about a minute', 'about four minutes')
    """
    minutes = round(length.total_seconds() / 60)
    if length < timedelta(minutes=1):
        return "less than a minute"
    return "about a minute" if minutes == 1 else f"about {count_words(minutes)} minutes"


def coming(machine: Machine, now: datetime) -> Coming | None:
    """How far its restore is; None when it isn't being restored."""
    if machine.state != MachineState.RESTORING:
        return None
    usual = time_to_restore(machine)
    elapsed = max(now - machine.state_since, timedelta())
    left = usual - elapsed
    to_go = f"{about(left)} to go" if left > timedelta() else "longer than usual; it goes on"
    percent = min(int(100 * (elapsed / usual)), 99)
    return Coming(elapsed.total_seconds(), usual.total_seconds(), percent, to_go)


def back_words(machine: Machine | None, now: datetime) -> str:
    """When it will be ready, as a sentence; "" for a machine that isn't being restored."""
    found = coming(machine, now) if machine else None
    if machine is None or found is None:
        return ""
    left = timedelta(seconds=max(found.usual - found.elapsed, 0))
    return f"{machine.name} comes back from cold storage first: ready in {about(left)}."


def how_it_got_here(machine: Machine) -> list[Happened]:
    """What led to cold storage and, if it was asked for, back; the newest first."""
    found: list[Happened] = []
    if machine.state == MachineState.RESTORING:
        found.append(Happened(machine.state_since, "Restore began", machine.state_reason))
    if machine.state == MachineState.ARCHIVING:
        found.append(Happened(machine.state_since, "The move to cold storage began", "our servers"))
    stored = str(machine.archive.get("since", ""))
    if stored:
        since = datetime.fromisoformat(stored)
        found += _refusals(machine, since)
        what = "Moved to cold storage: 30 days in which nothing needed it"
        found.append(Happened(since, what, "our servers"))
        found += _turned_off(machine, since)
    if machine.used_at:
        found.append(Happened(machine.used_at, "Last used", ""))
    return sorted(found, key=lambda each: each.at, reverse=True)


def _turned_off(machine: Machine, since: datetime) -> list[Happened]:
    """The last routine on it that was turned off, since only then could it go."""
    last = (
        machine.routines.select_related("off_by")
        .filter(enabled=False, off_at__lte=since, deleted_at__isnull=True)
        .order_by("-off_at")
        .first()
    )
    if last is None or last.off_at is None:
        return []
    what = f"{last.name} turned off, the last routine on it"
    return [Happened(last.off_at, what, str(last.off_by or "our servers"))]


def _refusals(machine: Machine, since: datetime) -> list[Happened]:
    runs = Run.objects.select_related("routine", "fire__requested_by").filter(
        machine=machine, status=RunStatus.SKIP_COLD, finished_at__gte=since
    )
    return [
        Happened(
            run.finished_at or run.queued_at,
            f"{run.routine.name} didn’t run: the machine was in cold storage",
            str(run.fire.requested_by or "the schedule"),
        )
        for run in runs.order_by("-finished_at")[:SHOWN_REFUSALS]
    ]
