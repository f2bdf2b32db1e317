"""The form's page: what fills it at first, and all that its parts need."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog
from django.core.cache import cache
from django.http import HttpResponse
from django.shortcuts import redirect, render
from redis.exceptions import RedisError

from accounts.models import Workspace
from foundation import clock
from routines_app.configure.content import FieldError
from routines_app.configure.models import (
    NONE_CONNECTED,
    Unusable,
    UsableModel,
    assistant_of,
    model_of_agent,
    named_model,
    usable_models,
)
from routines_app.configure.validate import free_name
from routines_app.models import Agent, AgentRuntime, Routine
from routines_app.producers.manual import run_it_now
from routines_app.rules.status import LIVE_STATUSES
from routines_app.web.access import WorkspaceRequest
from routines_app.web.conversation import conversation_of
from routines_app.web.form_apps import apps_offered
from routines_app.web.form_controls import Roster, sentence_controls
from routines_app.web.form_preview import Usual, preview_of
from routines_app.web.form_read import choices_at, numbered
from routines_app.web.form_state import MODEL, FormState
from routines_app.web.form_try import shown_try
from routines_app.web.routine_page import run_key
from routines_app.web.routine_rows import typical_of
from routines_app.web.starters import Starter, agent_for

log = structlog.get_logger()


@dataclass(frozen=True)
class Conflict:
    """Why what was typed wasn't saved although nothing is wrong with it."""

    lead: str
    rest: str
    href: str = ""
    differences: list[tuple[str, str, str]] | None = None


def blank_form(request: WorkspaceRequest, roster: Roster) -> FormState:
    """The form as it is for a new routine here: this person's zone, an agent that can work now,
    the first machine."""
    able = bool(usable_models(request.workspace))
    ready = [a for a in roster.agents if able or a.runtime == AgentRuntime.SCRIPT]
    first = (ready or roster.agents)[:1]
    return FormState(
        zone=request.user.zone,
        agent=str(first[0].pk) if first else "",
        machine=str(roster.machines[0].pk) if roster.machines else "",
    )


def from_starter(
    request: WorkspaceRequest, state: FormState, starter: Starter, blank: str
) -> FormState:
    """The form filled by a starter."""
    agent = agent_for(starter, request.workspace)
    return replace(
        state,
        name=free_name(request.workspace, starter.name),
        instructions=starter.text(blank),
        folder=starter.working_folder(blank),
        check_command=starter.check,
        agent=str(agent.pk) if agent else state.agent,
        starter=starter.code,
    )


def made_before(request: WorkspaceRequest) -> Routine | None:
    """The routine that this very form has made already: a second click comes to it, and isn't told
    that its name is taken."""
    try:
        pk = cache.get(_once_key(request))
    except RedisError as error:
        log.warning("click_not_known", error=str(error))
        return None
    return request.workspace.routines.filter(pk=pk, deleted_at__isnull=True).first() if pk else None


def remember_made(request: WorkspaceRequest, routine: Routine) -> None:
    """Keep for ten minutes what this form has made."""
    try:
        cache.set(_once_key(request), routine.pk, 600)
    except RedisError as error:
        log.warning("click_not_kept", error=str(error))


def _once_key(request: WorkspaceRequest) -> str:
    return f"made:{request.workspace.pk}:{request.user.pk}:{run_key(request.POST)}"


def run_and_go(request: WorkspaceRequest, routine: Routine) -> HttpResponse:
    """Run it now, and show the run."""
    run = run_it_now(routine, request.user, run_key(request.POST))
    return redirect("run", request.workspace.slug, routine.slug, run.number)


def show_form(
    request: WorkspaceRequest,
    roster: Roster,
    state: FormState,
    *,
    routine: Routine | None = None,
    errors: list[FieldError] | None = None,
    conflict: Conflict | None = None,
) -> HttpResponse:
    """The whole page; 422 when something has to be fixed."""
    listed = sorted(_at_their_blanks(errors or []), key=_down_the_page)
    context = form_context(request, roster, state, listed, routine)
    context["conflict"] = conflict
    context["try"] = shown_try(request, state, roster)
    return render(request, "routines/form.html", context, status=422 if errors else 200)


