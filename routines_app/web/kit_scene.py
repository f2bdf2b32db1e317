"""A workspace for the kit page, in which every status that a run can have has happened.

It is made in a transaction that is rolled back once the page is drawn: nothing of it is kept.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.join import found_workspace
from accounts.models import User, Workspace
from routines_app.agents.turn import StepKind
from routines_app.configure.workspace import furnish
from routines_app.models import Fire, Routine, Run
from routines_app.rules.status import FINAL_STATUSES, OPEN_STATUSES, RunStatus

# What sentences are made of; each takes what it needs.
FACTS = {
    "command": "git diff --quiet",
    "exit_code": 127,
    "check_seconds": 0.4,
    "last_line": "No such file: prices.csv",
    "doing": "reading a contract",
    "limit_seconds": 1200.0,
    "files_changed": 2,
    "plan": "Pro",
    "left": 310_000,
    "amount": 500_000,
}
REASONS = {
    RunStatus.SKIP_WAKE_REFUSED: "both of the plan’s machines were awake",
    RunStatus.SKIP_NO_MODEL: "no key is connected",
}
HEADLINE = "Four sheets are up to date, and one price moved."


@dataclass(frozen=True)
class Scene:
    """The workspace, its owner, and a run of each status."""

    person: User
    workspace: Workspace
    ended: Routine
    runs: dict[RunStatus, Run]


def set_scene(now: datetime) -> Scene:
    """Make all of it; call it inside a transaction that will be rolled back."""
    person = User.objects.create(email="kit@example.org", name="Ada Byron", zone="UTC")
    workspace = found_workspace(person, "UTC")
    furnish(workspace, person)
    ended = _routine(workspace, person, "Every ending", now)
    runs = {}
    for place, status in enumerate(FINAL_STATUSES):
        at = now - timedelta(minutes=7 * (len(FINAL_STATUSES) - place))
        runs[status] = _run(ended, status, at)
    for status in OPEN_STATUSES:
        live = _routine(workspace, person, f"One that is {status}", now)
        runs[status] = _run(live, status, now - timedelta(seconds=95))
    _routine(workspace, person, "Not turned on yet", now, enabled=False, off_reason="never_on")
    broken = _routine(
        workspace, person, "Turned itself off", now,
        enabled=False, off_reason="failures", off_at=now,
    )  # fmt: skip
    _run(broken, RunStatus.FAIL_SCRIPT, now - timedelta(hours=1))
    return Scene(person, workspace, ended, runs)


def _routine(
    workspace: Workspace, person: User, name: str, now: datetime, **fields: object
) -> Routine:
    on = {"enabled": True, "next_fire_at": now + timedelta(hours=2)}
    return Routine.objects.create(
        workspace=workspace,
        owner=person,
        name=name,
        slug=name.lower().replace(" ", "-").replace("_", "-"),
        instructions="make report",
        check_command="git diff --quiet",
        schedule_kind="daily",
        schedule_values={"times": ["8:00"]},
        expressions=["0 8 * * *"],
        agent=workspace.agents.first(),
        machine=workspace.machines.first(),
        **(fields or on),
    )


def _run(routine: Routine, status: RunStatus, at: datetime) -> Run:
    ended = at + timedelta(seconds=63) if status.final else None
    began = not status.refused and status is not RunStatus.QUEUED
    number = routine.runs.count() + 1
    fire = Fire.objects.create(
        routine=routine,
        workspace=routine.workspace,
        source="timer",
        dedup_key=f"kit {number}",
        due_at=at,
        requested_at=at,
        closed_at=ended,
    )
    run = Run.objects.create(
        fire=fire,
        routine=routine,
        workspace=routine.workspace,
        machine=routine.machine,
        number=number,
        status=status,
        queued_at=at,
        waking_at=at if began else None,
        effects_begun_at=at if began else None,
        finished_at=ended,
        spent=140_000 if began and status is not RunStatus.NOTHING_TO_DO else 0,
        headline=HEADLINE if status is RunStatus.DONE_CHANGED else "",
        facts=FACTS | ({"reason": REASONS[status]} if status in REASONS else {}),
        snapshot={"cap": routine.cap, "agent": "Assistant"},
        stop_asked_at=at if status is RunStatus.STOPPING else None,
        stop_asked_by=routine.owner if "stop" in status else None,
    )
    if began:
        run.steps.create(number=1, kind=StepKind.RAN, title="make report", content="ok\n", at=at)
    return run
