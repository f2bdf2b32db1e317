"""What a person may set of a routine, as one value."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from routines_app.models import Routine
from routines_app.models.routine import DEFAULT_CAP
from routines_app.rules.chosen import Choice
from routines_app.rules.schedule import Schedule, from_json, to_json


@dataclass(frozen=True)
class FieldError:
    """What is wrong with one field, and what to do about it."""

    field: str
    sentence: str


@dataclass(frozen=True)
class Refused:
    """Nothing was changed; every reason is told at once."""

    errors: list[FieldError] = field(default_factory=list)


@dataclass(frozen=True)
class AppUse:
    """An app that a routine may use, by its slug; `required`: without it, no run begins.

    `tools`: the names of those of its tools that it may use; None: all, also those of later.
    """

    app: str
    required: bool
    tools: Choice = None

    def __post_init__(self) -> None:
        """Each tool once, in the order of names, so that equal choices are equal."""
        if self.tools is not None:
            object.__setattr__(self, "tools", tuple(sorted(set(self.tools))))


@dataclass(frozen=True)
class RoutineContent:
    """All that an edit sets. `cap` in micro-dollars; `folder` empty means the routine's own.

    `agent_id` and `machine_id` are of the same workspace. `model` is `provider/model`: the product
    itself on that model, with no agent named. With neither, Assistant works out who is needed.
    `quiet_days` is after how many days without anything useful somebody is told; None: after ten
    due times, 0: never. `apps` are the apps that it may use, each at most once.
    """

    name: str
    instructions: str
    agent_id: int | None
    machine_id: int | None
    schedule: Schedule
    folder: str = ""
    check_command: str = ""
    cap: int = DEFAULT_CAP
    time_limit: timedelta = timedelta(minutes=20)
    step_limit: int = 100
    conversation: str = "fresh"
    notify: str = "change"
    model: str = ""
    quiet_days: int | None = None
    apps: tuple[AppUse, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """What a version keeps."""
        return {
            "name": self.name,
            "instructions": self.instructions,
            "agent_id": self.agent_id,
            "machine_id": self.machine_id,
            "schedule": to_json(self.schedule),
            "folder": self.folder,
            "check_command": self.check_command,
            "cap": self.cap,
            "time_limit": int(self.time_limit.total_seconds()),
            "step_limit": self.step_limit,
            "conversation": self.conversation,
            "notify": self.notify,
            "model": self.model,
            "quiet_days": self.quiet_days,
            "apps": apps_json(self.apps),
        }


def content_from_json(kept: Mapping[str, Any]) -> RoutineContent:
    """The content that a version keeps, as `as_json` wrote it."""
    return RoutineContent(
        **{
            **kept,
            "apps": apps_of(kept.get("apps", ())),
            "schedule": from_json(kept["schedule"]),
            "time_limit": timedelta(seconds=kept["time_limit"]),
        }
    )


def content_of(routine: Routine) -> RoutineContent:
    """What a routine is set to now."""
    return RoutineContent(
        name=routine.name,
        instructions=routine.instructions,
        agent_id=routine.agent_id,
        machine_id=routine.machine_id,
        schedule=routine.schedule,
        folder=routine.folder,
        check_command=routine.check_command,
        cap=routine.cap,
        time_limit=routine.time_limit,
        step_limit=routine.step_limit,
        conversation=routine.conversation,
        notify=routine.notify,
        model=routine.model,
        quiet_days=routine.quiet_days,
        apps=apps_of(routine.apps),
    )


def apps_json(apps: Iterable[AppUse]) -> list[dict[str, object]]:
    """Uses of apps as rows keep them, always in one order."""
    kept = sorted(apps, key=lambda use: use.app)
    return [
        {"app": use.app, "required": use.required}
        | ({} if use.tools is None else {"tools": list(use.tools)})
        for use in kept
    ]


def apps_of(kept: Iterable[Mapping[str, Any]]) -> tuple[AppUse, ...]:
    """The uses of apps that a row keeps, as `apps_json` wrote them."""
    return tuple(AppUse(each["app"], each["required"], each.get("tools")) for each in kept)
