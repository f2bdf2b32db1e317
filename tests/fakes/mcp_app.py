"""An app on loopback: a real MCP server over streamable HTTP, by the official library."""

import asyncio
import json
import socket
import threading
import time
from typing import Any, Self

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.fakes.sign_in_server import SignInServer

READS = ToolAnnotations(read_only_hint=True)
SECRET = "Bearer canary-7f3a"


class McpApp:
    """The server; a context manager. `asked` holds each request's headers, `done` the calls.

    It turns away whoever doesn't send `takes`, which is SECRET; `answer` is what find_ticket
    answers, and `slow` the seconds that `wait` takes. `older`: it speaks only the protocol that
    begins with a handshake and keeps a session.

    With `sign_in` it takes that server's tokens instead, and says so to whoever has none; `about`
    is what it says of itself.
    """

    def __init__(self, *, older: bool = False, sign_in: SignInServer | None = None) -> None:
        self.answer = "Ticket 7: the printer is on fire."
        self.slow = 30.0
        self.takes = SECRET
        self.older = older
        self.asked: list[dict[str, str]] = []
        self.methods: list[str] = []
        self.done: list[tuple[str, str]] = []
        self._listening = socket.socket()
        self._listening.bind(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}/mcp"
        self.sign_in = sign_in
        self.about_at = self.address.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
        self.challenge = f'Bearer resource_metadata="{self.about_at}", scope="tickets:read"'
        self.about: dict[str, Any] = {
            "resource": self.address,
            "authorization_servers": [sign_in.issuer] if sign_in else [],
            "scopes_supported": ["tickets:read", "tickets:write"],
        }
        app = self._tools().streamable_http_app()
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._guarded(app), log_level="critical", lifespan="on", timeout_graceful_shutdown=0
            )
        )
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._listening]))

    def __enter__(self) -> Self:
        self._thread.start()
        until = time.monotonic() + 20
        while not self._server.started and time.monotonic() < until:
            time.sleep(0.01)
        assert self._server.started
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, as an app that has gone away."""
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(timeout=10)
        self._listening.close()

    def _tools(self) -> MCPServer[Any]:
        server = MCPServer("Helpdesk")

        @server.tool(annotations=READS, structured_output=False)
        def find_ticket(words: str) -> str:
            """Find a ticket
            by its words."""
            self.done.append(("find_ticket", words))
            return self.answer

        @server.tool(structured_output=False)
        def close_ticket(number: int) -> str:
            """Close a ticket."""
            self.done.append(("close_ticket", str(number)))
            if number < 0:
                raise ToolError("There is no such ticket.")
            return f"Ticket {number} is closed."

        @server.tool(annotations=READS, structured_output=False)
        async def wait() -> str:
            """Take long."""
            self.done.append(("wait", ""))
            await asyncio.sleep(self.slow)
            return "Waited."

        return server

    def _lets_in(self, headers: dict[str, str]) -> bool:
        said = headers.get("authorization", "")
        return said == self.takes if self.sign_in is None else self.sign_in.takes(said)

    def _guarded(self, inner: ASGIApp) -> ASGIApp:
        async def answer(send: Send, status: int, headers: dict[str, str], body: bytes) -> None:
            raw = [(name.encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": status, "headers": raw})
            await send({"type": "http.response.body", "body": body})

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                headers = {name.decode(): value.decode() for name, value in scope["headers"]}
                if scope["path"] == "/.well-known/oauth-protected-resource/mcp" and self.sign_in:
                    await answer(send, 200, {}, json.dumps(self.about).encode())
                    return
                if scope["path"] != "/mcp":
                    await answer(send, 404, {}, b"")
                    return
                self.asked.append(headers)
                self.methods.append(scope["method"])
                newer = headers.get("mcp-protocol-version", "") in MODERN_PROTOCOL_VERSIONS
                if not self._lets_in(headers):
                    said = {"WWW-Authenticate": self.challenge} if self.sign_in else {}
                    await answer(send, 401, said, b"")
                    return
                if self.older and newer:
                    await answer(send, 400, {}, b"")
                    return
            await inner(scope, receive, send)

        return app
