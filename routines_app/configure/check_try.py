"""Trying a check from the form, before anything is saved: asked for here, done by a runner.

It is no fire. There may be no routine yet, and a try counts towards nothing: no row, no number, no
streak, no quota, no cost. What was asked and what came of it are kept in the cache for minutes.
"""

import uuid
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Literal

import structlog
from celery import current_app
from django.core.cache import cache
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from accounts.models import User, Workspace
from foundation import clock
from machines.models import Machine
from routines_app.rules.check import CHECK_SECONDS
from routines_app.rules.check_tried import Tried, what_it_means

log = structlog.get_logger()

KEPT_SECONDS = 900
LONGEST_SECONDS = CHECK_SECONDS + 180 + 30  # a check, a wake, and a little for a busy runner
MOST_SHOWN = 4_000  # characters of what it printed


class Stage(StrEnum):
    """How far a try is."""

    ASKED = "asked"
    WAKING = "waking"
    CHECKING = "checking"
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True)
class CheckTry:
    """One try. `folder` is where it starts, `asked_at` Unix seconds. Once REFUSED, `why_not` says
    why there is no exit.

    `output` is what it printed, both ways, cut to its last MOST_SHOWN characters; `cut` says so.
    """

    key: str
    workspace_id: int
    machine_id: int
    machine: str
    person: str
    command: str
    folder: str
    asked_at: float
    stage: Stage = Stage.ASKED
    why_not: str = ""
    exit_code: int = 0
    reason: Literal["exit", "timeout", "output", "oom", "disk", "cancelled"] = "exit"
    output: str = ""
    stderr: str = ""
    cut: bool = False
    seconds: float = 0.0

    @property
    def over(self) -> bool:
        """Whether there is an answer."""
        return self.stage in (Stage.DONE, Stage.REFUSED)

    @property
    def tried(self) -> Tried | None:
        """What its exit means; None while there is none."""
        if self.stage is not Stage.DONE:
            return None
        return what_it_means(
            self.machine, self.exit_code, self.reason, self.output, self.stderr, self.seconds
        )


@dataclass(frozen=True)
class NotAsked:
    """Nothing was begun; the sentence says why and what to do."""

    sentence: str


def ask_to_try(
    workspace: Workspace, person: User, machine: Machine, command: str, folder: str
) -> CheckTry | NotAsked:
    """Have a runner try this command on this machine; one at a time in a workspace."""
    command = command.strip()
    if not command:
        return NotAsked("Write the command that should be tried.")
    if "\x00" in command + folder or len(command) > 10_000 or len(folder) > 300:
        return NotAsked("Shorten the command; it can’t be tried like this.")
    paused = why_paused(workspace.pk)
    if paused:
        return NotAsked(paused)
    asked = CheckTry(
        str(uuid.uuid4()),
        workspace.pk,
        machine.pk,
        machine.name,
        str(person),
        command,
        folder,
        clock.now().timestamp(),
    )
    try:
        if not cache.add(_turn_of(workspace.pk), asked.key, LONGEST_SECONDS):
            return NotAsked("Another check is being tried here. Try yours when it has ended.")
        _keep(asked)
        current_app.send_task("routines_app.tasks.try_check", [asked.key], expires=LONGEST_SECONDS)
    except (OperationalError, RedisError) as error:
        log.warning("try_not_asked", error=str(error))
        _end_turn(asked)
        return NotAsked("No runner could be asked just now. Try it again in a moment.")
    return asked


def why_paused(workspace_id: int) -> str:
    """Why nothing is tried in this workspace now; empty when it isn't paused."""
    if not Workspace.objects.filter(pk=workspace_id, paused_at__isnull=False).exists():
        return ""
    return (
        "Everything is paused, so no machine is woken to try it. "
        "It can be tried once Settings turn it back on."
    )


def the_try(key: str, workspace_id: int | None = None) -> CheckTry | None:
    """The try of this key; None when it is forgotten, or another workspace's."""
    try:
        kept: dict[str, Any] | None = cache.get(_place_of(key)) if _is_key(key) else None
    except RedisError as error:
        log.warning("try_not_read", error=str(error))
        return None
    if kept is None or (workspace_id is not None and kept["workspace_id"] != workspace_id):
        return None
    return CheckTry(**{**kept, "stage": Stage(kept["stage"])})


def reached(asked: CheckTry, stage: Stage, **found: Any) -> CheckTry:
    """Note how far a try is; with its last stage the workspace may try another."""
    now = replace(asked, stage=stage, **found)
    _keep(now)
    if now.over:
        _end_turn(now)
    return now


def _is_key(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def _keep(asked: CheckTry) -> None:
    cache.set(_place_of(asked.key), asdict(asked), KEPT_SECONDS)


def _end_turn(asked: CheckTry) -> None:
    try:
        if cache.get(_turn_of(asked.workspace_id)) == asked.key:
            cache.delete(_turn_of(asked.workspace_id))
    except RedisError as error:
        log.warning("try_not_ended", error=str(error))  # it ends by itself


def _place_of(key: str) -> str:
    return f"check-try:{key}"


def _turn_of(workspace_id: int) -> str:
    return f"check-try-turn:{workspace_id}"
