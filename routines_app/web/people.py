"""A workspace's front door, who is in it, and the phone's rest of the navigation."""

from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from accounts.models import Role
from routines_app.web.access import WorkspaceRequest, in_workspace


@in_workspace(Role.VIEWER)
@require_GET
def people(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Names and roles."""
    owned = Count(
        "user__routines",
        filter=Q(user__routines__workspace=request.workspace)
        & Q(user__routines__deleted_at__isnull=True),
    )
    rows = (
        request.workspace.memberships.select_related("user")
        .annotate(owned=owned)
        .order_by("joined_at", "id")
    )
    return render(request, "pages/people.html", {"members": list(rows)})


@in_workspace(Role.VIEWER)
@require_GET
def front(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """A workspace's own address leads to its routines."""
    return redirect("routines", workspace_slug)


@in_workspace(Role.VIEWER)
@require_GET
def more(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """What the tab bar has no room for."""
    return render(request, "pages/more.html")
