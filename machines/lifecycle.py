"""What a machine may do next. Pure: facts in, decisions out."""

from dataclasses import dataclass
from enum import StrEnum


class MachineState(StrEnum):
    """Where a machine is in its life. Only awake and waking hold compute."""

    ASLEEP = "asleep"
    WAKING = "waking"
    AWAKE = "awake"
    SUSPENDING = "suspending"
    ARCHIVED = "archived"


@dataclass(frozen=True)
class WakeFacts:
    """What the door asks about one machine."""

    state: MachineState
    deleted: bool


@dataclass(frozen=True)
class MayWake:
    """Go on; `already` when nothing has to be started."""

    already: bool


@dataclass(frozen=True)
class MayNotWake:
    """The door stays shut. `why` is gone, cold or going_to_sleep."""

    why: str


def decide_wake(facts: WakeFacts) -> MayWake | MayNotWake:
    """Whether this machine may wake now."""
    if facts.deleted:
        return MayNotWake("gone")
    match facts.state:
        case MachineState.ARCHIVED:
            return MayNotWake("cold")
        case MachineState.AWAKE:
            return MayWake(already=True)
        case MachineState.ASLEEP | MachineState.WAKING | MachineState.SUSPENDING:
            return MayWake(already=False)
