"""One run of the story, brought to its row by the runner's own functions."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from routines_app.agents.turn import StepKind, Usage
from routines_app.management.demo.outcomes import Outcome
from routines_app.management.demo.papers import left_by, memory_change
from routines_app.management.demo.played import Played
from routines_app.management.demo.transcript import Work
from routines_app.models import Step
from routines_app.rules.status import RunStatus
from routines_app.runner.ending import Ending


@dataclass(frozen=True)
class Course:
    """When what happens in a run that began at `began`; `turn` is when the check was over."""

    began: datetime
    awake: datetime
    turn: datetime
    ended: datetime


def course_of(outcome: Outcome, began: datetime, now: datetime) -> Course:
    """The run's times, which are cut to fit where there is too little time left until `now`."""
    check = outcome.check.seconds if outcome.check else 0.0
    room = (now - began).total_seconds() - 1.5
    whole = outcome.wake + check + outcome.seconds + 0.2
    pace = min(1.0, room / whole) if room > 0 else 0.01
    awake = began + timedelta(seconds=outcome.wake * pace)
    turn = awake + timedelta(seconds=check * pace)
    return Course(began, awake, turn, turn + timedelta(seconds=outcome.seconds * pace + 0.1))


def takes_a_turn(outcome: Outcome) -> bool:
    """Whether the agent was reached."""
    return outcome.check is None or outcome.check.code == 0


def steps_of(run_id: int, machine: str, check: str, outcome: Outcome, at: Course) -> list[Step]:
    """The run's transcript as rows; `check` is the command."""
    steps = [
        Step(
            kind=StepKind.WOKE,
            title=machine,
            seconds=round(outcome.wake, 3),
            facts={"already": outcome.wake < 0.1},
            at=at.awake,
        )
    ]
    if outcome.check is not None:
        steps.append(
            Step(
                kind=StepKind.CHECK,
                title=check,
                content=outcome.check.output,
                seconds=round(outcome.check.seconds, 3),
                facts={"exit_code": outcome.check.code, "reason": "exit"},
                at=at.turn,
            )
        )
    if takes_a_turn(outcome):
        steps += _turn_steps(outcome.work, at)
    for number, step in enumerate(steps, 1):
        step.run_id, step.number = run_id, number
    return steps


def _turn_steps(work: Work, at: Course) -> list[Step]:
    whole = sum(line.seconds for line in work.lines) or 1.0
    length = (at.ended - at.turn).total_seconds()
    found, gone = [], 0.0
    for line in work.lines:
        gone += line.seconds
        found.append(
            Step(
                kind=line.kind,
                title=line.title[:500],
                content=line.content,
                cost=line.cost,
                seconds=round(line.seconds * length / whole, 3),
                facts=line.facts,
                at=at.turn + timedelta(seconds=length * gone / whole),
            )
        )
    return found


def ending_of(played: Played, outcome: Outcome, ended: datetime) -> Ending:
    """What the run's row is to say; the routine's memory and folder take what the turn left."""
    work, facts, status = outcome.work, dict(outcome.facts), outcome.status
    if status is RunStatus.DONE_UNCHANGED and played.completed_at is not None:
        facts["since"] = played.completed_at.isoformat()
    memory = played.memory
    if status.completed:
        played.completed_at = ended
        played.remember(work.remember)
    lines = work.lines if takes_a_turn(outcome) else ()
    changes = left_by(work.files, played.folder) if lines else []
    changes += memory_change(memory, played.memory)
    if lines:
        facts["files_changed"] = len(changes) + work.more
    return Ending(
        status,
        facts,
        headline=work.headline if status is RunStatus.DONE_CHANGED else "",
        body=work.body,
        changed=work.changed if status.completed else None,
        spent=sum(line.cost for line in lines),
        usage=Usage(
            input_tokens=sum(line.read for line in lines),
            output_tokens=sum(line.written for line in lines),
            requests=sum(line.read > 0 for line in lines),
        ),
        state_after=played.memory,
        changes=tuple(changes),
        ours=outcome.ours,
    )
