"""The apps of an agent as its page shows them: which tools it may use at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import Workspace
from routines_app.configure.agent_apps import app_names
from routines_app.configure.agents import AgentContent
from routines_app.configure.connectors import present_apps
from routines_app.models import Connector
from routines_app.rules.chosen import listed
from routines_app.rules.terminal import without_escapes
from routines_app.web.app_tools import AppTool, tools_to_tick
from routines_app.web.form_apps import app_trouble


@dataclass(frozen=True)
class AppShown:
    """One app as the form shows it. `trouble` is "" for one that is connected."""

    name: str
    trouble: str
    tools: tuple[AppTool, ...]
    says: str

    @property
    def chosen(self) -> bool:
        """Whether anything of it may be used."""
        return any(tool.chosen for tool in self.tools)


def app_fields(workspace: Workspace, content: AgentContent) -> dict[str, object]:
    """What the part about apps needs: `apps_allowed` those of which something may be used, and
    `apps_gone` the names of those among them that were removed."""
    chosen = {each.app: each.tools for each in content.apps or ()}
    here = present_apps(workspace)
    gone = sorted(set(chosen) - {app.slug for app in here})
    names = app_names(workspace, gone) if gone else {}
    gone_names = [names.get(slug, slug) for slug in gone]
    shown = [_shown(app, chosen.get(app.slug, ())) for app in here]
    return {
        "apps_limited": content.apps is not None,
        "apps": shown,
        "apps_allowed": [app for app in shown if app.chosen]
        + [AppShown(name, "isn’t connected any more", (), "") for name in gone_names],
        "apps_gone": gone_names,
    }


def _shown(app: Connector, chosen: Sequence[str]) -> AppShown:
    tools = tools_to_tick(app.slug, app, chosen)
    return AppShown(app.name, app_trouble(app), tools, _says(tools))


def _says(tools: Sequence[AppTool]) -> str:
    """What its tools do, how many of them may be used, and what it doesn't have any more: "reads,
    3 of 9 tools (it no longer has find)"."""
    there = [tool for tool in tools if tool.changes is not None]
    chosen = [tool for tool in there if tool.chosen]
    gone = [without_escapes(tool.name) for tool in tools if tool.changes is None]
    said = "no tool is known"
    if there:
        does = "changes things" if any(tool.changes for tool in chosen or there) else "reads"
        count = f"{len(there)} tool{'' if len(there) == 1 else 's'}"
        if len(chosen) == 1:
            count = chosen[0].name
        elif chosen or gone:
            count = f"{len(chosen) or 'none'} of {count}"
        said = f"{does}, {count}"
    return f"{said} (it no longer has {listed(gone, 'or')})" if gone else said
