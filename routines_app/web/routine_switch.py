"""Turning a routine on and off: at once where the switch stands, or by a plain form."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget, trigger_client_event

from accounts.models import Role
from foundation import clock
from routines_app.configure.routine import Refused, turn_off, turn_on
from routines_app.models import Routine
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.back import back_to
from routines_app.web.cold import back_words
from routines_app.web.dates import moment_words
from routines_app.web.routine_page import find_routine, may_edit


@in_workspace(Role.MEMBER)
@require_POST
def switch_on(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Turn it on and say when the next run is and, if its machine is cold, when that is back; or
    what stands against it."""
    routine = find_routine(request, slug)
    if not may_edit(request, routine):
        return role_too_low(request, Role.ADMIN)
    now = clock.now()
    answer = turn_on(routine, request.user)
    if isinstance(answer, Refused):
        return _refused(request, routine, " ".join(error.sentence for error in answer.errors))
    said = "It runs when somebody asks for it."
    if answer.next_fire_at is not None:
        said = f"Next run: {moment_words(answer.next_fire_at, now, request.user.zone)}."
    back = back_words(answer.machine, now)
    return _switched(request, answer, f"{routine.name} is on. {said} {back}".strip())


@in_workspace(Role.MEMBER)
@require_POST
def switch_off(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Turn it off, at once; what is said of it has an Undo, unless it was off already."""
    routine = find_routine(request, slug)
    if not may_edit(request, routine):
        return role_too_low(request, Role.ADMIN)
    was_on = routine.enabled
    off = turn_off(routine, request.user)
    undo = reverse("routine_turn_on", args=[workspace_slug, slug]) if was_on else ""
    return _switched(request, off, f"{routine.name} is off.", undo)


def _switched(
    request: WorkspaceRequest, routine: Routine, words: str, undo: str = ""
) -> HttpResponse:
    """The switch as it is now, with a toast; without htmx, back to where it was pressed."""
    here = reverse("routine", args=[request.workspace.slug, routine.slug])
    if not request.htmx:
        messages.info(request, words, extra_tags=undo)
        return back_to(request, here)
    context = {
        "routine": routine,
        "words": words,
        "undo": undo,
        "then": request.POST.get("then") or here,
        "may_run": True,
    }
    answer = render(request, "routines/switched.html", context)
    return trigger_client_event(answer, "refresh")


def _refused(request: WorkspaceRequest, routine: Routine, sentence: str) -> HttpResponse:
    """What stands against it, beside the switch; without htmx, where it was pressed."""
    if not request.htmx:
        messages.error(request, sentence)
        return back_to(request, reverse("routine", args=[request.workspace.slug, routine.slug]))
    answer = render(request, "routines/partials/not_turned_on.html", {"words": sentence})
    answer.status_code = 422
    return reswap(retarget(answer, f"form:has(> #switch-{routine.slug})"), "afterend")
