"""The roster: each agent, how it thinks, what it may use, for whom it works, what it costs."""

from dataclasses import dataclass
from statistics import median

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import Role, Workspace
from billing.prices import cost_of
from routines_app.configure.agents import AgentContent, content_of_agent, thinks
from routines_app.configure.models import UsableModel, Way, model_of_agent, ways_of
from routines_app.models import Agent, AgentRuntime, Routine, Run
from routines_app.rules.money import dollars
from routines_app.rules.roster import tools_in_words
from routines_app.web.access import WorkspaceRequest, in_workspace

LAST = 20  # runs that reached a model, of which the usual cost is the median
ENOUGH = 3
ABOUT_READ, ABOUT_WRITTEN = 12_000, 1_000  # tokens of a run that nobody has seen yet


@dataclass(frozen=True)
class RosterRow:
    """One agent as the roster shows it. `typically` is "" where nothing is known."""

    agent: Agent
    thinks: str
    tools: str
    works_for: list[Routine]
    typically: str


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


def about(model: UsableModel) -> int:
    """What a run with this model costs before any was seen, by the price list alone."""
    return cost_of(model.price, input_tokens=ABOUT_READ, output_tokens=ABOUT_WRITTEN)


def cost_words(agent: Agent, ways: list[Way]) -> str:
    """What a run of it typically costs: "$0.06", "About $0.05", or "" where nothing is known."""
    usual = usual_cost(agent)
    if usual is not None:
        return dollars(usual)
    model = model_of_agent(agent, ways)
    return f"About {dollars(about(model))}" if isinstance(model, UsableModel) else ""


def thinks_words(content: AgentContent) -> str:
    """How it thinks, as the roster says it: "balanced", "none", or one model's name."""
    if content.model:
        return content.model.partition("/")[2] or content.model
    return thinks(content).lower() if content.tier else "none"


def agents_of(workspace: Workspace) -> QuerySet[Agent]:
    """Those that aren't deleted, each with the routines that it works for, in `works_for`."""
    routines = Routine.objects.filter(deleted_at__isnull=True).order_by("name")
    return (
        Agent.objects.filter(workspace=workspace, deleted_at__isnull=True)
        .select_related("workspace")
        .prefetch_related(Prefetch("routines", queryset=routines, to_attr="works_for"))
        .order_by("id")
    )


@in_workspace(Role.VIEWER)
@require_GET
def roster(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Each agent with its purpose and the routines that it works for."""
    ways = ways_of(request.workspace)
    rows = [_row(agent, ways) for agent in agents_of(request.workspace)]
    context = {
        "rows": rows,
        "busy": len([row for row in rows if row.works_for]),
        "may_make": request.membership.may(Role.MEMBER),
    }
    return render(request, "pages/agents.html", context)


def _row(agent: Agent, ways: list[Way]) -> RosterRow:
    content = content_of_agent(agent)
    return RosterRow(
        agent,
        thinks_words(content),
        tools_in_words(content.tools),
        agent.works_for,  # type: ignore[attr-defined]  # agents_of adds it
        cost_words(agent, ways),
    )
