"""A routine's versions, each with what it changed; and deleting a routine."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role
from machines.models import Machine
from routines_app.configure.content import content_from_json
from routines_app.configure.delete import delete_routine
from routines_app.models import Agent, Routine, RoutineVersion
from routines_app.rules.status import LIVE_STATUSES, RunStatus
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.form_controls import Roster
from routines_app.web.routine_page import find_routine, may_edit
from routines_app.web.versions import differences, with_app_names

SHOWN = 100


@dataclass(frozen=True)
class ShownVersion:
    """One version. `changed` is name, before and after of each field that it changed."""

    number: int
    by: str
    at: datetime
    changed: list[tuple[str, str, str]]
    current: bool


@in_workspace(Role.VIEWER)
@require_GET
def versions(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """The versions, newest first, at most a hundred."""
    routine = find_routine(request, slug)
    context = {"routine": routine, "versions": shown_versions(routine)}
    return render(request, "routines/versions.html", context)


@in_workspace(Role.MEMBER)
@require_http_methods(["GET", "POST"])
def delete(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Delete it; asked again first."""
    routine = find_routine(request, slug)
    if not may_edit(request, routine):
        return role_too_low(request, Role.ADMIN)
    if request.method == "POST":
        delete_routine(routine, request.user)
        messages.info(request, f"{routine.name} is deleted. Its runs and what they cost are kept.")
        return redirect("routines", workspace_slug)
    context = {
        "routine": routine,
        "live": routine.runs.filter(status__in=LIVE_STATUSES).first(),
        "waiting": routine.runs.filter(status=RunStatus.QUEUED).count(),
    }
    return render(request, "routines/delete.html", context)


def shown_versions(routine: Routine) -> list[ShownVersion]:
    """Each version with what it changed from the one before."""
    kept = list(routine.versions.select_related("changed_by").order_by("-number")[: SHOWN + 1])
    everyone = Roster(
        agents=list(Agent.objects.filter(workspace=routine.workspace)),
        machines=list(Machine.objects.filter(workspace=routine.workspace)),
    )
    contents = [content_from_json(each.content) for each in kept]
    everyone = with_app_names(everyone, routine.workspace, contents)
    before: list[RoutineVersion | None] = [*kept[1:], None][: len(kept)]
    return [
        ShownVersion(
            each.number,
            str(each.changed_by or "somebody"),
            each.changed_at,
            _changed(older, each, everyone),
            each.number == routine.version,
        )
        for each, older in zip(kept, before, strict=True)
    ][:SHOWN]


def _changed(
    older: RoutineVersion | None, newer: RoutineVersion, everyone: Roster
) -> list[tuple[str, str, str]]:
    if older is None:
        return []
    return differences(content_from_json(older.content), content_from_json(newer.content), everyone)
