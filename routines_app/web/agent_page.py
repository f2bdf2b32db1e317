"""One agent's page, which is its form: made, changed, put back and deleted there."""

from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Role
from routines_app.configure.agents import (
    AgentChangedMeanwhile,
    AgentContent,
    AgentSaved,
    StaysHere,
    configure_agent,
    content_of_agent,
    content_of_version,
    delete_agent,
    is_as_it_came,
    make_agent,
    may_change,
    put_back,
    thinks,
)
from routines_app.configure.content import FieldError, Refused
from routines_app.configure.models import (
    Unusable,
    UsableModel,
    Way,
    model_of_agent,
    usable_models,
    ways_of,
    word_model,
)
from routines_app.models import Agent, AgentRuntime, Routine, Run
from routines_app.rules.money import dollars
from routines_app.rules.roster import TOOL_GROUPS, Tier, ToolGroup, groups_of, tools_of
from routines_app.rules.status import Shape
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.agents import about, agents_of, cost_words
from routines_app.web.heartbeat import TICKS
from routines_app.web.routine_rows import typical_of
from routines_app.web.run_words import shape_of_status

VERSIONS = 20
_HALVES = (TOOL_GROUPS[: len(TOOL_GROUPS) // 2], TOOL_GROUPS[len(TOOL_GROUPS) // 2 :])
PARTICULAR = "model"  # the fourth way to think: one particular model


@dataclass(frozen=True)
class WordChoice:
    """Fast, balanced or deep, with what it means here."""

    value: str
    words: str
    means: str
    chosen: bool


@dataclass(frozen=True)
class ToolChoice:
    """One group of tools, given or not."""

    group: ToolGroup
    given: bool


@in_workspace(Role.VIEWER)
@require_http_methods(["GET", "HEAD", "POST"])
def agent(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """The page; saving makes a version."""
    found = get_object_or_404(agents_of(request.workspace), slug=slug)
    changes = may_change(request.membership, found)
    if request.method != "POST":
        return _shown(request, found, content_of_agent(found), found.version)
    if not changes:
        return role_too_low(request, Role.ADMIN)
    content = _typed(request.POST, content_of_agent(found))
    version = request.POST.get("version", "")
    number = int(version) if version.isdecimal() and len(version) < 9 else 0
    return _answer(request, found, content, configure_agent(found, request.user, number, content))


@in_workspace(Role.MEMBER)
@require_http_methods(["GET", "HEAD", "POST"])
def agent_new(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """A new agent: blank, a copy of one that is here, or what was sent."""
    like = agents_of(request.workspace).filter(slug=request.GET.get("like", "")).first()
    start = AgentContent("", "", "", Tier.BALANCED.value, tools=tools_of("read", "write", "search"))
    if like is not None and like.runtime == AgentRuntime.MODEL:
        start = replace(content_of_agent(like), name=f"{like.name} of ours")
    if request.method != "POST":
        return _form(request, start)
    content = _typed(request.POST, start)
    made = make_agent(request.workspace, request.user, content)
    if isinstance(made, Refused):
        return _form(request, content, made.errors)
    messages.success(request, f"{made.name} is here. A routine can ask for it now.")
    return redirect("agent", workspace_slug, made.slug)


@in_workspace(Role.MEMBER)
@require_POST
def agent_back(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Put one of the seven back as it came."""
    found = get_object_or_404(agents_of(request.workspace), slug=slug)
    if not may_change(request.membership, found):
        return role_too_low(request, Role.ADMIN)
    answer = put_back(found, request.user, found.version)
    if isinstance(answer, AgentSaved):
        said = "is as it came." if answer.changed else "was as it came already."
        messages.success(request, f"{found.name} {said}")
    elif isinstance(answer, Refused):
        messages.error(request, " ".join(error.sentence for error in answer.errors))
    else:
        messages.error(request, f"{answer.by} changed it a moment ago. Look at that first.")
    return redirect("agent", workspace_slug, slug)


@in_workspace(Role.MEMBER)
@require_http_methods(["GET", "HEAD", "POST"])
def agent_delete(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Take an agent off the roster; asked first, and refused while a routine asks for it."""
    found = get_object_or_404(agents_of(request.workspace), slug=slug)
    if not may_change(request.membership, found):
        return role_too_low(request, Role.ADMIN)
    context: dict[str, object] = {"agent": found, "stays": None}
    if request.method == "POST":
        answer = delete_agent(found)
        if not isinstance(answer, StaysHere):
            messages.success(request, f"{found.name} is deleted. Its runs say what it was.")
            return redirect("agents", workspace_slug)
        context["stays"] = answer
    return render(
        request, "pages/agent_delete.html", context, status=409 if context["stays"] else 200
    )


def _answer(
    request: WorkspaceRequest,
    found: Agent,
    content: AgentContent,
    answer: AgentSaved | Refused | AgentChangedMeanwhile,
) -> HttpResponse:
    match answer:
        case AgentSaved(agent=saved, changed=changed):
            said = f"{saved.name} is saved as version {saved.version}."
            messages.success(request, said if changed else "Nothing was different.")
            return redirect("agent", request.workspace.slug, saved.slug)
        case Refused(errors=errors):
            return _shown(request, found, content, found.version, errors=errors)
        case AgentChangedMeanwhile():
            return _shown(request, found, content, answer.version, theirs=answer)


def _typed(post: QueryDict, start: AgentContent) -> AgentContent:
    """What was sent; what the form didn't have stays as it was."""
    think = post.get("think", start.tier if not start.model else PARTICULAR)
    particular = think == PARTICULAR
    tools = start.tools
    if "tools_shown" in post:
        tools = tools_of(*post.getlist("tools"))
    return AgentContent(
        name=post.get("name", start.name),
        purpose=post.get("purpose", start.purpose),
        persona=post.get("persona", start.persona),
        tier="" if particular else think,
        model=post.get("model", start.model) if particular else "",
        tools=tools,
    )


def _form(
    request: WorkspaceRequest, content: AgentContent, errors: list[FieldError] | None = None
) -> HttpResponse:
    """The page of an agent that isn't there yet."""
    context = _fields(request, content, errors or []) | {"may_change": True}
    return render(request, "pages/agent.html", context, status=422 if errors else 200)


def _shown(
    request: WorkspaceRequest,
    found: Agent,
    content: AgentContent,
    version: int,
    *,
    errors: list[FieldError] | None = None,
    theirs: AgentChangedMeanwhile | None = None,
) -> HttpResponse:
    ways = ways_of(request.workspace)
    works_for: list[Routine] = found.works_for  # type: ignore[attr-defined]  # agents_of adds it
    usual = typical_of([each.pk for each in works_for])
    model = model_of_agent(found, ways)
    context = _fields(request, content, errors or [], ways) | {
        "agent": found,
        "version": version,
        "script": found.runtime == AgentRuntime.SCRIPT,
        "saved": found.versions.select_related("changed_by").filter(number=found.version).first(),
        "versions": found.versions.select_related("changed_by").order_by("-number")[:VERSIONS],
        "may_change": may_change(request.membership, found),
        "may_copy": request.membership.may(Role.MEMBER) and found.runtime == AgentRuntime.MODEL,
        "may_go_back": bool(found.came_as) and not is_as_it_came(found),
        "gone": model.reason if isinstance(model, Unusable) else "",
        "conflict": theirs,
        "differences": _differences(theirs.theirs, content) if theirs else [],
        "cost": cost_words(found, ways),
        "shapes": _shapes(found),
        "works_for": [
            (each, usual[each.pk].spent if each.pk in usual else None) for each in works_for
        ],
    }
    status = 409 if theirs else 422 if errors else 200
    return render(request, "pages/agent.html", context, status=status)


def _fields(
    request: WorkspaceRequest,
    content: AgentContent,
    errors: list[FieldError],
    ways: list[Way] | None = None,
) -> dict[str, object]:
    """What the form's fields need."""
    known = ways_of(request.workspace) if ways is None else ways
    given = set(groups_of(content.tools))
    return {
        "content": content,
        "errors": errors,
        "wrong": {error.field: error.sentence for error in errors},
        "words": [_word(request, tier, content, known) for tier in Tier],
        "particular": bool(content.model) or not content.tier,
        "models": [model.label for model in usable_models(request.workspace)],
        "tools": [[ToolChoice(group, group in given) for group in half] for half in _HALVES],
        "given": groups_of(content.tools),
        "thinks": thinks(content),
    }


def _word(
    request: WorkspaceRequest, tier: Tier, content: AgentContent, ways: list[Way]
) -> WordChoice:
    model = word_model(request.workspace, tier, ways)
    means = (
        f"{model.name}. About {dollars(about(model))} a run, before any is known."
        if isinstance(model, UsableModel)
        else f"No model: {model.reason}."
    )
    return WordChoice(tier.value, tier.capitalize(), means, content.tier == tier.value)


def _differences(theirs: AgentContent, yours: AgentContent) -> list[tuple[str, str, str]]:
    """Name, theirs and yours of each field that differs."""
    said = [
        ("Name", theirs.name, yours.name),
        ("Purpose", theirs.purpose, yours.purpose),
        ("Instructions", theirs.persona, yours.persona),
        ("Thinks with", thinks(theirs), thinks(yours)),
        ("Tools", _tools(theirs), _tools(yours)),
    ]
    return [each for each in said if each[1] != each[2]]


def _tools(content: AgentContent) -> str:
    return ", ".join(group.name.lower() for group in groups_of(content.tools)) or "none"


def _shapes(found: Agent) -> list[Shape]:
    """How the last runs of its routines ended, the oldest first."""
    runs = Run.objects.filter(workspace_id=found.workspace_id, routine__agent=found)
    statuses = runs.order_by("-queued_at").values_list("status", flat=True)[:TICKS]
    return [shape_of_status(status) for status in reversed(statuses)]


@in_workspace(Role.VIEWER)
@require_http_methods(["GET", "HEAD"])
def agent_version(
    request: WorkspaceRequest, workspace_slug: str, slug: str, number: int
) -> HttpResponse:
    """What an agent was at one version, read-only."""
    found = get_object_or_404(Agent, workspace=request.workspace, slug=slug)
    version = get_object_or_404(found.versions.select_related("changed_by", "agent"), number=number)
    content = content_of_version(version)
    context = {
        "agent": found,
        "version": version,
        "content": content,
        "thinks": thinks(content),
        "given": groups_of(content.tools),
    }
    return render(request, "pages/agent_version.html", context)
