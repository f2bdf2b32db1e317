"""The one way to make and change a routine, for pages, REST and MCP alike."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.text import slugify

from accounts.models import User, Workspace
from foundation import database_clock
from machines.lifecycle import MachineState
from routines_app.admission.restoring import bring_back
from routines_app.configure.content import (
    FieldError,
    Refused,
    RoutineContent,
    apps_json,
    content_of,
)
from routines_app.configure.next_fire import set_next_fire
from routines_app.configure.validate import name_problem, problems
from routines_app.fires.owed import note_on_span, settle_due
from routines_app.fires.withdraw import withdraw_fires
from routines_app.models import Routine, RoutineTotals, RoutineVersion, Run
from routines_app.rules.schedule import expressions
from routines_app.rules.status import LIVE_STATUSES, RunStatus

_RESERVED_SLUGS = {"new", "schedule"}


@dataclass(frozen=True)
class Configured:
    """Saved. `changed` False when nothing differed, and no version was made."""

    routine: Routine
    changed: bool


@dataclass(frozen=True)
class ChangedMeanwhile:
    """Somebody saved another version since the form was opened; nothing of ours was saved."""

    by: str
    at: datetime
    theirs: RoutineContent
    version: int


@dataclass(frozen=True)
class RunIsLive:
    """A run is going on: the routine can't be changed until it ends."""

    run: Run


def create_routine(
    workspace: Workspace,
    person: User,
    content: RoutineContent,
    *,
    turn_on: bool,
    starter: str = "",
) -> Routine | Refused:
    """Make a routine, off or on, or say everything that stands against it."""
    now = database_clock.now()
    errors = problems(workspace, content, now) + name_problem(workspace, content.name)
    if errors:
        return Refused(errors)
    with transaction.atomic():
        # The workspace's row is held, so that no two take one name, or one slug, at once.
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        taken = name_problem(workspace, content.name)
        if taken:
            return Refused(taken)
        routine = Routine(
            workspace=workspace,
            owner=person,
            slug=_free_slug(workspace, content.name),
            starter=starter,
            enabled=turn_on,
            off_reason="" if turn_on else "never_on",
        )
        _fill(routine, content)
        routine.evaluated_until = now
        set_next_fire(routine, now)
        routine.save()
        RoutineTotals.objects.create(routine=routine)
        _keep_version(routine, person, now, content)
        note_on_span(routine, now)
    _warm_up(routine)
    return routine


def configure_routine(
    routine: Routine, person: User, version: int, content: RoutineContent
) -> Configured | Refused | ChangedMeanwhile | RunIsLive:
    """Change a routine that is at `version`. What was typed is the caller's to keep."""
    now = database_clock.now()
    with transaction.atomic():
        # Names are told apart under the workspace's row; no key of it changes, so a scan that holds
        # the routine and refers to the workspace isn't in the way.
        Workspace.objects.select_for_update(no_key=True).get(pk=routine.workspace_id)
        held = Routine.objects.select_for_update().get(pk=routine.pk)
        if held.version != version:
            theirs = held.versions.select_related("changed_by").get(number=held.version)
            return ChangedMeanwhile(
                str(theirs.changed_by or "somebody"),
                theirs.changed_at,
                content_of(held),
                held.version,
            )
        live = Run.objects.filter(routine=held, status__in=LIVE_STATUSES).first()
        if live is not None:
            return RunIsLive(live)
        before = content_of(held)
        errors = problems(held.workspace, content, now, before)
        errors += name_problem(held.workspace, content.name, held)
        if errors:
            return Refused(errors)
        if before.as_json() == content.as_json():
            return Configured(held, changed=False)
        if before.schedule != content.schedule:
            settle_due(held, now)
        _fill(held, content)
        held.version += 1
        if before.schedule != content.schedule:
            held.schedule_version += 1
            set_next_fire(held, now)
        held.save()
        _keep_version(held, person, now, content)
        note_on_span(held, now)
        # what the old schedule asked for and nobody has begun won't come any more
        withdraw_fires(held, RunStatus.SKIP_CHANGED, {}, before=held.schedule_version)
    _warm_up(held)
    return Configured(held, changed=True)


def turn_on(routine: Routine, person: User) -> Routine | Refused:
    """Let the schedule fire, or say why nothing would come; what was missed isn't made up."""
    now = database_clock.now()
    with transaction.atomic():
        held = Routine.objects.select_for_update().get(pk=routine.pk)
        content = content_of(held)
        errors = problems(held.workspace, content, now, content)
        if errors:
            return Refused(errors)
        if not held.enabled:
            held.enabled = True
            held.off_reason, held.off_by, held.off_at = "", None, None
            held.streak = 0
            held.evaluated_until = max(now, held.evaluated_until or now)
            set_next_fire(held, now)
            held.save()
            note_on_span(held, now)
    _warm_up(held)
    return held


def turn_off(routine: Routine, person: User) -> Routine:
    """Stop the schedule. What waits or runs goes on; turning off twice keeps who did it first."""
    now = database_clock.now()
    with transaction.atomic():
        held = Routine.objects.select_for_update().get(pk=routine.pk)
        settle_due(held, now)
        if held.enabled:
            held.enabled = False
            held.off_reason, held.off_by, held.off_at = "person", person, now
            held.next_fire_at = None
            held.save()
            note_on_span(held, now)
    return held


def _warm_up(routine: Routine) -> None:
    """Have the machine of a routine that is on brought back from cold storage."""
    machine = routine.machine
    if routine.enabled and machine is not None and machine.state == MachineState.ARCHIVED:
        bring_back(machine, routine.name)
        machine.refresh_from_db()


def _fill(routine: Routine, content: RoutineContent) -> None:
    routine.name = content.name.strip()
    routine.instructions = content.instructions
    routine.agent_id, routine.model = content.agent_id, content.model
    routine.machine_id = content.machine_id
    routine.folder = content.folder.rstrip("/") if content.folder != "/" else ""
    routine.check_command = content.check_command.strip()
    routine.apps = apps_json(content.apps)
    routine.schedule_kind = content.schedule.kind.value
    routine.schedule_values = dict(content.schedule.values)
    routine.zone = content.schedule.zone
    routine.expressions = list(expressions(content.schedule))
    routine.cap = content.cap
    routine.time_limit = content.time_limit
    routine.step_limit = content.step_limit
    routine.conversation = content.conversation
    routine.notify, routine.quiet_days = content.notify, content.quiet_days


def _keep_version(routine: Routine, person: User, now: datetime, content: RoutineContent) -> None:
    RoutineVersion.objects.create(
        routine=routine,
        number=routine.version,
        content=content.as_json(),
        changed_by=person,
        changed_at=now,
    )


def _free_slug(workspace: Workspace, name: str) -> str:
    """A slug that no routine of the workspace has or had: it names a folder for good."""
    base = slugify(name)[:50].strip("-") or "routine"
    taken = set(
        Routine.objects.filter(workspace=workspace, slug__startswith=base).values_list(
            "slug", flat=True
        )
    )
    candidate, number = base, 2
    while candidate in taken or candidate in _RESERVED_SLUGS:
        candidate = f"{base}-{number}"
        number += 1
    return candidate


__all__ = [
    "ChangedMeanwhile",
    "Configured",
    "FieldError",
    "Refused",
    "RoutineContent",
    "RunIsLive",
    "configure_routine",
    "content_of",
    "create_routine",
    "turn_off",
    "turn_on",
]
