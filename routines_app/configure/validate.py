"""Whether what a person set can be saved."""

import re
from datetime import datetime, timedelta

from accounts.models import Workspace
from billing.models import Account
from billing.plans import Plan, plan_of
from machines.models import Machine
from routines_app.configure.agent_apps import limit_problems
from routines_app.configure.apps import app_problems
from routines_app.configure.content import FieldError, RoutineContent
from routines_app.models import Agent, Routine
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.schedule import Schedule, at_most_once_a_day, smallest_gap
from routines_app.rules.schedule import validate as validate_schedule

MAX_INSTRUCTIONS = 100_000
MAX_CAP = 1_000_000_000  # $1,000
MAX_TIME = timedelta(hours=6)
MOST_QUIET_DAYS = 365


def problems(
    workspace: Workspace,
    content: RoutineContent,
    now: datetime,
    before: RoutineContent | None = None,
) -> list[FieldError]:
    """Everything that stands against saving, each with what to do; empty when nothing does.

    `before` is what the routine is set to now, None for a new one.
    """
    found: list[FieldError] = []

    def wrong(field: str, sentence: str) -> None:
        found.append(FieldError(field, sentence))

    for problem in validate_schedule(content.schedule, now):
        wrong(problem.field, problem.sentence)
    if not found and (too_often := _too_often(workspace, content.schedule, now)):
        found.append(too_often)
    if not content.name.strip():
        wrong("name", "Give it a name, so that its runs can be told apart.")
    elif len(content.name) > 80:
        wrong("name", "Shorten the name to 80 characters.")
    if not content.instructions.strip():
        wrong("instructions", "Write what it should do.")
    elif len(content.instructions) > MAX_INSTRUCTIONS:
        wrong("instructions", "Shorten the instructions to 100,000 characters.")
    if "\x00" in content.instructions + content.check_command + content.name + content.model:
        wrong("instructions", "Take out the NUL character; text can’t hold it.")
    agents = Agent.objects.filter(workspace=workspace, deleted_at__isnull=True)
    if content.agent_id is not None and not agents.filter(pk=content.agent_id).exists():
        wrong("agent", "Choose one of this workspace’s agents.")
    if content.model and content.agent_id is not None:
        wrong("agent", "Choose an agent or a model, not both: an agent brings its own model.")
    elif len(content.model) > 160 or (content.model and "/" not in content.model):
        wrong("agent", "Name the model as provider/model, such as anthropic/claude-sonnet-5-5.")
    if content.quiet_days is not None and not 0 <= content.quiet_days <= MOST_QUIET_DAYS:
        wrong("quiet_days", "Choose from 1 to 365 days, or 0 for never.")
    machines = Machine.objects.filter(workspace=workspace, deleted_at__isnull=True)
    if content.machine_id is None or not machines.filter(pk=content.machine_id).exists():
        wrong("machine", "Choose one of this workspace’s machines.")
    if not 0 <= content.cap <= MAX_CAP:
        wrong("cap", "Write an amount from $0.00 to $1,000.00.")
    if not timedelta(minutes=1) <= content.time_limit <= MAX_TIME:
        wrong("time_limit", "Choose from 1 to 360 minutes.")
    if not 1 <= content.step_limit <= 1_000:
        wrong("step_limit", "Choose from 1 to 1,000 steps.")
    if content.conversation not in ("fresh", "continued"):
        wrong("conversation", "Choose whether it starts fresh each time.")
    if content.notify not in ("change", "every", "failure"):
        wrong("notify", "Choose when you want to be told.")
    if content.folder and not re.fullmatch(
        r"(~|~/[^\x00\n]*|[^/~\x00\n][^\x00\n]*)", content.folder
    ):
        wrong("folder", "Write a folder beneath home, such as ~/my-repository.")
    if len(content.folder) > 300:
        wrong("folder", "Shorten the folder to 300 characters.")
    if len(content.check_command) > 10_000:
        wrong("check_command", "Shorten the check to 10,000 characters.")
    found += app_problems(workspace, content.apps, before.apps if before else ())
    return found + limit_problems(workspace, content, before)


def name_problem(
    workspace: Workspace, name: str, routine: Routine | None = None
) -> list[FieldError]:
    """Whether another routine here is called so: bell, statement and list tell runs by the name.

    Capitals and spaces don't tell two names apart. A routine that keeps its own name may.
    """
    if routine is not None and _plain(routine.name) == _plain(name):
        return []
    if not name.strip() or _plain(name) not in _taken(workspace):
        return []
    said = f"Another routine here is called {name.strip()}. Choose another name."
    return [FieldError("name", said)]


def free_name(workspace: Workspace, name: str) -> str:
    """This name, or the first of "name 2", "name 3" that no routine here has."""
    taken, number, candidate = _taken(workspace), 1, name
    while _plain(candidate) in taken:
        number += 1
        candidate = f"{name} {number}"
    return candidate


def _taken(workspace: Workspace) -> set[str]:
    here = Routine.objects.filter(workspace=workspace, deleted_at__isnull=True)
    return {_plain(name) for name in here.values_list("name", flat=True)}


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _too_often(workspace: Workspace, schedule: Schedule, now: datetime) -> FieldError | None:
    """What the workspace's plan has against the schedule, by its smallest gap in the next year."""
    account = Account.objects.filter(workspace=workspace).first()
    plan = plan_of(account.plan if account else "self-hosted")
    if plan.smallest_gap is None or schedule.kind in (ScheduleKind.ONCE, ScheduleKind.WHEN_ASKED):
        return None
    field = _OFTEN.get(schedule.kind, "times")
    if plan.runs_a_day == 1:
        if at_most_once_a_day(schedule, now):
            return None
        return FieldError(
            field, f"{plan.title} runs a routine once a day. Choose one time a day, or change plan."
        )
    gap = smallest_gap(schedule, now)
    if gap is None or gap >= plan.smallest_gap:
        return None
    return FieldError(field, _as_often_as(plan, plan.smallest_gap))


_OFTEN = {
    ScheduleKind.HOURLY: "every",
    ScheduleKind.EVERY_HOURS: "every",
    ScheduleKind.EVERY_MINUTES: "every",
    ScheduleKind.CRON: "expressions",
}


def _as_often_as(plan: Plan, gap: timedelta) -> str:
    minutes = f"{int(gap.total_seconds() // 60)} minutes"
    return (
        f"{plan.title} can run as often as every {minutes}. "
        f"Choose {minutes} or longer, or change plan."
    )
