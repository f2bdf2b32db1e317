"""Making and changing a routine: the sentence with its blanks, and everything beside it."""

from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Role
from foundation import clock
from routines_app.configure.check_try import NotAsked
from routines_app.configure.content import FieldError, Refused, RoutineContent
from routines_app.configure.routine import (
    ChangedMeanwhile,
    Configured,
    RunIsLive,
    configure_routine,
    content_of,
    create_routine,
    turn_on,
)
from routines_app.configure.validate import name_problem, problems
from routines_app.models import Routine
from routines_app.rules import zones
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.schedule import expressions, validate
from routines_app.rules.sentence import Refusal, parse_sentence
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.cold import back_words
from routines_app.web.dates import day_of, moment_words
from routines_app.web.form_apps import ticked_in_vain
from routines_app.web.form_controls import Roster, roster_of
from routines_app.web.form_cron import as_sentence, with_both_days, without_its_seconds
from routines_app.web.form_page import (
    Conflict,
    blank_form,
    form_context,
    from_starter,
    made_before,
    remember_made,
    run_and_go,
    show_form,
)
from routines_app.web.form_read import Read, read_content, read_schedule, whole, with_choice
from routines_app.web.form_state import FormState, state_of, typed, with_schedule
from routines_app.web.form_try import problem_of_try, routine_sent, try_and_wait
from routines_app.web.routine_page import find_routine, may_edit
from routines_app.web.starters import starter_of
from routines_app.web.templatetags.words import said as since_words
from routines_app.web.versions import differences, with_app_names

USUAL_CRON = "0 8 * * 1-5"  # where a custom schedule begins after one that has no times
MAY_SHOW = {"preview", "time", "read", "cron", "sentence", "plain", "both", "try", "look"}
"""Buttons that only show the form again."""


