"""Uploads stop being kept once a request holds more than it may; the rest is read and dropped."""

from __future__ import annotations

from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest


class BoundedUpload(FileUploadHandler):
    """Counts the bytes of all files of a request, and passes them on while they may be kept.

    Over the bound a file is skipped, so that the form's other fields (and its token) are still
    read, and the view can answer with a sentence: see `upload_too_large`.
    """

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, str],
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> tuple[Any, Any] | None:
        self._room = settings.UPLOAD_MAX_BYTES
        self._announced_too_much = content_length > self._room + 1_000_000  # for the form itself
        return None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if self._announced_too_much or self._room < 0:
            self._skip()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self._room -= len(raw_data)
        if self._room < 0:
            self._skip()
        return raw_data

    def file_complete(self, file_size: int) -> UploadedFile[Any] | None:
        return None  # the next handler keeps it

    def _skip(self) -> None:
        assert self.request is not None
        self.request.META["routines.upload_too_large"] = "1"
        raise SkipFile


def upload_too_large(request: HttpRequest) -> bool:
    """Whether a file of this request was dropped for its size. Reads the form."""
    request.FILES  # noqa: B018  (reading it is what runs the handlers)
    return "routines.upload_too_large" in request.META
