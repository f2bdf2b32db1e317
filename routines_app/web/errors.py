"""What a page says when it can't be shown. For htmx a sentence in place, never a whole page."""

import secrets

import structlog
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.views.decorators.csrf import csrf_exempt

log = structlog.get_logger()


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
    template = "partials/gone.html" if _in_place(request) else "404.html"
    return render(request, template, status=404)


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
