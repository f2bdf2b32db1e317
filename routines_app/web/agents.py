"""The roster, and a page for each agent."""

from dataclasses import dataclass
from statistics import median

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from accounts.models import Role, Workspace
from routines_app.agents.tools import FINISH, TOOLS
from routines_app.models import Agent, AgentRuntime, Routine, Run
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.routine_rows import typical_of

LAST = 20  # runs that reached a model, of which the usual cost is the median
ENOUGH = 3

# How a page says each tool: its act, and whether it reads or changes things.
_IN_WORDS = {
    "run_command": ("Run commands", "Changes things, on the machine"),
    "read_file": ("Read files", "Reads"),
    "write_file": ("Write files", "Changes things, on the machine"),
    "list_files": ("List folders", "Reads"),
}


@dataclass(frozen=True)
class ToolWords:
    """A tool as a page says it."""

    name: str
    does: str


def tools_of(agent: Agent) -> list[ToolWords]:
    """What an agent may use on a machine."""
    if agent.runtime == AgentRuntime.SCRIPT:
        return [ToolWords("Run its own command", "Changes things, on the machine")]
    return [
        ToolWords(*_IN_WORDS.get(tool.name, (tool.name, tool.description)))
        for tool in TOOLS
        if tool.name != FINISH
    ]


def usual_cost(agent: Agent) -> int | None:
    """The median cost of its last runs that reached a model, in micro-dollars.

    Nothing for a script; None before three such runs.
    """
    if agent.runtime == AgentRuntime.SCRIPT:
        return 0
    spent = (
        Run.objects.filter(
            workspace_id=agent.workspace_id,
            routine__agent=agent,
            turn_at__isnull=False,
            finished_at__isnull=False,
        )
        .order_by("-finished_at")
        .values_list("spent", flat=True)[:LAST]
    )
    known = list(spent)
    return int(median(known)) if len(known) >= ENOUGH else None


def agents_of(workspace: Workspace) -> QuerySet[Agent]:
    """Those that aren't deleted, each with the routines that it works for, in `works_for`."""
    routines = Routine.objects.filter(deleted_at__isnull=True).order_by("name")
    return (
        Agent.objects.filter(workspace=workspace, deleted_at__isnull=True)
        .prefetch_related(Prefetch("routines", queryset=routines, to_attr="works_for"))
        .order_by("id")
    )


@in_workspace(Role.VIEWER)
@require_GET
def roster(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Each agent with its purpose and the routines that it works for."""
    agents = list(agents_of(request.workspace))
    busy = len([each for each in agents if each.works_for])  # type: ignore[attr-defined]
    context = {
        "agents": [(agent, usual_cost(agent)) for agent in agents],
        "busy": busy,
        "script": AgentRuntime.SCRIPT,
    }
    return render(request, "pages/agents.html", context)


@in_workspace(Role.VIEWER)
@require_GET
def agent(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """One agent: what it is for, how it thinks, what it may use and for whom it works."""
    found = get_object_or_404(agents_of(request.workspace), slug=slug)
    works_for: list[Routine] = found.works_for  # type: ignore[attr-defined]  # agents_of adds it
    usual = typical_of([each.pk for each in works_for])
    versions = list(found.versions.select_related("changed_by").order_by("-number")[:20])
    context = {
        "agent": found,
        "script": found.runtime == AgentRuntime.SCRIPT,
        "now": next((each for each in versions if each.number == found.version), None),
        "versions": versions,
        "tools": tools_of(found),
        "usual": usual_cost(found),
        "works_for": [
            (each, usual[each.pk].spent if each.pk in usual else None) for each in works_for
        ],
    }
    return render(request, "pages/agent.html", context)
