"""The first page's ink button: a starter made and run in one press."""

import uuid
from dataclasses import replace

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from accounts.models import Role
from routines_app.configure.content import Refused
from routines_app.configure.routine import create_routine
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.form_controls import roster_of
from routines_app.web.form_page import (
    blank_form,
    from_starter,
    made_before,
    remember_made,
    run_and_go,
)
from routines_app.web.form_read import read_content
from routines_app.web.starters import offered_starters, starter_of


@in_workspace(Role.MEMBER)
@require_POST
def run_starter(request: WorkspaceRequest, workspace_slug: str, code: str) -> HttpResponse:
    """Make a starter's routine, turned off, and run it: the first page's ink button."""
    starter = starter_of(code)
    if starter is None:
        raise Http404("no such starter")
    blank = request.POST.get("blank", "").strip()[:200]
    offers = offered_starters(request.workspace)
    mine = next(offer for offer in offers if offer.starter == starter)
    error = mine.why_not or ("" if blank else f"Write the {starter.blank_label.lower()}.")
    before = made_before(request)
    if before is not None:
        return run_and_go(request, before)
    if not error:
        roster = roster_of(request.workspace)
        state = from_starter(request, blank_form(request, roster), starter, blank)
        _, content = read_content(state)
        made = create_routine(
            request.workspace, request.user, content, turn_on=False, starter=starter.code
        )
        if not isinstance(made, Refused):
            remember_made(request, made)
            return run_and_go(request, made)
        error = " ".join(each.sentence for each in made.errors)
    shown = [
        replace(offer, blank=blank, error=error) if offer is mine else offer for offer in offers
    ]
    context = {"starters": shown, "may_run": True, "key": uuid.uuid4(), "wrong": error}
    return render(request, "routines/first_run.html", context, status=422)