def form_context(
    request: WorkspaceRequest,
    roster: Roster,
    state: FormState,
    errors: list[FieldError],
    routine: Routine | None,
) -> dict[str, Any]:
    """All that the form's parts need. What is wrong in the sentence stands beneath it also before
    anything is saved, but not while a blank was only just added."""
    now: datetime = clock.now()
    usual = [request.user.zone, request.workspace.zone]
    agent = roster.agent(state.agent)
    script = agent is not None and agent.runtime == AgentRuntime.SCRIPT
    by_field: dict[str, Wrong] = {}
    for error in errors:
        by_field.setdefault(error.field, wrong_at(state, error))
    preview = preview_of(state, now, request.user.zone, _usual(script, routine))
    in_sentence = [error for error in errors if error.field.split("-")[0] in state.blanks]
    if not in_sentence and request.POST.get("then") != "time":
        in_sentence = _at_their_blanks(preview.problems)
    live = routine.runs.filter(status__in=LIVE_STATUSES).first() if routine else None
    return {
        "routine": routine,
        "live": live,
        "state": state,
        "controls": sentence_controls(state, roster, in_sentence, usual),
        "errors": errors,
        "wrong": by_field,
        "wrong_sentence": [wrong_at(state, error) for error in in_sentence],
        "preview": preview,
        "script": script,
        "no_model": _without_model(request.workspace, state, agent),
        "agent": agent,
        "apps": apps_offered(request.workspace, state, agent),
        "talk": conversation_of(routine, now, request.user.zone) if routine else None,
        "focus": _focus(request, state),
        "where": roster.machine(state.machine),
        "written": request.POST.get("written", ""),
        "watched": _has_watched(request),
        "key": uuid.uuid4(),
    }


def _without_model(workspace: Workspace, state: FormState, agent: Agent | None) -> str:
    """Who has no model to use now, and why, as a sentence without its end; "" when there is one."""
    who = agent.name if agent else "Assistant"
    found: UsableModel | Unusable | None
    if state.agent.startswith(MODEL):
        who, found = "It", named_model(workspace, state.agent.removeprefix(MODEL))
    else:
        asked = agent or assistant_of(workspace)
        found = model_of_agent(asked) if asked else None
    if not isinstance(found, Unusable):
        return ""
    why = "" if found == NONE_CONNECTED else f": {found.reason}"
    return f"{who} has no model to use yet{why}"


def _focus(request: WorkspaceRequest, state: FormState) -> str:
    """The blank to go on at, after a button has changed the sentence; "" for none."""
    match request.POST.get("then"):
        case "time":
            return numbered("times", len(state.times) - 1)
        case "cron" | "both":
            return "expressions"
        case "sentence" | "plain" | "read":
            return "every"
    return ""


@dataclass(frozen=True)
class Wrong:
    """What is wrong at one field. `choices`: times that it may mean, as buttons.

    `plan`: the sentence ends with "or change plan", which leads there.
    """

    field: str
    sentence: str
    choices: tuple[str, ...] = ()

    @property
    def plan(self) -> bool:
        return self.sentence.endswith(_CHANGE_PLAN)

    @property
    def lead(self) -> str:
        """The sentence without its last words, where those are a link."""
        return self.sentence.removesuffix(_CHANGE_PLAN)


_CHANGE_PLAN = "change plan."


def wrong_at(state: FormState, error: FieldError) -> Wrong:
    """An error as its field shows it."""
    return Wrong(error.field, error.sentence, choices_at(state, error.field))


def _usual(script: bool, routine: Routine | None) -> Usual:
    typical = typical_of([routine.pk]).get(routine.pk) if routine else None
    totals = getattr(routine, "totals", None) if routine else None
    return Usual(script, typical.spent if typical else None, totals.runs if totals else 0)


_BELOW_THE_SENTENCE = (
    "instructions", "name", "written", "check_command", "folder",
    "cap", "time_limit", "step_limit", "conversation", "notify", "quiet_days",
)  # fmt: skip


def _down_the_page(error: FieldError) -> int:
    """Where its field stands: the sentence's blanks come first, and keep their own order."""
    if error.field not in _BELOW_THE_SENTENCE:
        return -1
    return _BELOW_THE_SENTENCE.index(error.field)


def _at_their_blanks(errors: list[FieldError]) -> list[FieldError]:
    """The errors where they can be mended: "at" is the date and the time together, so it stands at
    the date's blank."""
    return [replace(e, field="date") if e.field == "at" else e for e in errors]


def _has_watched(request: WorkspaceRequest) -> bool:
    """Whether a run that did begin has come to an end here: then saving is the ink button."""
    begun = request.workspace.runs.filter(effects_begun_at__isnull=False)
    return begun.filter(finished_at__isnull=False).exists()
