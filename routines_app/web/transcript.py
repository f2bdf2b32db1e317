"""A run's steps as its page shows them, each kind in its own way."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from routines_app.agents.turn import StepKind
from routines_app.models import Step
from routines_app.rules.money import dollars, took
from routines_app.web.terminal import without_escapes

_LABELS = {
    StepKind.WOKE: "Woke",
    StepKind.CHECK: "Check",
    StepKind.RAN: "Ran",
    StepKind.READ: "Read",
    StepKind.WROTE: "Wrote",
    StepKind.LISTED: "Listed",
    StepKind.FINISHED: "Finished",
    StepKind.NOTE: "Note",
}


@dataclass(frozen=True)
class TranscriptLine:
    """One step. `label` is empty for what the agent said; `note` stands at the right."""

    number: int
    offset: str
    label: str
    title: str
    content: str
    note: str
    mute: bool
    open: bool

    @property
    def said(self) -> bool:
        return not self.label


def transcript(
    steps: Iterable[Step], began: datetime, *, by_cost: bool = False, all_open: bool = False
) -> list[TranscriptLine]:
    """The steps in order, their times counted from `began`.

    `by_cost` shows what each cost in place of what it took: where the money went. `all_open`
    shows the output of every command, as of a script, which has only one.
    """
    return [_line(step, began, by_cost, all_open) for step in steps]


def tally(kinds: Iterable[str]) -> str:
    """What the steps were, in a few words: 3 commands, 1 file written."""
    counts = Counter(kinds)
    named = [
        (counts[StepKind.RAN] + counts[StepKind.CHECK], "command", "commands"),
        (counts[StepKind.READ], "file read", "files read"),
        (counts[StepKind.WROTE], "file written", "files written"),
    ]
    return ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in named if n)


def _line(step: Step, began: datetime, by_cost: bool, all_open: bool) -> TranscriptLine:
    said = step.kind == StepKind.SAID
    return TranscriptLine(
        number=step.number,
        offset=_offset((step.at - began).total_seconds()),
        label="" if said else _LABELS.get(StepKind(step.kind), "Step") if _known(step) else "Step",
        title=without_escapes(step.title),
        content=without_escapes((step.content or step.title) if said else step.content),
        note=dollars(step.cost) if by_cost and not said else _note(step),
        mute=step.kind in (StepKind.WOKE, StepKind.CHECK, StepKind.NOTE),
        open=step.kind == StepKind.CHECK
        or bool(step.facts.get("interrupted"))
        or bool(step.facts.get("exit_code"))
        or (all_open and step.kind == StepKind.RAN),
    )


def _known(step: Step) -> bool:
    return step.kind in {kind.value for kind in StepKind}


def _note(step: Step) -> str:
    facts: dict[str, object] = step.facts
    code, lines = facts.get("exit_code"), facts.get("lines")
    parts = []
    interrupted = bool(facts.get("interrupted"))
    shows_code = step.kind == StepKind.CHECK or (step.kind == StepKind.RAN and code != 0)
    if shows_code and isinstance(code, int):
        parts.append(f"exit {code}")
    if step.kind == StepKind.CHECK:
        parts.append(dollars(step.cost))
    elif isinstance(lines, int):
        parts.append(f"{lines:,} line" if lines == 1 else f"{lines:,} lines")
    elif step.kind in (StepKind.RAN, StepKind.WOKE) or step.seconds:
        parts.append(took(round(step.seconds, 1)))
    if interrupted:
        parts.append("stopped")
    return " · ".join(parts)


def _offset(seconds: float) -> str:
    whole = max(int(seconds), 0)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
