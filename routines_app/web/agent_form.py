"""What an agent's form holds: read from what was sent, and shown again."""

from dataclasses import dataclass

from django.http import QueryDict

from accounts.models import Workspace
from routines_app.configure.agents import AgentContent, thinks
from routines_app.configure.content import FieldError
from routines_app.configure.models import (
    Unusable,
    UsableModel,
    Way,
    usable_models,
    ways_of,
    word_models,
)
from routines_app.rules.allowed import Allowed, AllowedApp, in_order
from routines_app.rules.money import dollars
from routines_app.rules.roster import TOOL_GROUPS, Tier, ToolGroup, groups_of, tools_of
from routines_app.web.agent_apps import app_fields
from routines_app.web.agents import about
from routines_app.web.app_tools import LIMITED

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


def typed(post: QueryDict, start: AgentContent) -> AgentContent:
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
        apps=_typed_apps(post, start),
    )


def _typed_apps(post: QueryDict, start: AgentContent) -> Allowed:
    if "apps_shown" not in post:
        return start.apps
    return typed_apps(post) if post.get("apps_limit") == LIMITED else None


def typed_apps(post: QueryDict) -> Allowed:
    """The tools that were ticked, each sent as its app's slug, a slash and its name."""
    pairs = [value.partition("/") for value in post.getlist("app_tools")]
    return in_order(tuple(AllowedApp(slug, (name,)) for slug, _, name in pairs if name))


def ticked_in_vain(post: QueryDict, start: AgentContent) -> list[FieldError]:
    """Tools that were ticked while the agent is left to use whatever its routine gives it: was it
    to be limited to them? Where it was limited before, the other choice says enough."""
    if start.apps is not None or not post.getlist("app_tools") or post.get("apps_limit") == LIMITED:
        return []
    said = "Tools are ticked. Choose “At most these”, or untick them."
    return [FieldError("apps", said)]


def form_fields(
    workspace: Workspace,
    content: AgentContent,
    errors: list[FieldError],
    ways: list[Way] | None = None,
) -> dict[str, object]:
    """What the form's fields need."""
    known = ways_of(workspace) if ways is None else ways
    given = set(groups_of(content.tools))
    meant = word_models(workspace, known)
    return {
        "content": content,
        "errors": errors,
        "wrong": {error.field: error.sentence for error in errors},
        "words": [_word(tier, content, meant[tier]) for tier in Tier],
        "particular": bool(content.model) or not content.tier,
        "models": [model.label for model in usable_models(workspace, known)],
        "tools": [[ToolChoice(group, group in given) for group in half] for half in _HALVES],
        "given": groups_of(content.tools),
        "thinks": thinks(content),
        **app_fields(workspace, content),
    }


def _word(tier: Tier, content: AgentContent, model: UsableModel | Unusable) -> WordChoice:
    means = (
        f"{model.name}. About {dollars(about(model))} a run, before any is known."
        if isinstance(model, UsableModel)
        else f"No model: {model.reason}."
    )
    return WordChoice(tier.value, tier.capitalize(), means, content.tier == tier.value)


def differences(theirs: AgentContent, yours: AgentContent) -> list[tuple[str, str, str]]:
    """Name, theirs and yours of each field that differs."""
    said = [
        ("Name", theirs.name, yours.name),
        ("Purpose", theirs.purpose, yours.purpose),
        ("Instructions", theirs.persona, yours.persona),
        ("Thinks with", thinks(theirs), thinks(yours)),
        ("Tools", _tools(theirs), _tools(yours)),
        ("Apps", _apps(theirs), _apps(yours)),
    ]
    return [each for each in said if each[1] != each[2]]


def _tools(content: AgentContent) -> str:
    return ", ".join(group.name.lower() for group in groups_of(content.tools)) or "none"


def _apps(content: AgentContent) -> str:
    if content.apps is None:
        return "whatever its routine gives it"
    return "; ".join(f"{each.app}: {', '.join(each.tools)}" for each in content.apps) or "none"
