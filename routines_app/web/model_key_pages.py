"""One of the workspace's own ways to a model: another key for it, a price, and removing it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.models import Role
from routines_app.configure.model_keys import (
    COMPATIBLE,
    PROVIDERS,
    Problems,
    replace_key,
    routines_using,
    set_price,
)
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.model_pages import asked_for_test, key_of


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def model_key(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Put another key in the place of a connection's own, and have it tested."""
    row = key_of(request, key)
    problems: Problems = {}
    if request.method == "POST":
        problems = replace_key(row, request.POST.get("secret", ""))
        if not problems:
            asked_for_test(row)
            return redirect(f"../../?asked={row.key}")
    context = {
        "key": row,
        "name": PROVIDERS.get(row.provider, row.provider),
        "optional": row.provider == COMPATIBLE,
        "problems": problems,
    }
    return render(request, "pages/model_key.html", context, status=422 if problems else 200)


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def model_price(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Give a key's model a price; a GET is somebody who reloads."""
    row = key_of(request, key)
    if request.method == "GET":
        return redirect("models", workspace_slug)
    problems = set_price(
        row, request.POST.get("input_price", ""), request.POST.get("output_price", "")
    )
    if problems:
        return render(
            request,
            "pages/model_price.html",
            {"key": row, "problems": problems, "typed": request.POST},
            status=422,
        )
    messages.success(request, f"{row.model} has its price.")
    return redirect("models", workspace_slug)


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def model_remove(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Forget a key; asked first, with the routines that it would stop."""
    row = key_of(request, key)
    name = PROVIDERS.get(row.provider, row.provider)
    if request.method == "GET":
        context = {"key": row, "name": name, "routines": routines_using(row)}
        return render(request, "pages/model_remove.html", context)
    row.delete()
    messages.success(request, f"{name} is removed.")
    return redirect("models", workspace_slug)
