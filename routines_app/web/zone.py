"""Times on a page are told in the viewer's zone."""

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

Answer = Callable[[HttpRequest], HttpResponseBase]
log = structlog.get_logger()


def their_zone(get_response: Answer) -> Answer:
    """Middleware that makes the zone of whoever is signed in current, else UTC."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated:
            try:
                timezone.activate(ZoneInfo(request.user.zone))
            except (ZoneInfoNotFoundError, ValueError):
                # a zone that tzdata dropped since it was chosen
                log.warning("zone_unknown", zone=request.user.zone)
                timezone.deactivate()
        else:
            timezone.deactivate()
        return get_response(request)

    return answer
