"""One routine of the story, and what the story keeps of it."""

from dataclasses import dataclass, field
from datetime import datetime
from random import Random

from routines_app.management.demo.cast import Part
from routines_app.management.demo.outcomes import Outcome
from routines_app.management.demo.papers import Folder
from routines_app.models import Routine

MEMORY_LINES = 7


@dataclass(frozen=True)
class Quiet:
    """A run that found nothing, kept until several are written at once."""

    due: datetime
    asked: datetime
    began: datetime
    outcome: Outcome


@dataclass
class Played:
    """`routine` is its row as it was made; `memory` its state.md; `folder` its other files;
    `completed_at` when a turn last
    came to its own end; `due` each occurrence; `quiet` the runs that aren't written yet."""

    part: Part
    routine: Routine
    rng: Random
    due: list[datetime] = field(default_factory=list)
    memory: str = ""
    folder: Folder = field(default_factory=dict)
    remembered: list[str] = field(default_factory=list)
    completed_at: datetime | None = None
    quiet: list[Quiet] = field(default_factory=list)

    @property
    def machine_id(self) -> int:
        """Where it runs."""
        assert self.routine.machine_id is not None
        return self.routine.machine_id

    def remember(self, line: str) -> None:
        """Put a line on top of its state.md; the oldest go."""
        if line:
            self.remembered = [*self.remembered, line][-MEMORY_LINES:]
            kept = "\n".join(f"- {each}" for each in reversed(self.remembered))
            self.memory = f"# State\n\nWhat the last runs left for the next one.\n\n{kept}\n"
