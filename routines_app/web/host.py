"""One name for this place: a browser that asks 127.0.0.1 is sent to localhost.

A passkey belongs to a host name and can't belong to an IP address, so the embedded mode is served
under `localhost` only. Programs are left alone: they ask for no HTML.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

Answer = Callable[[HttpRequest], HttpResponseBase]


def one_host(get_response: Answer) -> Answer:
    """Middleware of the embedded mode."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        name, colon, port = request.META.get("HTTP_HOST", "").partition(":")
        if (
            settings.EMBEDDED
            and name == "127.0.0.1"
            and request.method == "GET"
            and "text/html" in request.META.get("HTTP_ACCEPT", "")
        ):
            # the path is the browser's own, after a host that is fixed: it can't lead elsewhere
            return HttpResponseRedirect(f"http://localhost{colon}{port}{request.get_full_path()}")
        return get_response(request)

    return answer
