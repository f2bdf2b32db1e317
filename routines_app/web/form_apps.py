"""The apps of a routine as its form offers them."""

from dataclasses import dataclass

from accounts.models import Workspace
from routines_app.configure.agent_apps import allowed_at, names_of
from routines_app.configure.connectors import present_apps
from routines_app.configure.models import version_now
from routines_app.models import Agent, AgentRuntime, Connector, ConnectorState
from routines_app.rules.allowed import tools_within
from routines_app.web.form_state import FormState


@dataclass(frozen=True)
class AppChoice:
    """One app as the form offers it. `how` is "", may or must; `trouble` a few words after "It",
    `limit` a sentence, where its agent may not use all of it."""

    slug: str
    name: str
    how: str
    trouble: str
    limit: str = ""


def apps_offered(workspace: Workspace, state: FormState, agent: Agent | None) -> list[AppChoice]:
    """The workspace's apps; and those that are chosen and aren't connected any more."""
    chosen = {slug: how for slug, _, how in (each.partition(":") for each in state.apps)}
    found = [
        AppChoice(
            app.slug, app.name, chosen.pop(app.slug, ""), app_trouble(app), _limit(agent, app)
        )
        for app in present_apps(workspace)
    ]
    return found + [AppChoice(slug, slug, how, "isn’t connected") for slug, how in chosen.items()]


def _limit(agent: Agent | None, app: Connector) -> str:
    """What the agent that is named may not use of an app; "" when it may use all."""
    if agent is None or agent.runtime == AgentRuntime.SCRIPT:
        return ""
    names = names_of(app)
    allowed = tools_within(allowed_at(version_now(agent)), app.slug, names)
    if len(allowed) == len(names):
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
