"""The apps of a workspace: connecting one, asking it for its tools, saying what they change."""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from kombu.exceptions import OperationalError

from accounts.models import Role
from routines_app.configure.apps import routines_using
from routines_app.configure.connectors import (
    NewApp,
    Problems,
    add_app,
    ask_for_tools,
    present_apps,
    remove_app,
    set_changes,
    sign_in_again,
)
from routines_app.models import Connector, ConnectorState, Routine
from routines_app.rules.reasons import number_word
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low

log = structlog.get_logger()
LOOKS = 60  # one a second, until an app's answer is given up


@dataclass(frozen=True)
class AppRow:
    """One app as the pages show it. `asked`: looks after it was asked; 0: nothing is awaited."""

    app: Connector
    using: list[tuple[Routine, bool]]
    asked: int = 0

    @property
    def place(self) -> str:
        """Its address without what every one begins with."""
        return self.app.address.removeprefix("https://")

    @property
    def tools(self) -> str:
        """How many tools it has, and what they do: "9 tools: 5 read, 4 change things"."""
        count = len(self.app.tools)
        changing = sum(1 for tool in self.app.tools if tool["changes"])
        if not count:
            return ""
        said = f"{count} tool{'' if count == 1 else 's'}"
        if not changing:
            return f"{said}, {'which reads' if count == 1 else 'all read'}"
        if changing == count:
            return f"{said}, {'which changes' if count == 1 else 'all change'} things"
        reads = count - changing
        one = f"{reads} read{'s' if reads == 1 else ''}"
        return f"{said}: {one}, {changing} change{'s' if changing == 1 else ''} things"

    @property
    def signed_in(self) -> str:
        """How it is signed in to; never with what."""
        names = self.app.header_names
        return f"By header {' and '.join(names)}" if names else "Without a sign-in"

    @property
    def requiring(self) -> list[Routine]:
        """The routines that don't run without it."""
        return [routine for routine, required in self.using if required]

    @property
    def asking(self) -> bool:
        return 0 < self.asked <= LOOKS and self.app.checked_at is None

    @property
    def given_up(self) -> bool:
        return self.asked > LOOKS and self.app.checked_at is None

    @property
    def refused(self) -> bool:
        return self.app.state == ConnectorState.REFUSED

    @property
    def silent(self) -> bool:
        return self.app.state == ConnectorState.SILENT


def _row(app: Connector, asked: int = 0) -> AppRow:
    return AppRow(app, routines_using(app), asked)


@in_workspace(Role.VIEWER)
@require_GET
def apps(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Every app, with what is wrong with it and which routines need it."""
    return _page(request)


def _page(
    request: WorkspaceRequest, problems: Problems | None = None, typed: NewApp | None = None
) -> HttpResponse:
    asked = request.GET.get("asked", "")
    rows = [_row(app, int(str(app.key) == asked)) for app in present_apps(request.workspace)]
    context = {
        "rows": rows,
        "hero": _hero(rows),
        "wrong": _wrong(rows),
        "problems": problems or {},
        "typed": typed or NewApp("", ""),
        "may_change": request.membership.may(Role.ADMIN),
    }
    return render(request, "pages/apps.html", context, status=422 if problems else 200)


def _hero(rows: list[AppRow]) -> str:
    count = sum(1 for row in rows if row.app.state == ConnectorState.CONNECTED)
    if not rows:
        return "No app is connected yet."
    if not count:
        return "None is connected."
    return f"{number_word(count).capitalize()} {'is' if count == 1 else 'are'} connected."


def _wrong(rows: list[AppRow]) -> str:
    refused, silent = sum(row.refused for row in rows), sum(row.silent for row in rows)
    said = []
    if refused:
        asks = "asks" if refused == 1 else "ask"
        said.append(f"{number_word(refused).capitalize()} {asks} to be signed in again.")
    if silent:
        answers = "doesn’t answer" if silent == 1 else "don’t answer"
        said.append(f"{number_word(silent).capitalize()} {answers}.")
    return " ".join(said)


@in_workspace(Role.ADMIN)
@require_POST
def app_add(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Keep an app, and have it asked for its tools."""
    form = request.POST
    new = NewApp(form.get("name", ""), form.get("address", ""), form.get("headers", ""))
    added = add_app(request.workspace, request.user, new)
    if isinstance(added, dict):
        return _page(request, added, new)
    _ask(added)
    return redirect(f"../?asked={added.key}")


def _ask(app: Connector) -> bool:
    """Have a runner ask it for its tools; False when that couldn't be passed on."""
    try:
        ask_for_tools(app)
    except OperationalError as error:
        log.warning("tools_not_asked", error=str(error))
        return False
    return True


def _app(request: WorkspaceRequest, key: str) -> Connector:
    rows = Connector.objects.select_related("workspace", "added_by")
    return get_object_or_404(rows, workspace=request.workspace, key=key, removed_at__isnull=True)


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def app_test(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Ask an app for its tools; a GET looks whether its answer is there."""
    app = _app(request, key)
    asked = 1
    if request.method == "POST":
        asked = 1 if _ask(app) else LOOKS + 1
        app.refresh_from_db()
    elif (look := request.GET.get("look", "")).isdecimal():
        asked = min(int(look[:6]) + 1, LOOKS + 1)
    if not request.htmx:
        return redirect(f"../../?asked={app.key}")
    context = {"row": _row(app, asked), "may_change": True}
    return render(request, "partials/app_row.html", context)


@in_workspace(Role.VIEWER)
@require_http_methods(["GET", "POST"])
def app_tools(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """An app's tools; an admin says which of them change things."""
    app = _app(request, key)
    may_change = request.membership.may(Role.ADMIN)
    if request.method == "POST":
        if not may_change:
            return role_too_low(request, Role.ADMIN)
        said = request.POST.getlist("tool")
        names = [tool["name"] for tool in app.tools]
        chosen = dict(zip(names, said, strict=False)) if len(said) == len(names) else {}
        set_changes(app, {name: word == "changes" for name, word in chosen.items()})
        messages.success(request, f"{app.name}’s tools are saved.")
        return redirect("app_tools", workspace_slug, app.key)
    context = {"row": _row(app), "may_change": may_change}
    return render(request, "pages/app_tools.html", context)


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def app_sign_in(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Enter anew what an app is signed in with, and have it asked for its tools."""
    app = _app(request, key)
    problems: Problems = {}
    if request.method == "POST":
        problems = sign_in_again(app, request.POST.get("headers", ""))
        if not problems:
            _ask(app)
            return redirect(f"../../?asked={app.key}")
    context = {"app": app, "problems": problems}
    return render(request, "pages/app_sign_in.html", context, status=422 if problems else 200)


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def app_remove(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Disconnect an app; asked first, with the routines that it would stop."""
    app = _app(request, key)
    if request.method == "GET":
        return render(request, "pages/app_remove.html", {"row": _row(app), "app": app})
    remove_app(app)
    messages.success(request, f"{app.name} is disconnected.")
    return redirect("apps", workspace_slug)
