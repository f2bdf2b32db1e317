"""A file's bytes as a download: streamed, and never shown by the browser as a page."""

from collections.abc import AsyncIterator, Iterator
from typing import BinaryIO

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header

PIECE = 256 * 1024  # bytes


def as_download(request: HttpRequest, stream: BinaryIO, name: str) -> StreamingHttpResponse:
    """The stream as an attachment of that name; the stream is closed at the end."""
    # under ASGI a plain iterator would be read to its end before the first byte is sent
    body = _later(stream) if isinstance(request, ASGIRequest) else _now(stream)
    response = StreamingHttpResponse(body, content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    return response


def _now(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(PIECE):
            yield piece


async def _later(stream: BinaryIO) -> AsyncIterator[bytes]:
    read = sync_to_async(stream.read, thread_sensitive=False)
    with stream:
        while piece := await read(PIECE):
            yield piece
