"""What one may do from a run's page beside running and stopping: tell again, go back to the
earlier check, and take that back."""

from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect

from accounts.models import Role
from foundation import clock
from routines_app.configure.content import Refused
from routines_app.configure.routine import (
    ChangedMeanwhile,
    Configured,
    RunIsLive,
    configure_routine,
    content_of,
)
from routines_app.delivery.again import send_again
from routines_app.models import Run
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.routine_page import may_edit
from routines_app.web.run_changed import changed_since_it_worked
from routines_app.web.run_page import find_run
from routines_app.web.run_past import past_of


@in_workspace(Role.MEMBER)
@require_POST
def tell_again(
    request: WorkspaceRequest, workspace_slug: str, slug: str, number: int
) -> HttpResponse:
    """Send what was told once more, to the same channels."""
    run = _of_a_routine_that_is_there(request, slug, number)
    sent = send_again(run)
    messages.info(request, "It rings again." if sent else "It is on its way already.")
    return redirect("run", workspace_slug, slug, number)


@in_workspace(Role.MEMBER)
@require_POST
def check_back(
    request: WorkspaceRequest, workspace_slug: str, slug: str, number: int
) -> HttpResponse:
    """Put back the check with which it last worked; with `undo`, the one that failed here."""
    run = _of_a_routine_that_is_there(request, slug, number)
    if not may_edit(request, run.routine):
        return role_too_low(request, Role.ADMIN)
    changed = changed_since_it_worked(run, past_of(run), clock.now(), request.user.zone)
    undo = "yes" in (request.POST.get("undo"), request.GET.get("undo"))
    wanted = None if changed is None else changed.broken if undo else changed.earlier
    if wanted is None:
        messages.error(request, "The check has been changed since. Nothing was done.")
    else:
        _put(request, run, wanted, undo=undo)
    page = reverse("run", args=[workspace_slug, slug, number])
    return HttpResponseClientRedirect(page) if request.htmx else redirect(page)


def _put(request: WorkspaceRequest, run: Run, check: str, *, undo: bool) -> None:
    routine = run.routine
    content = replace(content_of(routine), check_command=check)
    match configure_routine(routine, request.user, routine.version, content):
        case Configured():
            here = reverse("run_check_back", args=[run.workspace.slug, routine.slug, run.number])
            if undo:
                messages.info(request, "That is undone.")
            else:
                messages.info(request, "The earlier check is back.", extra_tags=f"{here}?undo=yes")
        case Refused(errors=errors):
            messages.error(request, " ".join(error.sentence for error in errors))
        case RunIsLive(run=live):
            said = f"Run {live.number:,} is going on, so nothing was changed. Try it when it ended."
            messages.error(request, said)
        case ChangedMeanwhile(by=by):
            messages.error(request, f"Changed by {by} a moment ago. Nothing of yours was saved.")


def _of_a_routine_that_is_there(request: WorkspaceRequest, slug: str, number: int) -> Run:
    run = find_run(request, slug, number)
    if run.routine.deleted_at is not None:
        raise Http404("the routine is deleted")
    return run
