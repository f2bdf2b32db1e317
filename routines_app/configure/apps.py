"""The apps of a routine: which it may use, whether it can be saved so, and how they are reached."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings

from accounts.models import Workspace
from foundation.crypto import CannotDecrypt, decrypt
from routines_app.agents.connectors import App
from routines_app.agents.mcp_session import SIGN_IN, AppServer, AppTrouble, ListedTool
from routines_app.configure.app_tokens import KeptTokens
from routines_app.configure.content import AppUse, FieldError, apps_of
from routines_app.models import Connector, ConnectorState, Routine
from routines_app.rules.allowed import Allowed, tools_within
from routines_app.rules.chosen import chosen_of, gone_of, listed, said_of

MOST_APPS = 10
MOST_TOOLS = 100  # of all of a routine's apps: what every provider takes beside our own
WHERE = "under Agents, Apps"


@dataclass(frozen=True)
class Missing:
    """An app without which a routine doesn't run. `why` is a sentence, empty when it's removed.

    `barred`: who may not use it, as a sentence begins ("Writer may not", "No agent may"), "" when
    it isn't connected; `barred_slug` that one agent's, "" for several. `tools`: those that were
    chosen, as a sentence lists them, where they are barred, or else gone from the app.
    """

    name: str
    why: str
    barred: str = ""
    barred_slug: str = ""
    tools: str = ""


@dataclass(frozen=True)
class GivenApp:
    """An app as a routine is given it: its row, whether it's required, which of its tools."""

    row: Connector
    use: AppUse

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of those of its tools that the routine is given."""
        return chosen_of(self.use.tools, names_of(self.row))

    @property
    def gone(self) -> tuple[str, ...]:
        """What was chosen and isn't there any more."""
        return gone_of(self.use.tools, names_of(self.row))

    @property
    def said(self) -> str:
        """What a sentence says of it that nobody may use: "find or close of Helpdesk"."""
        return said_of(self.row.name, self.use.tools, "or")


def names_of(app: Connector) -> list[str]:
    """The names of the tools that an app has, as last listed."""
    return [tool["name"] for tool in app.tools]


def given_apps(workspace: Workspace, uses: Iterable[AppUse]) -> list[GivenApp]:
    """The apps of these uses that are there, in the same order."""
    uses = list(uses)
    rows = rows_of(workspace, uses) if uses else {}
    return [
        GivenApp(rows[use.app], use)
        for use in uses
        if use.app in rows and rows[use.app].removed_at is None
    ]


def app_problems(
    workspace: Workspace, uses: tuple[AppUse, ...], before: tuple[AppUse, ...] = ()
) -> list[FieldError]:
    """What stands against a routine that uses these apps, each with what to connect or to choose.

    What was chosen `before` and isn't there any more may stay.
    """
    if not uses:
        return []
    rows = rows_of(workspace, uses)
    had = {(use.app, name) for use in before for name in use.tools or ()}
    found = []
    for use in uses:
        app = rows.get(use.app)
        if app is None:
            found.append(FieldError("apps", f"No app here is called {use.app[:40]}. Leave it out."))
        elif problem := _problem(GivenApp(app, use), had):
            found.append(FieldError("apps", problem))
    if len({use.app for use in uses}) != len(uses):
        found.append(FieldError("apps", "Choose each app once."))
    if len(uses) > MOST_APPS:
        found.append(FieldError("apps", f"Choose {MOST_APPS} apps or fewer."))
    tools = sum(len(GivenApp(rows[use.app], use).tools) for use in uses if use.app in rows)
    if tools > MOST_TOOLS:
        said = f"Together that is {tools} tools of apps; a model takes {MOST_TOOLS}. Choose fewer."
        found.append(FieldError("apps", said))
    return found


def _problem(given: GivenApp, had: set[tuple[str, str]]) -> str:
    """What stands against being given this app, as a sentence; "" for nothing."""
    app, use = given.row, given.use
    if use.tools == ():
        return f"No tool of {app.name} is chosen. Choose one, or leave {app.name} out."
    new = [name for name in given.gone if (use.app, name) not in had]
    if new and app.removed_at is None:
        return f"{app.name} has no tool called {new[0][:60]}. Leave it out."
    missing = _missing(given) if use.required else None
    return _what_to_do(missing) if missing else ""


def missing_app(routine: Routine) -> Missing | None:
    """The first app that this routine requires and that can't be used, as last known."""
    required = [use for use in apps_of(routine.apps) if use.required]
    if not required:
        return None
    rows = rows_of(routine.workspace, required)
    for use in required:
        app = rows.get(use.app)
        missing = Missing(use.app, "") if app is None else _missing(GivenApp(app, use))
        if missing is not None:
            return missing
    return None


