"""The apps of a workspace: connecting one, asking it for its tools, saying what they change."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role
from routines_app.configure.app_sign_in import end_sign_in
from routines_app.configure.connectors import (
    NewApp,
    Problems,
    add_app,
    present_apps,
    remove_app,
    set_changes,
)
from routines_app.models import ConnectorState
from routines_app.rules.reasons import number_word
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.app_row import LOOKS, AppRow, app_of, asked_for_tools, row_of


@in_workspace(Role.VIEWER)
@require_GET
def apps(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Every app, with what is wrong with it and which routines need it."""
    return _page(request)


def _page(
    request: WorkspaceRequest, problems: Problems | None = None, typed: NewApp | None = None
) -> HttpResponse:
    asked = request.GET.get("asked", "")
    rows = [row_of(app, int(str(app.key) == asked)) for app in present_apps(request.workspace)]
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
    never = sum(row.refused and row.never for row in rows)
    refused = sum(row.refused or row.ends_soon for row in rows) - never
    silent = sum(row.silent for row in rows)
    said = []
    if refused:
        asks = "asks" if refused == 1 else "ask"
        said.append(f"{number_word(refused).capitalize()} {asks} to be signed in again.")
    if never:
        said.append(f"Nobody has signed in to {number_word(never)} yet.")
    if silent:
        answers = "doesn’t answer" if silent == 1 else "don’t answer"
        said.append(f"{number_word(silent).capitalize()} {answers}.")
    return " ".join(said)


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def app_add(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Keep an app, and have it asked for its tools; a GET is somebody who reloads."""
    if request.method == "GET":
        return redirect("apps", workspace_slug)
    form = request.POST
    new = NewApp(form.get("name", ""), form.get("address", ""), form.get("headers", ""))
    added = add_app(request.workspace, request.user, new)
    if isinstance(added, dict):
        return _page(request, added, new)
    asked_for_tools(added)
    return redirect(f"../?asked={added.key}")


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def app_test(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Ask an app for its tools; a GET looks whether its answer is there."""
    app = app_of(request, key)
    asked = 1
    if request.method == "POST":
        asked = 1 if asked_for_tools(app) else LOOKS + 1
        app.refresh_from_db()
    elif (look := request.GET.get("look", "")).isdecimal():
        asked = min(int(look[:6]) + 1, LOOKS + 1)
    if not request.htmx:
        return redirect(f"../../?asked={app.key}")
    rows = [row_of(each) for each in present_apps(request.workspace)]
    stand = {"hero": _hero(rows), "wrong": _wrong(rows)}
    context = {"row": row_of(app, asked), "may_change": True, **stand}
    return render(request, "partials/app_tested.html", context)


@in_workspace(Role.VIEWER)
@require_http_methods(["GET", "POST"])
def app_tools(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """An app's tools; an admin says which of them change things."""
    app = app_of(request, key)
    may_change = request.membership.may(Role.ADMIN)
    if request.method == "POST":
        if not may_change:
            return role_too_low(request, Role.ADMIN)
        # by name: the app may have been asked for its tools since the page was shown
        names, said = request.POST.getlist("named"), request.POST.getlist("tool")
        chosen = dict(zip(names, said, strict=False)) if len(said) == len(names) else {}
        set_changes(app, {name: word == "changes" for name, word in chosen.items()})
        messages.success(request, f"{app.name}’s tools are saved.")
        return redirect("app_tools", workspace_slug, app.key)
    context = {"row": row_of(app), "may_change": may_change}
    return render(request, "pages/app_tools.html", context)


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def app_remove(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Disconnect an app; asked first, with the routines that it would stop."""
    app = app_of(request, key)
    if request.method == "GET":
        return render(request, "pages/app_remove.html", {"row": row_of(app), "app": app})
    remove_app(app)
    if end_sign_in(app):
        messages.success(request, f"{app.name} is disconnected.")
    else:
        said = f"{app.name} is disconnected. It couldn’t be told: take the sign-in back there, too."
        messages.warning(request, said)
    return redirect("apps", workspace_slug)
