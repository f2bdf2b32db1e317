"""Rendered pages in a real browser: each at its address, with its sheets, scripts and policy."""

import mimetypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TypeVar

import django_htmx
from playwright.sync_api import Page

from tests.browser import shared
from tests.web.every_page import Rendered

STATIC = (Path("static"), Path(django_htmx.__file__).parent / "static")
T = TypeVar("T")


def in_browser(pages: Sequence[Rendered], look: Callable[[Page, str], T]) -> T:
    """What `look` finds in a browser that is new here, given where the pages are served."""
    with served(pages) as site:
        return shared.look(lambda page: look(page, site))


@contextmanager
def served(pages: Sequence[Rendered]) -> Iterator[str]:
    """The pages as a site on this computer: its address, such as `http://localhost:40123`.

    What is neither a page nor a file is answered with nothing; posts are too.
    """
    by_path = {page.path: page for page in pages}

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shown, file = by_path.get(self.path), static_file(self.path)
            if shown is not None:
                policy = {"Content-Security-Policy": shown.policy}
                self._send("text/html; charset=utf-8", shown.html.encode(), policy)
            elif file is not None:
                kind = mimetypes.guess_type(file.name)[0] or "font/woff2"
                self._send(kind, file.read_bytes(), {"Cache-Control": "max-age=600"})
            else:
                self.send_response(204)
                self.end_headers()

        do_POST = do_GET

        def _send(self, kind: str, body: bytes, more: dict[str, str]) -> None:
            self.send_response(200)
            length = {"Content-Type": kind, "Content-Length": str(len(body))}
            for name, value in (length | more).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            """Nothing: a test reads what it found."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def static_file(path: str) -> Path | None:
    """The file that is served at `/static/…`; None when there is none."""
    if not path.startswith("/static/"):
        return None
    name = path.removeprefix("/static/")
    return next((root / name for root in STATIC if (root / name).is_file()), None)
