"""A workspace's settings: its name and zone, and the two ways to stop everything."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Role, Workspace
from accounts.roles import RoleRefused, hand_over
from routines_app.configure.content import FieldError, Refused
from routines_app.configure.pause import pause_workspace, resume_workspace
from routines_app.configure.settings import configure_workspace
from routines_app.models import Routine, Run
from routines_app.rules import zones
from routines_app.rules.status import LIVE_STATUSES, OPEN_STATUSES, RunStatus
from routines_app.runner.stop import stop_all
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.back import back_to
from routines_app.web.dates import count_words


@dataclass(frozen=True)
class Typed:
    """The form as it is shown."""

    name: str
    zone: str


@in_workspace(Role.VIEWER)
@require_http_methods(["GET", "POST"])
def settings(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """The page; a post saves what an admin may set."""
    if request.method == "GET":
        return _page(request, _typed_of(request.workspace), [])
    if not request.membership.may(Role.ADMIN):
        return role_too_low(request, Role.ADMIN)
    post = request.POST
    typed = Typed(post.get("name", ""), post.get("zone", ""))
    answer = configure_workspace(request.workspace, request.user, name=typed.name, zone=typed.zone)
    if isinstance(answer, Refused):
        return _page(request, typed, answer.errors)
    messages.info(request, "Saved.")
    return redirect("settings", workspace_slug)


@in_workspace(Role.ADMIN)
@require_POST
def pause(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Let nothing start."""
    pause_workspace(request.workspace, request.user)
    return redirect("settings", workspace_slug)


@in_workspace(Role.ADMIN)
@require_POST
def resume(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Let things start again."""
    resume_workspace(request.workspace, request.user)
    messages.info(request, "Everything is on again. What fell due meanwhile isn’t made up for.")
    return back_to(request, reverse("settings", args=[workspace_slug]))


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def stop_everything(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Stop every run that waits or goes on; asked again first."""
    if request.method == "GET":
        return render(request, "pages/stop_all.html", {"open_runs": _open_runs(request.workspace)})
    count = stop_all(request.workspace, request.user)
    messages.info(request, _stopping(count))
    return redirect("settings", workspace_slug)


def _stopping(count: int) -> str:
    if not count:
        return "Nothing was running."
    return f"{count_words(count).capitalize()} {'run stops' if count == 1 else 'runs stop'} now."


def _open_runs(workspace: Workspace) -> list[Run]:
    runs = Run.objects.filter(workspace=workspace, status__in=OPEN_STATUSES)
    return list(runs.select_related("routine").order_by("queued_at", "pk")[:200])


def _typed_of(workspace: Workspace) -> Typed:
    return Typed(workspace.name, workspace.zone)


def _page(request: WorkspaceRequest, typed: Typed, errors: list[FieldError]) -> HttpResponse:
    workspace = request.workspace
    on = Routine.objects.present().filter(workspace=workspace, enabled=True).count()
    open_runs = _open_runs(workspace)
    live = [run.routine.name for run in open_runs if run.status in LIVE_STATUSES]
    waiting = sum(run.status == RunStatus.QUEUED for run in open_runs)
    context = {
        "typed": typed,
        "errors": errors,
        "wrong": {error.field: error.sentence for error in errors},
        "zones": sorted(zones.known_zones()),
        "on": on,
        "ends": _ends_by_itself(live, waiting),
        "open_runs": open_runs,
        "people": workspace.memberships.count(),
        "machines": workspace.machines.filter(deleted_at__isnull=True).count(),
        "may_set": request.membership.may(Role.ADMIN),
        "owner": request.workspace.memberships.select_related("user")
        .filter(role=Role.OWNER)
        .first(),
    }
    return render(request, "pages/settings.html", context, status=422 if errors else 200)


def _ends_by_itself(live: list[str], waiting: int) -> str:
    """What a pause does to the runs that are open now."""
    said = ""
    if len(live) == 1:
        said = f"{live[0]}, running now, ends by itself."
    elif live:
        said = f"{count_words(len(live)).capitalize()} runs, going on now, end by themselves."
    if waiting:
        runs = "One run that waits is" if waiting == 1 else f"{count_words(waiting)} that wait are"
        said = f"{said} {runs[:1].upper()}{runs[1:]} refused."
    return said.strip()


@in_workspace(Role.OWNER)
@require_http_methods(["GET", "POST"])
def hand_over_workspace(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Make an admin the owner; asked again first."""
    admins = list(
        request.workspace.memberships.select_related("user")
        .filter(role=Role.ADMIN, user__is_active=True)
        .order_by("user__name", "pk")
    )
    problem = ""
    if request.method == "POST":
        target = next((m for m in admins if m.user.email == request.POST.get("person")), None)
        if target is None:
            problem = "Choose one of the admins."
        else:
            answer = hand_over(request.membership, target)
            if not isinstance(answer, RoleRefused):
                messages.info(request, f"{answer.user} is the owner now. You are an admin.")
                return redirect("settings", workspace_slug)
            problem = answer.sentence
    context = {"admins": admins, "problem": problem}
    return render(request, "pages/hand_over.html", context, status=422 if problem else 200)
