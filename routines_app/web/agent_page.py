"""One agent's page, which is its form: made, changed, put back and deleted there."""

from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Role
from foundation import clock
from routines_app.configure.agents import (
    AgentChangedMeanwhile,
    AgentContent,
    AgentSaved,
    StaysHere,
    WouldStop,
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
from routines_app.configure.models import Unusable, model_of_agent, ways_of
from routines_app.models import Agent, AgentRuntime, Routine
from routines_app.rules.roster import Tier, groups_of, tools_of
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.agent_apps import app_fields
from routines_app.web.agent_figures import last_shapes, month_so_far, picked_for, usual_costs
from routines_app.web.agent_form import differences, form_fields, ticked_in_vain, typed, typed_apps
from routines_app.web.agents import agents_of, cost_words
from routines_app.web.routine_rows import typical_of

VERSIONS = 20


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
    start = content_of_agent(found)
    content = typed(request.POST, start)
    version = request.POST.get("version", "")
    number = int(version) if version.isdecimal() and len(version) < 9 else 0
    in_vain = ticked_in_vain(request.POST, start)
    if in_vain:
        ticked = replace(content, apps=typed_apps(request.POST))
        return _shown(request, found, ticked, number, errors=in_vain)
    known = request.POST.getlist("stopping")
    answer = configure_agent(found, request.user, number, content, stopping=known)
    return _answer(request, found, content, answer)


@in_workspace(Role.MEMBER)
@require_http_methods(["GET", "HEAD", "POST"])
def agent_new(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """A new agent: blank, a copy of one that is here, or what was sent."""
    slug = request.GET.get("like", "").replace("\0", "")
    like = agents_of(request.workspace).filter(slug=slug).first()
    start = AgentContent("", "", "", Tier.BALANCED.value, tools=tools_of("read", "write", "search"))
    if like is not None and like.runtime == AgentRuntime.MODEL:
        start = replace(content_of_agent(like), name=f"{like.name} of ours")
    if request.method != "POST":
        return _form(request, start)
    content = typed(request.POST, start)
    in_vain = ticked_in_vain(request.POST, start)
    if in_vain:
        return _form(request, replace(content, apps=typed_apps(request.POST)), in_vain)
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
    answer: AgentSaved | Refused | AgentChangedMeanwhile | WouldStop,
) -> HttpResponse:
    match answer:
        case AgentSaved(agent=saved, changed=changed):
            said = f"{saved.name} is saved as version {saved.version}."
            messages.success(request, said if changed else "Nothing was different.")
            return redirect("agent", request.workspace.slug, saved.slug)
        case Refused(errors=errors):
            return _shown(request, found, content, found.version, errors=errors)
        case WouldStop(routines=routines):
            return _shown(request, found, content, found.version, stops=routines)
        case AgentChangedMeanwhile():
            return _shown(request, found, content, answer.version, theirs=answer)


def _form(
    request: WorkspaceRequest, content: AgentContent, errors: list[FieldError] | None = None
) -> HttpResponse:
    """The page of an agent that isn't there yet."""
    context = form_fields(request.workspace, content, errors or []) | {"may_change": True}
    return render(request, "pages/agent.html", context, status=422 if errors else 200)


def _shown(
    request: WorkspaceRequest,
    found: Agent,
    content: AgentContent,
    version: int,
    *,
    errors: list[FieldError] | None = None,
    theirs: AgentChangedMeanwhile | None = None,
    stops: list[Routine] | None = None,
) -> HttpResponse:
    ways = ways_of(request.workspace)
    works_for: list[Routine] = found.works_for  # type: ignore[attr-defined]  # agents_of adds it
    picked = picked_for([found]).get(found.pk, [])
    usual = typical_of([each.pk for each in [*works_for, *picked]])
    model = model_of_agent(found, ways)
    context = form_fields(request.workspace, content, errors or [], ways) | {
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
        "differences": differences(theirs.theirs, content) if theirs else [],
        "stops": stops or [],
        "cost": cost_words(usual_costs([found]).get(found.pk), model),
        "shapes": last_shapes(found),
        "month": month_so_far(found, clock.now()),
        "works_for": [
            (each, usual[each.pk].spent if each.pk in usual else None) for each in works_for
        ],
        "picked_for": [
            (each, usual[each.pk].spent if each.pk in usual else None) for each in picked
        ],
    }
    status = 409 if theirs or stops else 422 if errors else 200
    return render(request, "pages/agent.html", context, status=status)


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
        "script": found.runtime == AgentRuntime.SCRIPT,
        **app_fields(request.workspace, content),
    }
    return render(request, "pages/agent_version.html", context)
