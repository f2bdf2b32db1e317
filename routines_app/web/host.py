"""The embedded site lives at http://localhost: passkeys and cookies are tied to that name."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

_NUMBERS = {"127.0.0.1", "[::1]"}


class LocalhostMiddleware:
    """Send a person who opened a number of this computer to the same page at its name.

    Only pages that are read: a program that posts, or that brings its own authorization, is
    served where it called.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.EMBEDDED:
            raise MiddlewareNotUsed
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        host = request.get_host()
        number = next((number for number in _NUMBERS if host.startswith(number)), None)
        if (
            number is not None
            and request.method in {"GET", "HEAD"}
            and "Authorization" not in request.headers
            and request.path not in {"/healthz", "/readyz"}
        ):
            port = host.removeprefix(number)
            return HttpResponseRedirect(f"http://localhost{port}{request.get_full_path()}")
        return self._get_response(request)
