"""Whether this process serves, and whether the work behind it goes on, for whatever watches it."""

from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from routines_app.fires.beats import ALLOWED, beaten, behind


@require_safe
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """200 when the database answers, else 503. It says nothing else, since anyone may ask."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("select 1")
    except (DatabaseError, InterfaceError):
        return HttpResponse("The database doesn't answer.\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """200 when the database answers and each piece of the clock's work has just ended well.

    Else 503, with what is behind and since when (null: it has never ended).
    """
    try:
        late = {each.name: each.since.isoformat() for each in behind()}
        never = dict.fromkeys(sorted(ALLOWED.keys() - beaten()))
    except (DatabaseError, InterfaceError):
        return JsonResponse({"ready": False, "database": "away", "behind": {}}, status=503)
    found = {**never, **late}
    answer = {"ready": not found, "database": "ok", "behind": found}
    return JsonResponse(answer, status=503 if found else 200)
