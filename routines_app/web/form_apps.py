"""The apps of a routine as its form offers them, each with its tools."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from accounts.models import Workspace
from routines_app.configure.agent_apps import allowed_at, app_names
from routines_app.configure.apps import names_of
from routines_app.configure.connectors import present_apps
from routines_app.configure.content import AppUse, FieldError
from routines_app.configure.models import version_now
from routines_app.models import Agent, AgentRuntime, Connector, ConnectorState
from routines_app.rules.allowed import tools_within
from routines_app.web.app_tools import AppTool, ticked_of, tools_to_tick
from routines_app.web.form_state import FormState


@dataclass(frozen=True)
class AppChoice:
    """One app as the form offers it. `how` is "", may or must; `trouble` a few words after "It",
    `limit` a sentence, where its agent may not use all of it; `limited`: only what is ticked."""

    slug: str
    name: str
    how: str
    trouble: str
    limit: str
    limited: bool
    tools: tuple[AppTool, ...]

    @property
    def ticked(self) -> list[AppTool]:
        return [tool for tool in self.tools if tool.chosen]

    @property
    def opened(self) -> bool:
        """Whether there is a choice of tools to be seen, or to be asked about."""
        return self.limited or bool(self.ticked)

    @property
    def says(self) -> str:
        """What is chosen of it: "all 3 tools", "2 of 3 tools, which read"."""
        there = [tool for tool in self.tools if tool.changes is not None]
        count = f"{len(there)} tool{'' if len(there) == 1 else 's'}"
        if not self.limited:
            return f"{'All' if self.how and len(there) != 1 else 'Its'} {count}"
        chosen = [tool for tool in there if tool.chosen]
        if not chosen:
            return f"None of {count}"
        changing = sum(1 for tool in chosen if tool.changes)
        one = len(chosen) == 1
        does = f"which read{'s' if one else ''}"
        if changing == len(chosen):
            does = f"which change{'s' if one else ''} things"
        elif changing:
            does = f"of which {changing} change{'s' if changing == 1 else ''} things"
        return f"{len(chosen)} of {count}, {does}"


def apps_offered(workspace: Workspace, state: FormState, agent: Agent | None) -> list[AppChoice]:
    """The workspace's apps; and those that are chosen and aren't connected any more."""
    chosen = {slug: how for slug, _, how in (each.partition(":") for each in state.apps)}
    found = [
        _choice(app, chosen.pop(app.slug, ""), state, agent) for app in present_apps(workspace)
    ]
    names = app_names(workspace, chosen) if chosen else {}
    return found + [
        _gone_choice(slug, names.get(slug, slug), how, state) for slug, how in chosen.items()
    ]


def _gone_choice(slug: str, name: str, how: str, state: FormState) -> AppChoice:
    tools = tools_to_tick(slug, None, ticked_of(slug, state.app_tools), described=True)
    return AppChoice(slug, name, how, "isn’t connected", "", slug in state.app_limits, tools)


def _choice(app: Connector, how: str, state: FormState, agent: Agent | None) -> AppChoice:
    slug = app.slug
    tools = tools_to_tick(slug, app, ticked_of(slug, state.app_tools), described=True)
    limited = slug in state.app_limits
    allowed = _allowed(agent, app)
    if agent is not None and 0 < len(allowed) < len(names_of(app)):
        tools = tuple(
            tool
            if tool.name in allowed or tool.changes is None
            else replace(tool, does=f"{agent.name} may not use it. {tool.does}")
            for tool in tools
        )
    limit = _limit(agent, app, allowed)
    return AppChoice(slug, app.name, how, app_trouble(app), limit, limited, tools)


def ticked_in_vain(
    workspace: Workspace, state: FormState, before: Sequence[AppUse]
) -> list[FieldError]:
    """Tools that were ticked of an app that is given whole, or not at all: was it to be limited to
    them? Where it was limited before, the other choice says enough."""
    limited = {use.app for use in before if use.tools is not None}
    used = {each.partition(":")[0] for each in state.apps}
    ticked = dict.fromkeys(each.partition("/")[0] for each in state.app_tools)
    vain = [slug for slug in ticked if slug not in limited]
    vain = [slug for slug in vain if slug not in used or slug not in state.app_limits]
    names = app_names(workspace, vain) if vain else {}
    found = []
    for slug in vain:
        name = names.get(slug, slug[:40])
        choose = "“Only these”" if slug in used else "whether it may use them"
        said = f"Tools of {name} are ticked. Choose {choose}, or untick them."
        found.append(FieldError("apps", said))
    return found


def _allowed(agent: Agent | None, app: Connector) -> tuple[str, ...]:
    """Those of an app's tools that the agent may use that is named; all, where nobody is."""
    names = names_of(app)
    if agent is None or agent.runtime == AgentRuntime.SCRIPT:
        return tuple(names)
    return tools_within(allowed_at(version_now(agent)), app.slug, names)


def _limit(agent: Agent | None, app: Connector, allowed: Sequence[str]) -> str:
    """What the agent that is named may not use of an app; "" when it may use all."""
    names = names_of(app)
    if agent is None or len(allowed) == len(names):
        return ""
    if not allowed:
        return f"{agent.name} may not use it."
    return f"{agent.name} may use {len(allowed)} of its {len(names)} tools."


def app_trouble(app: Connector) -> str:
    """What is wrong with an app, in a few words after "It"; "" when nothing is."""
    match app.state:
        case ConnectorState.REFUSED:
            return "asks to be signed in again"
        case ConnectorState.NEW:
            return "was never asked for its tools"
        case ConnectorState.SILENT:
            return "didn’t answer when it was last asked"
        case _:
            return ""
