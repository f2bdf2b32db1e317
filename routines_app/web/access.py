"""The door of every page in a workspace."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from urllib.parse import urlencode, urlsplit

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

from accounts.access import membership_of, who_can_help
from accounts.models import Membership, Role, User, Workspace
from routines_app.models import Routine

P = ParamSpec("P")


class PersonRequest(HttpRequest):
    """A request of somebody who is signed in."""

    user: User
    htmx: HtmxDetails


class WorkspaceRequest(PersonRequest):
    """A request that came through `in_workspace`."""

    workspace: Workspace
    membership: Membership


Page = Callable[Concatenate[WorkspaceRequest, str, P], HttpResponseBase]
OpenPage = Callable[Concatenate[HttpRequest, str, P], HttpResponseBase]


def in_workspace(needed: Role = Role.VIEWER) -> Callable[[Page[P]], OpenPage[P]]:
    """Let only a member with at least `needed` through; the outermost decorator of a view.

    The view takes `(request, workspace_slug, …)` and finds `request.workspace` and
    `request.membership`. Somebody who isn't signed in is sent to sign-in; a stranger and a
    workspace that isn't there both get 404; too low a role gets 403 with who can help.
    """

    def decorate(view: Page[P]) -> OpenPage[P]:
        @wraps(view)
        def guarded(
            request: HttpRequest, workspace_slug: str, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return to_sign_in(request)
            membership = membership_of(request.user, workspace_slug)
            if membership is None:
                raise Http404("no such workspace for this person")
            inside = cast(WorkspaceRequest, request)
            inside.workspace = membership.workspace
            inside.membership = membership
            if not membership.may(needed):
                return role_too_low(inside, needed)
            response = view(inside, workspace_slug, *args, **kwargs)
            patch_vary_headers(response, ["HX-Request"])
            return response

        guarded.needs_role = needed  # type: ignore[attr-defined]
        return cast(OpenPage[P], guarded)  # Django passes the slug by name

    return decorate


def signed_in(
    view: Callable[Concatenate[PersonRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let only somebody who is signed in through, for pages outside any workspace."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return to_sign_in(request)
        return view(cast(PersonRequest, request), *args, **kwargs)

    guarded.needs_person = True  # type: ignore[attr-defined]
    return cast(Callable[Concatenate[HttpRequest, P], HttpResponseBase], guarded)


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign-in, and back afterwards. For htmx 401 with HX-Redirect, and back to the whole page."""
    if request.headers.get("HX-Request") == "true":
        shown = urlsplit(request.headers.get("HX-Current-URL", "")).path or "/"
        answer = HttpResponse(status=401)
        answer["HX-Redirect"] = _sign_in_then(shown)
        return answer
    return redirect(_sign_in_then(request.get_full_path() if request.method == "GET" else "/"))


def _sign_in_then(path: str) -> str:
    return f"{reverse('account_login')}?{urlencode({'next': path})}"


def _routine_at(request: WorkspaceRequest) -> Routine | None:
    """The routine that the address names, if it does."""
    found = request.resolver_match
    slug = found.kwargs.get("slug") if found and "/routines/" in found.route else None
    if slug is None:
        return None
    return Routine.objects.present().filter(workspace=request.workspace, slug=slug).first()


def role_too_low(request: WorkspaceRequest, needed: Role) -> HttpResponse:
    """403 in place: what the person is here, what this takes, and who can help."""
    people = list(who_can_help(request.workspace))
    helpers = [str(person) for person in people]
    context = {
        "ask": people[0] if people else None,
        "routine": _routine_at(request),
        "role": request.membership.role,
        "needed": needed,
        "helpers": " and ".join([", ".join(helpers[:-1]), helpers[-1]] if helpers[1:] else helpers),
    }
    template = "partials/refused.html" if request.headers.get("HX-Request") else "403.html"
    return render(request, template, context, status=403)
