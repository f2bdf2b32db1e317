"""A workspace's machines: where each is in its life, since when and why."""

from __future__ import annotations

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET

from accounts.models import Role, Workspace
from machines.models import Machine
from routines_app.models import Routine
from routines_app.web.access import WorkspaceRequest, in_workspace


def machines_of(workspace: Workspace) -> QuerySet[Machine]:
    """Those that aren't deleted, each with the routines that live on it, in `lives_here`."""
    routines = Routine.objects.filter(deleted_at__isnull=True).order_by("name")
    return (
        Machine.objects.filter(workspace=workspace, deleted_at__isnull=True)
        .prefetch_related(Prefetch("routines", queryset=routines, to_attr="lives_here"))
        .order_by("created_at", "id")
    )


@in_workspace(Role.VIEWER)
@require_GET
def machines(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Every machine, with its state in words."""
    return render(
        request, "pages/machines.html", {"machines": list(machines_of(request.workspace))}
    )


@in_workspace(Role.VIEWER)
@require_GET
def machine(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """One machine."""
    row = get_object_or_404(machines_of(request.workspace), slug=slug)
    return render(request, "pages/machine.html", {"machine": row})


@in_workspace(Role.VIEWER)
@require_GET
def files(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """To the files of the first machine."""
    return redirect("machines", workspace_slug)
