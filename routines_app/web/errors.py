"""What a page says when it can't be shown. For htmx a sentence in place, never a whole page."""

import re
import secrets
from dataclasses import dataclass
from difflib import get_close_matches

import structlog
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.csrf import csrf_exempt

from accounts.access import membership_of
from routines_app.models import Routine

log = structlog.get_logger()

LOOKED_AT = 500  # routines of a workspace
_ROUTINE = re.compile(r"/w/(?P<workspace>[\w-]+)/routines/(?P<slug>[\w-]+)/")
_NAMED = ("slug", "name", "deleted_at")


def _in_place(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


@csrf_exempt
def not_understood(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 for a request that can't be read, without the frame. It touches no form field: reading
    them is what failed, and the check of the form's token would read them once more."""
    log.info("request_not_understood", path=request.path, reason=str(exception))
    return HttpResponse(loader.get_template("400.html").render(), status=400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: nothing here, or nothing that this person may know of; both read the same."""
    if _in_place(request):
        return render(request, "partials/gone.html", status=404)
    return render(request, "404.html", {"near": _near(request)}, status=404)


@dataclass(frozen=True)
class Near:
    """A page that may be the one that was meant."""

    words: str
    href: str


def _near(request: HttpRequest) -> Near | None:
    """The routine of the person's own workspace whose address is nearest; None when none is near,
    or the workspace isn't theirs: then nothing is said of what it holds."""
    found = _ROUTINE.match(request.path)
    user = getattr(request, "user", None)
    if found is None or user is None or not user.is_authenticated:
        return None
    membership = membership_of(user, found["workspace"])
    if membership is None:
        return None
    rows = Routine.objects.filter(workspace=membership.workspace).order_by("-pk")
    known: dict[str, tuple[str, str, bool]] = {}
    for slug, name, deleted_at in rows.values_list(*_NAMED)[:LOOKED_AT]:
        known.setdefault(slugify(name), (slug, name, deleted_at is not None))
        known[slug] = (slug, name, deleted_at is not None)
    for near in get_close_matches(found["slug"], known, 1, 0.7):
        slug, name, gone = known[near]
        if gone:
            page = reverse("deleted_routine", args=[found["workspace"], slug])
            return Near(f"See what {name} did", page)
        return Near(f"Go to {name}", reverse("routine", args=[found["workspace"], slug]))
    return None


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403 that no role decided."""
    template = "partials/refused.html" if _in_place(request) else "403.html"
    return render(request, template, status=403)


def form_too_old(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without its token: an old tab, or a form of another site."""
    log.info("csrf_refused", reason=reason, path=request.path)
    template = "partials/refused.html" if _in_place(request) else "403.html"
    return render(request, template, {"stale_form": True}, status=403)


def broken(request: HttpRequest) -> HttpResponse:
    """500, without database, session or the frame. The code finds the log's line."""
    code = f"{secrets.token_hex(2)}-{secrets.token_hex(2)}"
    log.error("page_failed", code=code, path=request.path, method=request.method, exc_info=True)
    return HttpResponse(loader.get_template("500.html").render({"code": code}), status=500)
