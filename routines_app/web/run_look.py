"""What is certain and what isn't of a run that was broken off, so that nobody has to guess.

An ended step happened once. What was begun and not ended may have happened or not.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from routines_app.agents.turn import StepKind
from routines_app.models import Run, Step
from routines_app.rules.status import RunStatus
from routines_app.web.step_note import ended_by_us

NAMED = 3  # things of one kind, before the rest are counted
BROKEN_OFF = (RunStatus.FAIL_RESTART, RunStatus.STOP_PERSON, RunStatus.STOP_DELETED)


@dataclass(frozen=True)
class ToLookAt:
    """Two lists of sentences, each with what follows from it ("" for nothing)."""

    certain: list[str]
    not_certain: list[tuple[str, str]]


def to_look_at(run: Run, steps: Iterable[Step]) -> ToLookAt | None:
    """What a run that was broken off did for certain, and what it may have done; None for one
    that came to its own end."""
    if run.status not in BROKEN_OFF:
        return None
    if run.effects_begun_at is None:
        return ToLookAt(["Nothing had begun, so nothing was changed."], [])
    steps = list(steps)
    open_steps = [step for step in steps if is_open(step)]
    ended = [step for step in steps if not is_open(step)]
    certain = [*_wrote(ended), *_ran(ended)]
    if not certain and not open_steps:
        certain = ["It changed nothing that we know of."]
    return ToLookAt(certain or ["No step had ended."], [_unknown(step) for step in open_steps])


def is_open(step: Step) -> bool:
    """Whether nobody knows how the step ended."""
    return step.facts.get("outcome") == "unknown" or bool(step.facts.get("interrupted"))


def _wrote(ended: list[Step]) -> list[str]:
    paths = list(dict.fromkeys(step.title for step in ended if step.kind == StepKind.WROTE))
    if not paths:
        return []
    return [f"{_listed(paths, 'file')} {'was' if len(paths) == 1 else 'were'} written."]


def _ran(ended: list[Step]) -> list[str]:
    commands = [step for step in ended if step.kind == StepKind.RAN]
    if len(commands) > NAMED:
        return [f"{len(commands):,} commands ran, each once, and ended."]
    return [f"“{step.title}” ran, once{_exit(step)}." for step in commands]


def _exit(step: Step) -> str:
    if by_us := ended_by_us(step):
        return f": {by_us}"
    code = step.facts.get("exit_code")
    return f", and ended with exit {code}" if isinstance(code, int) and code else ""


def _unknown(step: Step) -> tuple[str, str]:
    match step.kind:
        case StepKind.WROTE:
            return (
                f"Whether {step.title} was written.",
                "It was begun once. Open it before you rely on it.",
            )
        case StepKind.READ | StepKind.LISTED:
            return f"Whether {step.title} was read.", "Reading changes nothing."
        case StepKind.RAN | StepKind.CHECK:
            return (
                f"How far “{step.title}” got.",
                "It was begun once and isn’t begun again by itself.",
            )
        case _:
            return "Whether its last request to the model was answered.", "Nothing else hung on it."


def _listed(names: list[str], noun: str) -> str:
    if len(names) <= NAMED:
        *others, last = names
        return f"{', '.join(others)} and {last}" if others else last
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more {noun}s"