@in_workspace(Role.MEMBER)
@require_http_methods(["GET", "HEAD", "POST"])
def new_routine(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """A new routine: the empty form, one filled by a starter, or what was sent."""
    roster = roster_of(request.workspace)
    start = blank_form(request, roster)
    if request.method != "POST":
        starter = starter_of(request.GET.get("from", ""))
        if starter is not None:
            start = from_starter(request, start, starter, starter.blank)
        return show_form(request, roster, start)
    state = typed(request.POST, start)
    shown = _only_shown(request, roster, state)
    if shown is not None:
        return shown
    read, content = read_content(state)
    runs = request.POST.get("then") == "run"
    made = made_before(request) or _make(request, state, read, content)
    if isinstance(made, Refused):
        made = made_before(request) or made  # two clicks at once: the other one made it
    if isinstance(made, Refused):
        return show_form(request, roster, read.state, errors=made.errors)
    if runs:
        return run_and_go(request, made)
    messages.info(request, _saved_words(made, request, f"{made.name} is on."))
    return redirect("routine", workspace_slug, made.slug)


def _make(
    request: WorkspaceRequest, state: FormState, read: Read, content: RoutineContent
) -> Routine | Refused:
    """The new routine: on, or off when it is only to be run now."""
    errors = _errors(request, state, read, content)
    if errors:
        return Refused(errors)
    made = create_routine(
        request.workspace,
        request.user,
        content,
        turn_on=request.POST.get("then") != "run",
        starter=state.starter if starter_of(state.starter) else "",
    )
    if isinstance(made, Routine):
        remember_made(request, made)
    return made


@in_workspace(Role.MEMBER)
@require_http_methods(["GET", "HEAD", "POST"])
def edit_routine(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Change a routine; nothing typed is lost when that can't be done now."""
    routine = find_routine(request, slug)
    if not may_edit(request, routine):
        return role_too_low(request, Role.ADMIN)
    roster = roster_of(request.workspace)
    start = state_of(content_of(routine), routine.version)
    if request.method != "POST":
        return show_form(request, roster, start, routine=routine)
    state = typed(request.POST, start)
    shown = _only_shown(request, roster, state, routine)
    if shown is not None:
        return shown
    read, content = read_content(state)
    errors = _errors(request, state, read, content, routine)
    if errors:
        return show_form(request, roster, read.state, routine=routine, errors=errors)
    version = whole(state.version) or 0
    answer = configure_routine(routine, request.user, version, content)
    match answer:
        case Configured():
            return _configured(request, answer)
        case Refused(errors=errors):
            return show_form(request, roster, read.state, routine=routine, errors=errors)
        case ChangedMeanwhile() | RunIsLive():
            return _conflict(request, roster, read.state, routine, content, answer)


@in_workspace(Role.MEMBER)
@require_POST
def schedule_preview(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """What the sentence says now: its blanks, the read-back, the next five and the estimate."""
    roster = roster_of(request.workspace)
    state = _changed(typed(request.POST, blank_form(request, roster)), request.POST)
    read = read_schedule(state)
    routine = routine_sent(request)
    context = form_context(request, roster, read.state, [], routine)
    context["with_sentence"] = request.POST.get("part") != "readback"
    context["with_check"] = request.POST.get("then") == "both"
    return render(request, "routines/preview.html", context)


def _only_shown(
    request: WorkspaceRequest, roster: Roster, state: FormState, routine: Routine | None = None
) -> HttpResponse | None:
    """The form again with nothing saved, when that is what the button asked for."""
    if request.POST.get("then", "preview") not in MAY_SHOW:
        return None
    state = _changed(state, request.POST)
    errors: list[FieldError] = []
    if request.POST.get("then") == "read":
        state, errors = _written(state, request.POST)
    else:
        state = read_schedule(state).state
    if request.POST.get("then") in ("try", "look"):
        asked = try_and_wait(request, state, roster, routine)
        if isinstance(asked, NotAsked):
            errors = [FieldError("check_command", asked.sentence)]
        else:
            state = replace(state, tried=asked.key)
    return show_form(request, roster, state, routine=routine, errors=errors)


def _changed(state: FormState, post: QueryDict) -> FormState:
    """What follows from the button and from a first blank that has just been changed."""
    if "settle" in post:
        state = with_choice(state, str(post["settle"]))
    match post.get("then"):
        case "time":
            return replace(state, times=(*state.times, ""))
        case "read" if post.get("written", "").strip():
            return _written(state, post)[0]
        case "cron":
            state = replace(state, every=ScheduleKind.CRON.value)
        case "sentence":
            return as_sentence(state)
        case "plain":
            return without_its_seconds(state)
        case "both":
            return with_both_days(state)
    if state.every == state.was:
        return state
    if state.kind is ScheduleKind.CRON:
        before = read_schedule(replace(state, every=state.was)).schedule
        if before is not None and not validate(before, clock.now()):
            state = replace(state, expressions="; ".join(expressions(before)))
        if not state.expressions.strip():
            state = replace(state, expressions=USUAL_CRON)
    if state.kind is ScheduleKind.ONCE and not state.date and state.zone in zones.known_zones():
        tomorrow = day_of(clock.now(), state.zone) + timedelta(days=1)
        state = replace(state, date=tomorrow.isoformat())
    return replace(state, was=state.every)


def _written(state: FormState, post: QueryDict) -> tuple[FormState, list[FieldError]]:
    """The blanks filled from a written sentence; or why it couldn't be read."""
    today = day_of(clock.now(), state.zone) if state.zone in zones.known_zones() else None
    found = parse_sentence(post.get("written", "")[:500], state.zone, today)
    if isinstance(found, Refusal):
        return state, [FieldError("written", found.sentence)]
    return with_schedule(state, found), []


def _errors(
    request: WorkspaceRequest,
    state: FormState,
    read: Read,
    content: RoutineContent,
    routine: Routine | None = None,
) -> list[FieldError]:
    """Everything to fix. A first blank that was changed unseen has to be looked at first."""
    errors = list(read.errors)
    if state.every != state.was:
        errors.insert(0, FieldError("every", "The sentence has new blanks. Fill them, then save."))
    errors += problem_of_try(request, state)
    before = content_of(routine) if routine else None
    errors += ticked_in_vain(request.workspace, state, before.apps if before else ())
    if errors:
        errors += problems(request.workspace, content, clock.now(), before)
        errors += name_problem(request.workspace, content.name, routine)
    return errors


def _configured(request: WorkspaceRequest, answer: Configured) -> HttpResponse:
    routine = answer.routine
    then = request.POST.get("then")
    if then == "run":
        return run_and_go(request, routine)
    if then == "on" and not routine.enabled:
        on = turn_on(routine, request.user)
        if isinstance(on, Refused):
            messages.error(request, " ".join(error.sentence for error in on.errors))
        else:
            routine = on
    said = f"{routine.name} is saved." if answer.changed else "Nothing was different."
    messages.info(request, _saved_words(routine, request, said))
    return redirect("routine", request.workspace.slug, routine.slug)


def _saved_words(routine: Routine, request: WorkspaceRequest, said: str) -> str:
    now = clock.now()
    if not routine.enabled or routine.next_fire_at is None:
        return said
    when = moment_words(routine.next_fire_at, now, request.user.zone)
    return f"{said} Next run: {when}. {back_words(routine.machine, now)}".strip()


def _conflict(
    request: WorkspaceRequest,
    roster: Roster,
    state: FormState,
    routine: Routine,
    content: RoutineContent,
    answer: ChangedMeanwhile | RunIsLive,
) -> HttpResponse:
    if isinstance(answer, RunIsLive):
        conflict = Conflict(
            f"Run {answer.run.number} is going on.",
            "Nothing was saved: a routine can’t change under its own run. What you typed is kept "
            "here; save it when the run has ended.",
            "run",
        )
    else:
        zone = ZoneInfo(request.user.zone)
        when = since_words(answer.at.astimezone(zone), clock.now().astimezone(zone))
        conflict = Conflict(
            f"Changed by {answer.by} {when}.",
            "Nothing of yours was saved. Both versions are below; saving again puts yours over "
            "theirs.",
            differences=differences(
                answer.theirs,
                content,
                with_app_names(roster, request.workspace, [answer.theirs, content]),
            ),
        )
        state = replace(state, version=str(answer.version))
    response = show_form(request, roster, state, routine=routine, conflict=conflict)
    response.status_code = 409
    return response
