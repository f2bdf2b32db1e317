"""What a person may set of an agent, as one value, and in words what an edit of it did."""

from collections.abc import Mapping
from dataclasses import dataclass

from routines_app.configure.agent_apps import allowed_at
from routines_app.configure.models import version_now
from routines_app.models import Agent, AgentRuntime, AgentVersion
from routines_app.rules.allowed import Allowed, said_of_apps
from routines_app.rules.roster import ALL_TOOLS, TOOL_GROUPS, Tier, groups_of


@dataclass(frozen=True)
class AgentContent:
    """All that an edit sets. `model` is `provider/model`; without it `tier` is one of `Tier`.

    A script has neither. `tools` are names as a model calls them, `apps` those that it may use at
    most; None: whatever its routine gives it.
    """

    name: str
    purpose: str
    persona: str
    tier: str
    model: str = ""
    tools: tuple[str, ...] = ()
    apps: Allowed = None


def content_of_agent(agent: Agent) -> AgentContent:
    """What an agent is set to now."""
    return content_at(agent, version_now(agent))


def content_at(agent: Agent, version: AgentVersion | None) -> AgentContent:
    """What an agent was set to at a version; None: it was never described."""
    if version is None:
        script = agent.runtime == AgentRuntime.SCRIPT
        tier = "" if script else Tier.BALANCED.value
        return AgentContent(agent.name, agent.purpose, "", tier, tools=ALL_TOOLS)
    return content_of_version(version)


def content_of_version(version: AgentVersion) -> AgentContent:
    """What an agent was set to at one version."""
    return AgentContent(
        version.name or version.agent.name,
        version.purpose,
        version.persona,
        version.tier,
        version.model,
        tuple(version.tools),
        allowed_at(version),
    )


def what_changed(
    before: AgentContent, after: AgentContent, app_names: Mapping[str, str] | None = None
) -> str:
    """What an edit did, in a few words: "Balanced, was Deep; may fetch web pages".

    `app_names` are the apps' names by their slugs.
    """
    said = []
    if before.name != after.name:
        said.append(f"called {after.name}, was {before.name}")
    if thinks(before) != thinks(after):
        said.append(f"{thinks(after)}, was {thinks(before)}")
    had, has = set(groups_of(before.tools)), set(groups_of(after.tools))
    said += [f"may {group.name.lower()}" for group in TOOL_GROUPS if group in has - had]
    said += [f"may no longer {group.name.lower()}" for group in TOOL_GROUPS if group in had - has]
    said += said_of_apps(before.apps, after.apps, app_names or {})
    if before.persona != after.persona:
        said.append("other instructions")
    if before.purpose != after.purpose:
        said.append("another purpose")
    words = "; ".join(said) or "other tools"
    return words[:1].upper() + words[1:]


def thinks(content: AgentContent) -> str:
    """How an agent thinks, as a word or a model's name: "Balanced", "anthropic/claude-opus-5"."""
    return content.model or content.tier.capitalize() or "No model"
