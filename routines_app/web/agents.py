"""The roster: each agent, how it thinks, what it may use, for whom it works, what it costs."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import Role, Workspace
from billing.prices import cost_of
from routines_app.configure.agent_apps import app_names
from routines_app.configure.agent_content import AgentContent, content_at, thinks
from routines_app.configure.models import (
    Unusable,
    UsableModel,
    named_model,
    versions_now,
    ways_of,
    word_models,
)
from routines_app.models import Agent, AgentRuntime, Routine
from routines_app.rules.money import dollars
from routines_app.rules.roster import Tier, tools_in_words
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.agent_figures import picked_for, usual_costs

ABOUT_READ, ABOUT_WRITTEN = 12_000, 1_000  # tokens of a run that nobody has seen yet


@dataclass(frozen=True)
class RosterRow:
    """One agent as the roster shows it. `typically` is "" where nothing is known.

    `picked_for` are the routines that name nobody and that it was picked for lately.
    """

    agent: Agent
    thinks: str
    tools: str
    works_for: list[Routine]
    picked_for: list[Routine]
    typically: str


def about(model: UsableModel) -> int:
    """What a run with this model costs before any was seen, by the price list alone."""
    return cost_of(model.price, input_tokens=ABOUT_READ, output_tokens=ABOUT_WRITTEN)


def cost_words(usual: int | None, model: UsableModel | Unusable | None) -> str:
    """What a run typically costs: "$0.06", "About $0.05", or "" where nothing is known.

    `usual` is what is known of an agent's runs, in micro-dollars; `model` what it thinks with.
    """
    if usual is not None:
        return dollars(usual)
    return f"About {dollars(about(model))}" if isinstance(model, UsableModel) else ""


def thinks_words(content: AgentContent) -> str:
    """How it thinks, as the roster says it: "balanced", "none", or one model's name."""
    if content.model:
        return content.model.partition("/")[2] or content.model
    return thinks(content).lower() if content.tier else "none"


def may_use_words(content: AgentContent, app_names: Mapping[str, str]) -> str:
    """What it may use, as the roster says it: "Files, web, Helpdesk"; the apps only where it is
    limited to some. `app_names` are theirs by their slugs."""
    apps = [app_names.get(each.app, each.app) for each in content.apps or ()]
    tools = [tools_in_words(content.tools)] if content.tools or not apps else []
    return ", ".join([*tools, *apps])


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
    words = word_models(request.workspace, ways)
    agents = list(agents_of(request.workspace))
    usual, picked, versions = usual_costs(agents), picked_for(agents), versions_now(agents)
    contents = {agent.pk: content_at(agent, versions.get(agent.pk)) for agent in agents}
    slugs = {app.app for content in contents.values() for app in content.apps or ()}
    names = app_names(request.workspace, slugs) if slugs else {}
    rows = []
    for agent in agents:
        content = contents[agent.pk]
        thinks_at_all = agent.runtime == AgentRuntime.MODEL
        model = words[content.tier or Tier.BALANCED] if thinks_at_all else None
        if content.model:
            model = named_model(request.workspace, content.model, ways)
        cost = cost_words(usual.get(agent.pk), model)
        works_for: list[Routine] = agent.works_for  # type: ignore[attr-defined]  # agents_of
        rows.append(
            RosterRow(
                agent,
                thinks_words(content),
                may_use_words(content, names),
                works_for,
                picked.get(agent.pk, []),
                cost,
            )
        )
    context = {
        "rows": rows,
        "busy": len([row for row in rows if row.works_for]),
        "may_make": request.membership.may(Role.MEMBER),
    }
    return render(request, "pages/agents.html", context)
