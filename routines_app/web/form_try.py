"""Trying the check from the form: the button beside it, and what came of it.

With script the answer is asked for until it is there; without, the page waits a few seconds for it
and then offers to look again. Nothing typed is lost either way.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from accounts.models import Role
from foundation import clock
from machines.lifecycle import MachineState
from routines_app.configure.check_try import (
    LONGEST_SECONDS,
    CheckTry,
    NotAsked,
    Stage,
    ask_to_try,
    the_try,
)
from routines_app.configure.content import FieldError
from routines_app.models import Routine
from routines_app.rules.check_tried import Tried
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.form_controls import Roster, roster_of
from routines_app.web.form_state import FormState, typed

WAITED_SECONDS = 3.0  # by a page without script, before it offers to look again
HOME = "~"


@dataclass(frozen=True)
class ShownTry:
    """A try as the form shows it: a sentence, and with an answer what the exit means.

    `key` is empty when nothing was begun. `seconds`: how long it has been waited for.
    """

    key: str
    said: str
    waiting: bool = False
    seconds: int = 0
    command: str = ""
    place: str = ""
    output: str = ""
    cut: bool = False
    tried: Tried | None = None


def shown_try(request: WorkspaceRequest, state: FormState, roster: Roster) -> ShownTry | None:
    """The try that the form carries, while its command and machine are still those of the form."""
    if not state.tried:
        return None
    asked = the_try(state.tried, request.workspace.pk)
    if asked is None or not _still_that(asked, state):
        return None
    machine = roster.machine(state.machine)
    return _shown(asked, machine is not None and machine.state == MachineState.AWAKE)


def _still_that(asked: CheckTry, state: FormState) -> bool:
    same_command = asked.command == state.check_command.strip()
    return same_command and str(asked.machine_id) == state.machine


def problem_of_try(request: WorkspaceRequest, state: FormState) -> list[FieldError]:
    """What a try of this very check has shown to be wrong with it: then it isn't saved."""
    asked = the_try(state.tried, request.workspace.pk) if state.tried else None
    if asked is None or asked.tried is None or not _still_that(asked, state):
        return []
    problem = asked.tried.problem
    return [FieldError("check_command", problem)] if problem else []


def begin_try(
    request: WorkspaceRequest, state: FormState, roster: Roster, routine: Routine | None
) -> CheckTry | NotAsked:
    """Ask a runner to try what the form says now."""
    machine = roster.machine(state.machine)
    if machine is None:
        return NotAsked("Choose one of this workspace’s machines first.")
    folder = state.folder.strip() or (routine.memory_folder if routine else HOME)
    return ask_to_try(request.workspace, request.user, machine, state.check_command, folder)


def _going_on(request: WorkspaceRequest, state: FormState) -> CheckTry | None:
    """The try of this very check that has no answer yet, or that the button only looks for."""
    begun = the_try(state.tried, request.workspace.pk) if state.tried else None
    if begun is None or not _still_that(begun, state):
        return None
    return begun if not begun.over or request.POST.get("then") == "look" else None


def try_and_wait(
    request: WorkspaceRequest, state: FormState, roster: Roster, routine: Routine | None
) -> CheckTry | NotAsked:
    """For a page without script: begin, or go on waiting for what was begun; for seconds, then the
    page is shown as it is."""
    asked = _going_on(request, state) or begin_try(request, state, roster, routine)
    until = clock.monotonic() + WAITED_SECONDS
    while isinstance(asked, CheckTry) and not asked.over and clock.monotonic() < until:
        time.sleep(0.1)
        asked = the_try(asked.key, request.workspace.pk) or asked
    return asked


def routine_sent(request: WorkspaceRequest) -> Routine | None:
    """The routine that a part of the form belongs to; None for a new one."""
    slug = request.POST.get("routine", "")
    if not re.fullmatch(r"[-\w]{1,80}", slug, re.ASCII):
        return None
    return request.workspace.routines.filter(slug=slug, deleted_at__isnull=True).first()


@in_workspace(Role.MEMBER)
@require_POST
def check_try(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Begin to try the check; the part of the form that shows how far it is."""
    roster = roster_of(request.workspace)
    state = typed(request.POST, FormState())
    asked = _going_on(request, state) or begin_try(request, state, roster, routine_sent(request))
    if isinstance(asked, NotAsked):
        return _fragment(request, ShownTry("", asked.sentence))
    machine = roster.machine(state.machine)
    awake = machine is not None and machine.state == MachineState.AWAKE
    return _fragment(request, _shown(the_try(asked.key) or asked, awake))


@in_workspace(Role.MEMBER)
@require_GET
def check_tried(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """How far a try is; asked again by the page until there is an answer."""
    asked = the_try(str(key), request.workspace.pk)
    if asked is None:
        return _fragment(request, ShownTry("", "That try is forgotten. Try it again."))
    return _fragment(request, _shown(asked, awake=True))


def _fragment(request: WorkspaceRequest, shown: ShownTry) -> HttpResponse:
    context: dict[str, Any] = {"try": shown, "swapped": True}
    return render(request, "routines/partials/tried.html", context)


def _shown(asked: CheckTry, awake: bool) -> ShownTry:
    waited = int(clock.now().timestamp() - asked.asked_at)
    homeless = asked.folder == HOME
    place = "the home folder, ~/, until it has one of its own" if homeless else asked.folder
    shown = ShownTry(
        asked.key,
        "",
        seconds=max(waited, 0),
        command=asked.command,
        place=place,
        output=asked.output.strip("\n"),
        cut=asked.cut,
    )
    match asked.stage:
        case Stage.DONE:
            tried = asked.tried
            assert tried is not None  # a try that is done has an exit
            return _with(shown, f"{tried.ended}: {tried.said}.", tried)
        case Stage.REFUSED:
            return ShownTry(asked.key, asked.why_not)
    if waited > LONGEST_SECONDS:
        why = "No runner has answered. Is one running? Try it again in a moment."
        return ShownTry(asked.key, why)
    wakes = asked.stage is Stage.WAKING or (asked.stage is Stage.ASKED and not awake)
    return _with(shown, f"{'Waking' if wakes else 'Trying it on'} {asked.machine}…")


def _with(shown: ShownTry, said: str, tried: Tried | None = None) -> ShownTry:
    return replace(shown, said=said, tried=tried, waiting=tried is None)
