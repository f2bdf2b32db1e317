"""What each tool works with: where it works, how it reads its arguments, how it says no."""

from collections.abc import Callable
from dataclasses import dataclass

from routines_app.agents.connectors import OpenApps
from routines_app.agents.guarded import Judge
from routines_app.agents.live_output import LiveOutput
from routines_app.agents.turn import Computer

# What a tool gives back: its step's title, its content, and small facts.
Done = tuple[str, str, dict[str, object]]


class BadArguments(ValueError):
    """A model called a tool wrongly; the text tells it what to do."""


class Unwilling(Exception):
    """A tool didn't do what it was asked; the text says why and what to do. The turn goes on."""


@dataclass(frozen=True)
class Workplace:
    """Where tools work: a machine, the routine's folder, and when the turn's time is up.

    `check` raises TurnInterrupted when the turn has to end; `ends_at` is by `clock.monotonic`.
    `judge` says which addresses of the web may be read. `apps` are those that may be called.
    `printed` is told what a command prints while it runs, as a `StepSink` is.
    """

    computer: Computer
    folder: str
    ends_at: float
    check: Callable[[], None]
    judge: Judge
    apps: OpenApps | None = None
    printed: Callable[[str, int], None] | None = None

    def live_output(self) -> LiveOutput:
        """What a command that begins now prints, as it is shown."""
        return LiveOutput(self.check, self.printed or _unseen)

    def path(self, given: str) -> str:
        """A path as the machine takes it: one that isn't rooted is beneath the folder."""
        if not given or given == ".":
            return self.folder
        return given if given.startswith(("~", "/")) else f"{self.folder}/{given}"


def _unseen(text: str, before: int) -> None:
    """Nobody watches."""


def text_of(arguments: dict[str, object], name: str, *, empty: bool = False) -> str:
    """An argument that must be a text. Raises BadArguments."""
    value = arguments.get(name)
    if not isinstance(value, str) or not (value.strip() or empty):
        raise BadArguments(f"Give {name} as a text.")
    if "\x00" in value:
        raise BadArguments(f"Leave NUL characters out of {name}.")
    return value


def seconds_of(arguments: dict[str, object], usual: float, most: float) -> float:
    """The argument `seconds`, brought between 1 and `most`. Raises BadArguments."""
    value = arguments.get("seconds", usual)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        # JSON as Python reads it has NaN, with which no deadline ever comes
        raise BadArguments(f"Give seconds as a number from 1 to {most:g}.")
    return float(min(max(value, 1), most))  # a huge whole number fits no float
