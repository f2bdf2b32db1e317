"""What a run of the demo is made of: its steps, and what came of them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

from routines_app.agents.turn import StepKind
from routines_app.management.demo.papers import File

READ_PRICE, WRITTEN_PRICE = 3_000_000, 15_000_000  # micro-dollars a million tokens


@dataclass(frozen=True)
class Line:
    """One step. `read` and `written` are the tokens of the request that it came of; 0: none.

    `seconds` is its part of the turn, which is stretched or cut to the length of the run.
    """

    kind: StepKind
    title: str
    content: str = ""
    seconds: float = 2.0
    read: int = 0
    written: int = 0
    facts: dict[str, object] = field(default_factory=dict)

    @property
    def cost(self) -> int:
        """Micro-dollars."""
        return (self.read * READ_PRICE + self.written * WRITTEN_PRICE) // 1_000_000


@dataclass(frozen=True)
class Work:
    """One turn that came to its own end. `remember` is a line for state.md, "" for none; `more`
    files changed beside those named."""

    lines: tuple[Line, ...]
    headline: str = ""
    body: str = ""
    changed: bool = True
    remember: str = ""
    files: tuple[File, ...] = ()
    check_output: str = ""
    more: int = 0


Recipe = Callable[[Random, datetime], Work]


def read(path: str, lines: int, *, read: int = 0, written: int = 0) -> Line:
    """A file was read."""
    return Line(StepKind.READ, path, "", 0.2, read, written, {"lines": lines})


def ran(
    command: str,
    output: str,
    seconds: float = 3.0,
    code: int = 0,
    *,
    read: int = 0,
    written: int = 0,
) -> Line:
    """A command was run."""
    facts: dict[str, object] = {"exit_code": code, "reason": "exit"}
    return Line(StepKind.RAN, command, output, seconds, read, written, facts)


def wrote(path: str, lines: int, *, read: int = 0, written: int = 0) -> Line:
    """A file was written."""
    return Line(StepKind.WROTE, path, "", 0.2, read, written, {"lines": lines})


def wrote_perhaps(path: str) -> Line:
    """A file was being written when the run was broken off."""
    return Line(StepKind.WROTE, path, facts={"outcome": "unknown"})


def said(text: str, *, read: int = 0, written: int = 0) -> Line:
    """The agent said something."""
    return Line(StepKind.SAID, text.split("\n")[0][:120], text, 1.0, read, written)


def finished(headline: str, changed: bool = True, *, read: int = 0, written: int = 0) -> Line:
    """The agent said that it is done."""
    return Line(StepKind.FINISHED, headline, "", 0.5, read, written, {"changed": changed})


def at_length(work: Work, factor: float) -> Work:
    """The same work with more or fewer tokens in each request."""
    return replace(
        work,
        lines=tuple(
            replace(line, read=int(line.read * factor), written=int(line.written * factor))
            for line in work.lines
        ),
    )
