"""Routines that were deleted: they never run again, and what they did stays readable."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.models import Role, Workspace
from foundation import clock
from routines_app.models import Routine
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.dates import moment_words
from routines_app.web.history import FILTERS, PAGE, history_of, newest_runs, older_history
from routines_app.web.run_context import deleted_words

SHOWN = 200


@dataclass(frozen=True)
class Gone:
    """One of them. `when` and `by` say who deleted it; `runs` and `spent` what it came to."""

    routine: Routine
    when: str
    by: str
    runs: int
    spent: int


def deleted_of(workspace: Workspace) -> QuerySet[Routine]:
    """The workspace's deleted routines, the last one first."""
    gone = Routine.objects.filter(workspace=workspace, deleted_at__isnull=False)
    return gone.select_related("off_by", "totals").order_by("-deleted_at", "-pk")


@in_workspace(Role.VIEWER)
@require_safe
def deleted(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """The deleted routines, at most two hundred."""
    now, zone = clock.now(), request.user.zone
    rows = []
    for routine in deleted_of(request.workspace)[:SHOWN]:
        totals = getattr(routine, "totals", None)
        assert routine.deleted_at is not None
        rows.append(
            Gone(
                routine,
                moment_words(routine.deleted_at, now, zone),
                str(routine.off_by or ""),
                routine.run_counter,
                totals.spent if totals else 0,
            )
        )
    return render(request, "runs/deleted.html", {"rows": rows})


@in_workspace(Role.VIEWER)
@require_safe
def history(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """What one of them did, newest first; `before` a run's number for what is older."""
    routine = get_object_or_404(deleted_of(request.workspace), slug=slug)
    now, zone = clock.now(), request.user.zone
    asked = request.GET.get("before", "")
    before = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else None
    kind = FILTERS[0]
    if before is None:
        shown = history_of(newest_runs(routine, PAGE + 1), kind, now, zone)
    else:
        shown = older_history(routine, before, kind, now, zone)
    context = {
        "routine": routine,
        "deleted_words": deleted_words(routine, now, zone),
        "history": shown,
        "may_run": False,
        "may_edit": False,
    }
    return render(request, "runs/deleted_routine.html", context)
