"""Addresses that are no app's, or misbehave: each is told in a sentence, and nothing leaks."""

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from routines_app.agents import mcp_session
from routines_app.agents.connectors import OpenApps
from routines_app.agents.mcp_session import NOT_MCP, AppTrouble
from routines_app.agents.turn import TurnInterrupted
from tests.agents.test_connectors import app_at, nothing

Asked = list[tuple[str, str]]


@contextmanager
def answering(
    status: int, headers: dict[str, str], body: bytes = b""
) -> Iterator[tuple[str, Asked]]:
    """A server that answers every request so; its address, and each method with its sign-in."""
    asked: Asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append((self.command, self.headers.get("Authorization", "")))
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_DELETE = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests look at `asked`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def trouble_at(address: str) -> AppTrouble:
    with OpenApps((app_at(address),)) as apps:
        found = apps.open_required(nothing)
    assert found is not None
    return found[1]


JSON = {"Content-Type": "application/json"}
BOMB = gzip.compress(b"[" + b" " * 50_000_000 + b"]")


@pytest.mark.parametrize(
    ("status", "headers", "body", "says"),
    [
        (200, {"Content-Type": "text/html"}, b"<p>Welcome", NOT_MCP),
        (200, JSON, b"{", NOT_MCP),
        (200, JSON, b'{"jsonrpc": "2.0", "id": 0, "result": []}', NOT_MCP),
        (202, {}, b"", NOT_MCP),
        (200, JSON | {"Content-Encoding": "gzip"}, BOMB, NOT_MCP),
        (200, JSON, b" " * 2_000_000, mcp_session.TOO_MUCH),
        (500, {}, b"", "It answered with HTTP status 500."),
        (403, {}, b"", mcp_session.SIGN_IN),
    ],
    ids=["page", "half", "list", "accepted", "bomb", "large", "broken", "forbidden"],
)
def test_what_is_no_app_is_told_as_such(
    status: int, headers: dict[str, str], body: bytes, says: str
) -> None:
    with answering(status, headers, body) as (address, _):
        assert trouble_at(address).sentence == says


@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_sign_in_follows_no_redirect_to_another_server(status: int) -> None:
    with (
        answering(200, JSON, b"{}") as (elsewhere, asked_there),
        answering(status, {"Location": elsewhere}) as (address, asked),
    ):
        trouble = trouble_at(address)
    assert asked and not asked_there
    assert not trouble.refused


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"


def test_one_that_says_nothing_is_given_up(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_session, "OPENING", 0.4)
    assert trouble_at(silent).sentence.startswith("It didn’t answer within")


def test_stop_works_while_one_is_waited_for(silent: str) -> None:
    pressed = time.monotonic()

    def stop() -> None:
        raise TurnInterrupted

    with pytest.raises(TurnInterrupted), OpenApps((app_at(silent),)) as apps:
        apps.open_required(stop)
    assert time.monotonic() - pressed < 2.0
