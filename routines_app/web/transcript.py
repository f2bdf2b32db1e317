"""A run's steps as its page shows them, each kind in its own way."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from routines_app.agents.turn import StepKind
from routines_app.models import Run, Step
from routines_app.rules.money import dollars
from routines_app.rules.status import RunStatus
from routines_app.rules.terminal import as_printed, without_escapes
from routines_app.web.dates import clock_time
from routines_app.web.step_note import note_of, told_words

# What a step that is open is called, and one whose end nobody knows.
_AT_IT = {
    StepKind.WOKE: "Waking",
    StepKind.CHECK: "Checking",
    StepKind.RAN: "Running",
    StepKind.READ: "Reading",
    StepKind.WROTE: "Writing",
    StepKind.EDITED: "Editing",
    StepKind.LISTED: "Listing",
    StepKind.SEARCHED: "Searching",
    StepKind.FETCHED: "Fetching",
    StepKind.WAITED: "Waiting",
    StepKind.CALLED: "Calling",
}
# What was called for and not done.
_NOT_DONE = {
    StepKind.RAN: "Didn’t run",
    StepKind.READ: "Didn’t read",
    StepKind.WROTE: "Didn’t write",
    StepKind.EDITED: "Didn’t edit",
    StepKind.LISTED: "Didn’t list",
    StepKind.SEARCHED: "Didn’t search",
    StepKind.FETCHED: "Didn’t fetch",
    StepKind.WAITED: "Didn’t wait",
}
SHOWN = 4_000  # characters of one step that its page holds; the rest is a click away
SHOWN_IN_ALL = 48_000  # of all steps together
LAST_LINES = 18  # of what a command printed that failed: why it did stands at the end
_LABELS = {
    StepKind.WOKE: "Woke",
    StepKind.CHECK: "Check",
    StepKind.RAN: "Ran",
    StepKind.READ: "Read",
    StepKind.WROTE: "Wrote",
    StepKind.EDITED: "Edited",
    StepKind.LISTED: "Listed",
    StepKind.SEARCHED: "Searched",
    StepKind.FETCHED: "Fetched",
    StepKind.WAITED: "Waited",
    StepKind.CALLED: "Called",
    StepKind.FINISHED: "Finished",
    StepKind.NOTE: "Note",
}


@dataclass(frozen=True)
class TranscriptLine:
    """One step. `label` is empty for what the agent said; `note` stands at the right.

    `number` 0 is a line of ours that is no step. `left_out` characters of it aren't shown; where
    the end is what is shown, `before` says in words what came before it.
    """

    number: int
    offset: str
    label: str
    title: str
    content: str
    note: str
    mute: bool
    open: bool
    left_out: int = 0
    before: str = ""
    failed: bool = False
    told: str = ""  # a person's sentence above a text that was written for the model

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
    lines, left = [], SHOWN_IN_ALL
    for step in steps:
        line = _line(step, began, by_cost, all_open)
        line = _ending_of(line, left) if line.failed else _bounded(line, left)
        left -= len(line.content)
        lines.append(line)
    return lines


def _bounded(line: TranscriptLine, left: int) -> TranscriptLine:
    """The line with as much of its text as there is room for, cut at the end of a line."""
    room = max(min(SHOWN, left), 0)
    if len(line.content) <= room:
        return line
    shown = line.content[:room]
    whole_lines = shown.rpartition("\n")[0]
    shown = whole_lines or shown
    return replace(line, content=shown, left_out=len(line.content) - len(shown))


def _ending_of(line: TranscriptLine, left: int) -> TranscriptLine:
    """The line with the last of its text."""
    room = max(min(SHOWN, left), 0)
    lines = line.content.rstrip("\n").split("\n")
    shown = "\n".join(lines[-LAST_LINES:])
    if len(shown) > room:
        # whole lines, or else the end of the only one that there is room for
        shown = shown[len(shown) - room :]
        shown = shown.partition("\n")[2] or shown
    above = len(lines) - shown.count("\n") - 1 if shown else len(lines)
    cut = len(line.content.rstrip("\n")) - len(shown)
    if not cut:
        return line
    words = f"{above:,} line{'' if above == 1 else 's'}" if above else f"{cut:,} characters"
    return replace(line, content=shown, before=words)


def at_now(run: Run, now: datetime) -> TranscriptLine | None:
    """The step that is open while a run is live, with what it has printed; None when none is.

    What is left out of it came before what is shown.
    """
    doing: dict[str, object] = run.doing
    title = without_escapes(str(doing.get("title", ""))[:500])
    if not title or run.finished_at is not None:
        return None
    kind = str(doing.get("kind", ""))
    began = run.waking_at or run.queued_at
    offset = _offset((now - began).total_seconds())
    text = without_escapes(str(doing.get("text", "")))
    if text and kind == StepKind.SAID:  # of the answer that is coming in
        return TranscriptLine(0, offset, "", title, text, "now", False, True)
    label = _AT_IT.get(kind, "At it")  # type: ignore[call-overload]
    before = doing.get("before")
    return TranscriptLine(
        number=0,
        offset=offset,
        label=label,
        title=title,
        content=text,
        note="now",
        mute=not text,
        open=bool(text),
        left_out=before if isinstance(before, int) else 0,
    )


def closing(run: Run, began: datetime, zone: str) -> TranscriptLine | None:
    """What ended a run that was stopped or broken off, as the last line; None for the others."""
    if run.finished_at is None or run.effects_begun_at is None:
        return None
    offset = _offset((run.finished_at - began).total_seconds())
    at = clock_time(run.finished_at, zone)
    match run.status:
        case RunStatus.FAIL_RESTART:
            what, title = "Interrupted", "our servers restarted"
        case RunStatus.STOP_PERSON:
            what, title = "Stopped", f"by {run.facts.get('person') or 'a person'}"
        case RunStatus.STOP_DELETED:
            what, title = "Stopped", "the routine was deleted"
        case RunStatus.STOP_COST:
            worst = run.facts.get("next_worst")
            money = f" up to {dollars(worst)}" if isinstance(worst, int) else " more than was left"
            what, title, at = "Stopped", f"the next request could have cost{money}", "$0.00"
        case _:
            return None
    mute = run.status == RunStatus.STOP_COST
    return TranscriptLine(0, offset, what, title, "", at, mute, False)


def tally(kinds: Iterable[str]) -> str:
    """What the steps were, in a few words: 3 commands, 1 file written."""
    counts = Counter(kinds)
    named = [
        (counts[StepKind.RAN] + counts[StepKind.CHECK], "command", "commands"),
        (counts[StepKind.READ], "file read", "files read"),
        (counts[StepKind.WROTE] + counts[StepKind.EDITED], "file written", "files written"),
        (counts[StepKind.FETCHED], "page fetched", "pages fetched"),
        (counts[StepKind.CALLED], "app called", "apps called"),
    ]
    return ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in named if n)


def _line(step: Step, began: datetime, by_cost: bool, all_open: bool) -> TranscriptLine:
    said = step.kind == StepKind.SAID
    unknown = step.facts.get("outcome") == "unknown"
    return TranscriptLine(
        number=step.number,
        offset=_offset((step.at - began).total_seconds()),
        label="" if said else _label(step, unknown),
        title=without_escapes(_title(step)),
        content=_content(step, said),
        note="outcome not known" if unknown else _figure(step, by_cost and not said),
        mute=unknown or _beside_the_work(step),
        open=step.kind == StepKind.CHECK
        or bool(step.facts.get("interrupted"))
        or bool(step.facts.get("exit_code"))
        or bool(step.facts.get("refused"))
        or (all_open and step.kind == StepKind.RAN),
        told=told_words(step),
        failed=step.kind in (StepKind.RAN, StepKind.CHECK)
        and bool(step.facts.get("exit_code") or step.facts.get("interrupted")),
    )


def _content(step: Step, said: bool) -> str:
    if step.kind in (StepKind.RAN, StepKind.CHECK):
        return as_printed(step.content)
    return without_escapes((step.content or step.title) if said else step.content)


def _beside_the_work(step: Step) -> bool:
    """Waking, a note, and a check that found something: one that didn't is what the run was."""
    if step.kind == StepKind.CHECK:
        return bool(step.facts.get("exit_code") == 0)
    return step.kind in (StepKind.WOKE, StepKind.NOTE)


def _label(step: Step, unknown: bool) -> str:
    if not _known(step):
        return "Step"
    kind = StepKind(step.kind)
    if unknown:
        return _AT_IT.get(kind, "At it")
    if kind is StepKind.WOKE and step.facts.get("already"):
        return "Awake"
    if step.facts.get("refused") and kind in _NOT_DONE:
        return _NOT_DONE[kind]
    return _LABELS.get(kind, "Step")


def _title(step: Step) -> str:
    """A machine that had to be woken was asleep; any other title is as it was written."""
    if step.kind == StepKind.WOKE and step.facts.get("already") is False:
        return f"{step.title} from sleep"
    return step.title


def _figure(step: Step, by_cost: bool) -> str:
    return dollars(step.cost) if by_cost else note_of(step)


def _known(step: Step) -> bool:
    return step.kind in {kind.value for kind in StepKind}


def _offset(seconds: float) -> str:
    whole = max(int(seconds), 0)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
