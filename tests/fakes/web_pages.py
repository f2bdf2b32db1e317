"""A small web on loopback: pages by path, redirects, and addresses that never answer."""

import ssl
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from foundation.addresses import Refused, ResolvedAddress, check_address


@dataclass(frozen=True)
class WebPage:
    """What a path answers. `hang` seconds pass before the body."""

    body: bytes | str = b""
    kind: str | None = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang: float = 0.0


class WebPages:
    """The server; a context manager. `asked` holds each request's path and headers."""

    def __init__(self, pages: dict[str, WebPage]) -> None:
        self.pages = pages
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.root = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.server_close()

    def speak_tls(self, context: ssl.SSLContext) -> int:
        """Answer over TLS from now on, and return the port."""
        listening = self._server.socket
        self._server.socket = context.wrap_socket(
            listening, server_side=True, do_handshake_on_connect=False
        )
        return int(self._server.server_address[1])

    def judge(self, url: str) -> ResolvedAddress | Refused:
        """The rule for pages, with this one server let through."""
        near = url.startswith(self.root)
        return check_address(url, allow_loopback=near, allow_query=True)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append((self.path, dict(self.headers)))
                page = web.pages.get(self.path, WebPage("<p>No such page.", status=404))
                body = page.body.encode() if isinstance(page.body, str) else page.body
                self.send_response(page.status)
                if page.kind is not None:
                    self.send_header("Content-Type", page.kind)
                for name, value in page.headers.items():
                    self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                if page.hang and web._closing.wait(page.hang):
                    return
                try:
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    return  # the other side has read enough

            def handle(self) -> None:
                try:
                    super().handle()
                except ssl.SSLError:
                    return  # the other side wouldn't have the certificate, and hung up

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: the tests look at `asked`."""

        return Handler
