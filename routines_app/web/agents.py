"""The roster."""

from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import Role
from routines_app.models import Agent, AgentRuntime, Routine
from routines_app.web.access import WorkspaceRequest, in_workspace


@in_workspace(Role.VIEWER)
@require_GET
def roster(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Each agent with its purpose and the routines that it works for."""
    agents = (
        Agent.objects.filter(workspace=request.workspace, deleted_at__isnull=True)
        .prefetch_related(
            Prefetch(
                "routines",
                queryset=Routine.objects.filter(deleted_at__isnull=True).order_by("name"),
                to_attr="works_for",
            )
        )
        .order_by("id")
    )
    rows = list(agents)
    busy = sum(1 for agent in rows if agent.works_for)
    return render(
        request,
        "pages/agents.html",
        {"agents": rows, "busy": busy, "script": AgentRuntime.SCRIPT},
    )
