"""Whether what a person set can be saved."""

import re
from datetime import datetime, timedelta

from accounts.models import Workspace
from machines.models import Machine
from routines_app.configure.content import FieldError, RoutineContent
from routines_app.models import Agent
from routines_app.rules.schedule import validate as validate_schedule

MAX_INSTRUCTIONS = 100_000
MAX_CAP = 1_000_000_000  # $1,000
MAX_TIME = timedelta(hours=6)


def problems(workspace: Workspace, content: RoutineContent, now: datetime) -> list[FieldError]:
    """Everything that stands against saving, each with what to do; empty when nothing does."""
    found: list[FieldError] = []

    def wrong(field: str, sentence: str) -> None:
        found.append(FieldError(field, sentence))

    for problem in validate_schedule(content.schedule, now):
        wrong(problem.field, problem.sentence)
    if not content.name.strip():
        wrong("name", "Give it a name, so that its runs can be told apart.")
    elif len(content.name) > 80:
        wrong("name", "Shorten the name to 80 characters.")
    if not content.instructions.strip():
        wrong("instructions", "Write what it should do.")
    elif len(content.instructions) > MAX_INSTRUCTIONS:
        wrong("instructions", "Shorten the instructions to 100,000 characters.")
    if "\x00" in content.instructions + content.check_command + content.name:
        wrong("instructions", "Take out the NUL character; text can’t hold it.")
    agents = Agent.objects.filter(workspace=workspace, deleted_at__isnull=True)
    if content.agent_id is not None and not agents.filter(pk=content.agent_id).exists():
        wrong("agent", "Choose one of this workspace’s agents.")
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
    return found
