"""Signing in to an app: by headers, or at the place that signs in for it and back.

A person is sent there only from a page that says where. Chromium holds the whole way that a form
leads to against the page's `form-action`, so that page alone lets a form lead off this site.
"""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role
from routines_app.agents.oauth_offer import Offer
from routines_app.configure.app_sign_in import (
    Answer,
    Came,
    NotSignedIn,
    Typed,
    begin_sign_in,
    end_sign_in,
    finish_sign_in,
    knows_client,
    offer_of,
)
from routines_app.configure.connectors import Problems, sign_in_again
from routines_app.models import Connector
from routines_app.web.access import PersonRequest, WorkspaceRequest, in_workspace, signed_in
from routines_app.web.app_row import app_of, asked_for_tools, row_of

CAME = {
    Came.DECLINED: "You, or {host}, said no.",
    Came.BROKE: "{host} couldn’t go through with it.",
    Came.LATE: "More than ten minutes had passed.",
    Came.USED: "That answer was brought here before.",
    Came.MIXED: "The answer didn’t come from {host}, so it wasn’t taken.",
    Came.REFUSED: "{host} didn’t take its own answer back.",
    Came.SILENT: "{host} couldn’t be asked just now.",
}


def back_to() -> str:
    """The one address to which every sign-in sends people back."""
    return f"{settings.SITE_URL}{reverse('app_signed_in')}"


@never_cache
@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def app_sign_in(request: WorkspaceRequest, workspace_slug: str, key: str) -> HttpResponse:
    """Say where somebody would be sent, and send them there; or take headers anew."""
    app = app_of(request, key)
    offer = offer_of(app)
    problems: Problems = {}
    if request.method == "POST" and "headers" in request.POST:
        problems = sign_in_again(app, request.POST["headers"])
        if not problems:
            end_sign_in(app)
            asked_for_tools(app)
            return redirect(f"../../?asked={app.key}")
    elif request.method == "POST" and offer is not None:
        form = request.POST
        typed = Typed(form.get("client_id", ""), form.get("client_secret", ""))
        session = str(request.session.session_key)
        found = begin_sign_in(app, request.user, session, back_to(), typed)
        if isinstance(found, str):
            return _sent(found)
        problems = found
    return _page(request, app, offer, problems)


def _page(
    request: WorkspaceRequest, app: Connector, offer: Offer | None, problems: Problems
) -> HttpResponse:
    came = request.GET.get("came", "")
    said = CAME[Came(came)] if offer is not None and came in list(Came) else ""
    context = {
        "app": app,
        "row": row_of(app),
        "offer": offer,
        "scopes": offer.scopes.split() if offer else [],
        "back_to": back_to(),
        "came": said.format(host=offer.host) if offer else "",
        "by_hand": offer is not None and ("client_id" in problems or not offer.registers),
        "client_known": offer is not None and knows_client(app, offer, back_to()),
        "typed_id": request.POST.get("client_id", ""),
        "problems": problems,
    }
    answer = render(request, "pages/app_sign_in.html", context, status=422 if problems else 200)
    if offer is not None:
        anywhere = ["https:", "http:"] if settings.NEARBY_MODELS else ["https:"]
        answer._csp_update = {"form-action": anywhere}  # type: ignore[attr-defined]
    return answer


def _sent(where: str) -> HttpResponse:
    """A plain redirect, which says nothing of where it comes from."""
    answer = HttpResponse(status=302)
    answer["Location"] = where
    answer["Referrer-Policy"] = "no-referrer"
    return answer


@never_cache
@signed_in
@require_GET
def app_signed_in(request: PersonRequest) -> HttpResponseBase:
    """Take the answer that a person brings back from an app's sign-in, and lead them on from this
    address at once: it holds what nobody else is to see."""
    said = request.GET
    answer = Answer(
        said.get("state", ""), said.get("code", ""), said.get("error", ""), said.get("iss")
    )
    found = finish_sign_in(request.user, str(request.session.session_key), answer)
    if isinstance(found, NotSignedIn):
        if found.app is None or found.came is None:
            return render(cast(HttpRequest, request), "pages/app_not_signed_in.html", status=422)
        there = reverse("app_sign_in", args=[found.app.workspace.slug, found.app.key])
        return redirect(f"{there}?came={found.came}")
    app = found.app
    asked_for_tools(app)
    messages.success(request, f"You are signed in to {app.name}.")
    return redirect(f"{reverse('apps', args=[app.workspace.slug])}?asked={app.key}")
