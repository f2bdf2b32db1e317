"""Whether this process serves and reaches its database, for whatever watches it."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@require_safe
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """200 when the database answers, else 503. It says nothing else, since anyone may ask."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("select 1")
    except DatabaseError:
        return HttpResponse("The database doesn't answer.\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")
