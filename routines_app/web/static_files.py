"""Static files under ASGI: whole answers, since a streamed file would be read through a thread."""

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]  # it has no types
    """WhiteNoise, with each small file as one piece."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """The file, or 304 without one, with WhiteNoise's headers."""
        answer = static_file.get_response(request.method, request.META)
        content = b""
        if answer.file is not None:
            with answer.file:
                content = answer.file.read()
        return HttpResponse(content, status=int(answer.status), headers=dict(answer.headers))
