"""How a run ends, as a value: what `record` writes."""

from dataclasses import dataclass, field

from routines_app.agents.turn import Usage
from routines_app.rules.status import RunStatus


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
    ours: bool = False  # the fault is ours: it never counts towards turning the routine off
