"""What a machine may do next. Pure: facts in, decisions out.

    asleep ──wake──► waking ──► awake ──idle──► suspending ──► asleep
    asleep ──unused──► archiving ──► archived ──restore──► restoring ──► asleep

Only waking and awake hold compute. A crash in archiving or restoring goes back to where it came
from: the disk is destroyed only once the archive is stored and verified, and noted on the machine's
row; from then on a crash in archiving goes forward.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

ARCHIVE_AFTER = timedelta(days=30)
STUCK_AFTER = timedelta(hours=1)  # for what copies a whole disk
QUICK_STUCK_AFTER = timedelta(minutes=5)  # a wake may take three
RESTORE_BYTES_A_SECOND = 40 * 1024 * 1024  # what the words "about 4 minutes" go by


class MachineState(StrEnum):
    """Where a machine is in its life."""

    ASLEEP = "asleep"
    WAKING = "waking"
    AWAKE = "awake"
    SUSPENDING = "suspending"
    ARCHIVING = "archiving"
    ARCHIVED = "archived"
    RESTORING = "restoring"

    @property
    def holds_compute(self) -> bool:
        return self in (MachineState.WAKING, MachineState.AWAKE, MachineState.SUSPENDING)

    @property
    def cold(self) -> bool:
        """Whether its disk is in storage, or on the way there or back."""
        return self in (MachineState.ARCHIVING, MachineState.ARCHIVED, MachineState.RESTORING)


@dataclass(frozen=True)
class WakeFacts:
    """What the door asks about one machine. `others_awake`: of the workspace, this one left out;
    `awake_at_once`: what the plan allows, None without limit; `stuck`: whoever moved it last died
    on the way."""

    state: MachineState
    deleted: bool
    others_awake: int = 0
    awake_at_once: int | None = None
    stuck: bool = False


@dataclass(frozen=True)
class MayWake:
    """Go on; `already` when nothing has to be started."""

    already: bool


@dataclass(frozen=True)
class MayNotWake:
    """The door stays shut. `why`: gone, cold, too_many (awake at once) or going_to_sleep."""

    why: str


def decide_wake(facts: WakeFacts) -> MayWake | MayNotWake:
    """Whether this machine may wake now."""
    if facts.deleted:
        return MayNotWake("gone")
    if facts.state.cold:
        return MayNotWake("cold")
    if facts.state is MachineState.AWAKE:
        return MayWake(already=True)
    if facts.state is MachineState.SUSPENDING and not facts.stuck:
        return MayNotWake("going_to_sleep")
    if facts.awake_at_once is not None and facts.others_awake >= facts.awake_at_once:
        return MayNotWake("too_many")
    return MayWake(already=False)


def may_suspend(
    state: MachineState, used_at: datetime | None, now: datetime, idle: timedelta, *, busy: bool
) -> bool:
    """Whether an awake machine has been idle long enough to sleep. `busy`: a run is on it."""
    if state is not MachineState.AWAKE or busy:
        return False
    return used_at is None or now - used_at >= idle


def may_archive(
    state: MachineState,
    used_at: datetime | None,
    created_at: datetime,
    now: datetime,
    *,
    routines_on: int,
) -> bool:
    """Whether a machine has been unused for 30 days. One with a routine turned on never is."""
    if state is not MachineState.ASLEEP or routines_on:
        return False
    return now - (used_at or created_at) >= ARCHIVE_AFTER


def after_a_crash(state: MachineState, since: datetime, now: datetime) -> MachineState | None:
    """Where a machine that got stuck on its way goes back to; None when it isn't stuck."""
    quick = state in (MachineState.WAKING, MachineState.SUSPENDING)
    if now - since < (QUICK_STUCK_AFTER if quick else STUCK_AFTER):
        return None
    match state:
        case MachineState.ARCHIVING | MachineState.WAKING | MachineState.SUSPENDING:
            return MachineState.ASLEEP
        case MachineState.RESTORING:
            return MachineState.ARCHIVED
        case MachineState.ASLEEP | MachineState.AWAKE | MachineState.ARCHIVED:
            return None


def restore_time(archive_bytes: int) -> timedelta:
    """About how long a restore takes."""
    return timedelta(seconds=5 + archive_bytes / RESTORE_BYTES_A_SECOND)
