"""One run: how far it is, what it does and did, and how it ended. Live while it lasts."""

from typing import Any

from django.db.models import OuterRef, Prefetch, Subquery
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import Role, User
from foundation import clock
from routines_app.delivery import read_run
from routines_app.models import RoutineVersion, Run
from routines_app.runner.stop import ask_to_stop
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.run_context import page_context
from routines_app.web.run_live import carries_on
from routines_app.web.run_words import is_over

STOP_POLLING = 286  # htmx ends a poll that answers with this


@in_workspace(Role.VIEWER)
@require_safe
def run_page(
    request: WorkspaceRequest, workspace_slug: str, slug: str, number: int
) -> HttpResponse:
    """The page; with `after` and htmx, what came after that step."""
    run = find_run(request, slug, number)
    after = _whole(request.GET.get("after", ""))
    if request.htmx and after is not None:
        return _what_came(request, run, after)
    _read(run, request.user)
    return render(request, "runs/run.html", page_context(request, run))


@in_workspace(Role.MEMBER)
@require_http_methods(["GET", "HEAD", "POST"])
def stop_run(
    request: WorkspaceRequest, workspace_slug: str, slug: str, number: int
) -> HttpResponse:
    """Ask the run to stop, and show it again; asked again first where there is no dialog."""
    run = find_run(request, slug, number)
    if request.method == "POST":
        ask_to_stop(run, request.user)
    elif not is_over(run) and run.stop_asked_at is None:
        next_at = carries_on(run.routine, clock.now(), request.user.zone)
        context = {"run": run, "routine": run.routine, "next_words": next_at}
        return render(request, "runs/stop.html", context)
    return redirect("run", workspace_slug, slug, number)


def _read(run: Run, person: User) -> None:
    """Note that this person has read how the run ended, where that rings."""
    notice: Any = getattr(run, "notice", None)
    if person in notice.readers if notice else not is_over(run):
        return
    if notice is None and not run.deliveries.exists():
        return
    read: Any = read_run(run, person)
    if read is not None:
        read.readers = list(read.read_by.all())
        run.notice = read


def find_run(request: WorkspaceRequest, slug: str, number: int) -> Run:
    """This workspace's run, also of a deleted routine. Raises Http404 when there is none."""
    saved = RoutineVersion.objects.filter(
        routine=OuterRef("routine"), number=OuterRef("version")
    ).values("changed_at", "changed_by__name")
    run = get_object_or_404(
        Run.objects.select_related(
            "routine__agent",
            "routine__machine",
            "routine__off_by",
            "machine",
            "fire__requested_by",
            "stop_asked_by",
            "notice",
        )
        .prefetch_related(Prefetch("notice__read_by", to_attr="readers"))
        .annotate(
            saved_at=Subquery(saved.values("changed_at")[:1]),
            saved_by=Subquery(saved.values("changed_by__name")[:1]),
        ),
        workspace=request.workspace,
        routine__slug=slug,
        number=number,
    )
    run.workspace = run.routine.workspace = request.workspace
    return run


def _what_came(request: WorkspaceRequest, run: Run, after: int) -> HttpResponse:
    """New steps, and the parts that move; once it is over, the whole page and the end of asking."""
    if is_over(run):
        _read(run, request.user)
        response = render(request, "runs/run.html#page", page_context(request, run))
        response.status_code = STOP_POLLING
        response["HX-Retarget"] = "#run-page"
        response["HX-Reswap"] = "outerHTML"
        return response
    return render(request, "runs/live.html", page_context(request, run, after))


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