def apps_for(routine: Routine) -> tuple[App, ...]:
    """The apps that this routine may use, with their tools as last listed and the way to each.

    One that has been removed, and isn't required, isn't among them.
    """
    return tuple(_app(given) for given in given_apps(routine.workspace, apps_of(routine.apps)))


def offered_json(
    routine: Routine, apps: tuple[App, ...], allowed: Allowed
) -> list[dict[str, object]]:
    """What a run keeps of its apps: each with how many of its tools are offered, of how many, and
    with those that were chosen and are gone, where there are any.

    `apps` are those of the routine that are there.
    """
    there = {app.slug: app for app in apps}
    uses = apps_of(routine.apps)
    away = [use for use in uses if use.app not in there]
    known = rows_of(routine.workspace, away) if away else {}
    found: list[dict[str, object]] = []
    for use in uses:
        app = there.get(use.app)
        names = [tool.name for tool in app.tools] if app else []
        offered = tools_within(allowed, use.app, chosen_of(use.tools, names))
        row = app or known.get(use.app)
        name = row.name if row else use.app
        found.append({"name": name, "tools": len(offered), "of": len(names), "there": bool(app)})
        if app is not None and (gone := gone_of(use.tools, names)):
            found[-1]["gone"] = list(gone)
    return found


def server_of(app: Connector) -> AppServer:
    """The way to an app. Raises CannotDecrypt."""
    headers: tuple[tuple[str, str], ...] = ()
    if app.sealed:
        kept = decrypt(settings.ENCRYPTION_KEY, str(app.workspace.key), bytes(app.sealed))
        headers = tuple((name, value) for name, value in json.loads(kept))
    sign_in = getattr(app, "sign_in", None)
    by_tokens = sign_in is not None and sign_in.signed_in_at is not None
    tokens = KeptTokens(app.pk) if by_tokens else None
    return AppServer(app.address, headers, nearby=settings.NEARBY_MODELS, sign_in=tokens)


def routines_using(app: Connector) -> list[tuple[Routine, bool]]:
    """The routines that may use an app, each with whether it requires it."""
    here = Routine.objects.present().filter(
        workspace_id=app.workspace_id, apps__contains=[{"app": app.slug}]
    )
    return [
        (routine, any(use.required for use in apps_of(routine.apps) if use.app == app.slug))
        for routine in here.order_by("name")
    ]


def _app(given: GivenApp) -> App:
    row, required, chosen = given.row, given.use.required, given.use.tools
    tools = tuple(
        ListedTool(tool["name"], tool["description"], tool["schema"], tool["changes"])
        for tool in row.tools
    )
    try:
        return App(row.slug, row.name, tools, server_of(row), required, chosen=chosen)
    except CannotDecrypt:
        trouble = AppTrouble("Its sign-in can’t be read. Enter it again.", refused=True)
        return App(row.slug, row.name, tools, None, required, trouble, chosen)


def rows_of(workspace: Workspace, uses: Iterable[AppUse]) -> dict[str, Connector]:
    """Each app by its slug; the one removed last stands there until another takes its place."""
    rows = Connector.objects.filter(
        workspace=workspace, slug__in=[use.app for use in uses if "\0" not in use.app]
    ).select_related("workspace", "sign_in")
    found: dict[str, Connector] = {}
    for row in rows.order_by("pk"):
        before = found.get(row.slug)
        if before is None or before.removed_at is not None or row.removed_at is None:
            found[row.slug] = row
    return found


def _missing(given: GivenApp) -> Missing | None:
    app = given.row
    if app.removed_at is not None:
        return Missing(app.name, "")
    match app.state:
        case ConnectorState.REFUSED:
            return Missing(app.name, app.trouble or SIGN_IN)
        case ConnectorState.NEW:
            return Missing(app.name, "It was never asked for its tools.")
        case _ if given.use.tools is not None and not given.tools:
            return Missing(app.name, "", tools=listed(given.use.tools, "or"))
        case _:
            return None


def _what_to_do(missing: Missing) -> str:
    if missing.tools:
        return (
            f"{missing.name} no longer has {missing.tools}. Choose other tools of it, or don’t "
            "require it."
        )
    if not missing.why:
        return f"{missing.name} isn’t connected. Connect it {WHERE}, or don’t require it."
    return (
        f"{missing.name} isn’t connected. {missing.why} Put that right {WHERE}, or don’t require "
        "it."
    )
