"""What stands at the right of a step: how it ended, and one figure."""

from typing import cast

from routines_app.agents.turn import StepKind
from routines_app.models import Step
from routines_app.rules.money import dollars, lasted
from routines_app.rules.said import limit_words
from routines_app.web.templatetags.words import size

# Of a command that we ended: its exit code is only that of the signal which did it.
_ENDED_BY_US = {
    "output": "ended, it printed too much",
    "oom": "out of memory",
    "disk": "disk full",
    "cancelled": "stopped",
}


# Above what was written for the model, so that whoever reads it knows whom it speaks to.
_TOLD = {
    "wrongly": "The agent called this tool wrongly, and was told:",
    "unwilling": "This wasn’t done, and the agent was told:",
}


def told_words(step: Step) -> str:
    """What stands above a text that the model was told; "" where the text is for anyone."""
    return _TOLD.get(str(step.facts.get("told") or ""), "")


def ended_by_us(step: Step) -> str:
    """Why a command was ended by us: "ended at 2 minutes"; "" for one that ended by itself."""
    reason = str(step.facts.get("reason") or "")
    if reason == "timeout":
        # a check's limit is said in seconds wherever it stands
        check = step.kind == StepKind.CHECK
        return f"ended at {f'{step.seconds:.0f} seconds' if check else limit_words(step.seconds)}"
    return _ENDED_BY_US.get(reason, "")


def note_of(step: Step) -> str:
    """How it ended and how much it was: "exit 2 · 14 lines"."""
    facts: dict[str, object] = step.facts
    code, lines = facts.get("exit_code"), facts.get("lines")
    if facts.get("refused"):
        return "refused"
    parts = []
    interrupted = bool(facts.get("interrupted"))
    shows_code = step.kind == StepKind.CHECK or (step.kind == StepKind.RAN and code != 0)
    if by_us := ended_by_us(step):
        parts.append(by_us)
    elif shows_code and isinstance(code, int):
        parts.append(f"exit {code}")
    status = facts.get("status")
    if step.kind == StepKind.FETCHED and isinstance(status, int) and status >= 400:
        parts.append(f"HTTP {status}")
    if step.kind == StepKind.CHECK:
        parts.append(dollars(step.cost))
    elif step.kind in (StepKind.WROTE, StepKind.EDITED) and isinstance(facts.get("bytes"), int):
        parts.append(_lines_moved(facts) or size(cast(int, facts["bytes"])))
    elif step.kind == StepKind.FINISHED and "changed" in facts:
        parts.append("something changed" if facts["changed"] else "nothing changed")
    elif isinstance(lines, int):
        parts.append(f"{lines:,} line" if lines == 1 else f"{lines:,} lines")
    elif step.kind in (StepKind.RAN, StepKind.WOKE) or step.seconds:
        parts.append(lasted(step.seconds))
    if interrupted:
        parts.append("stopped")
    return " · ".join(parts)


def _lines_moved(facts: dict[str, object]) -> str:
    """What a file has gained and lost: "+2 −1 lines"; empty where that isn't known or is nothing.

    >>> _lines_moved({"added": 18, "removed": 0}), _lines_moved({"added": 0, "removed": 1})
    ('+18 lines', '−1 line')
    """
    added, removed = facts.get("added"), facts.get("removed")
    signed = [f"{sign}{n:,}" for sign, n in (("+", added), ("−", removed)) if n]
    word = "line" if len(signed) == 1 and 1 in (added, removed) else "lines"
    return f"{' '.join(signed)} {word}" if signed else ""
