"""How a run ends, as a value: what `record` writes."""

from dataclasses import dataclass, field

from routines_app.agents.turn import Usage
from routines_app.rules.status import RunStatus


@dataclass(frozen=True)
class LeftBehind:
    """What a run leaves to its routine's conversation, kept only while that has this `edition`.

    Turns of runs before `oldest` didn't go on. `size` is bytes, `reread` micro-dollars.
    """

    edition: int
    oldest: int
    text: str
    size: int
    reread: int


@dataclass(frozen=True)
class Ending:
    """A terminal status with all that belongs to it. `spent` None keeps what the row has."""

    status: RunStatus
    facts: dict[str, object] = field(default_factory=dict)
    headline: str = ""
    body: str = ""
    changed: bool | None = None
    spent: int | None = None
    usage: Usage | None = None
    state_after: str | None = None
    left: LeftBehind | None = None
    ours: bool = False  # the fault is ours: it never counts towards turning the routine off
