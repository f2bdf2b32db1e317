"""One session with one app: an MCP server over streamable HTTP.

Its address is judged as it's called, no redirect leaves it, and each answer is bounded in bytes
and in time. The library takes a while to import, so it is imported inside the functions.
"""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from routines_app.agents.app_wire import (
    MOST_BYTES,
    AppServer,
    AppTrouble,
    Exchange,
    http_client,
    schema_without_secrets,
    without_secrets,
)
from routines_app.agents.wording import one_line, storable

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["AppServer", "AppTrouble"]  # said of an app together with what it lists and answers

log = structlog.get_logger()

OPENING = 15.0  # seconds for the first words with an app
LISTING = 20.0  # seconds for all of its tools
CLOSING = 0.4  # seconds that it has to say goodbye
MOST_TOOLS = 100
MOST_PAGES = 20
MOST_SCHEMA = 10_000  # characters of one tool's schema
DESCRIBED = 1_000  # characters of one tool's description
LONGEST_TOOL = 128  # characters of a tool's own name

SIGN_IN = "It refused the sign-in."
MORE = "It asks for a wider sign-in than it was given."
TOO_MUCH = f"It answered with more than {MOST_BYTES // 1_000_000} MB, so the answer wasn’t read."
BROKE_OFF = "The connection to it broke off."
NOT_MCP = "What it answered can’t be read. Is it the address of an MCP server?"


@dataclass(frozen=True)
class ListedTool:
    """A tool as an app lists it. `schema` is a JSON Schema; `changes`: it may change something."""

    name: str
    description: str
    schema: dict[str, object]
    changes: bool


@dataclass(frozen=True)
class AppAnswer:
    """What a call brought, as text. `failed`: the app says that the call failed."""

    text: str
    failed: bool = False


class McpSession:
    """A session, on the event loop that runs it."""

    def __init__(self, server: AppServer) -> None:
        self._server = server
        self._exchange = Exchange()
        self._client: Client | None = None
        self._over = asyncio.Event()
        self._ready = asyncio.Event()
        self._host: asyncio.Task[Exception | None] | None = None

    @property
    def alive(self) -> bool:
        """Whether it can still be asked."""
        return self._client is not None and self._host is not None and not self._host.done()

    async def open(self) -> AppTrouble | None:
        """Begin it; why it can't begin, or None."""
        self._host = asyncio.create_task(self._hold())
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait(
                {self._host, ready}, timeout=OPENING, return_when=asyncio.FIRST_COMPLETED
            )
            if self.alive:
                return None
            if self._host.done():
                return self._trouble(self._host.result())
            return AppTrouble(f"It didn’t answer within {OPENING:.0f} seconds.", silent=True)
        finally:
            ready.cancel()
            if not self.alive:
                self._host.cancel()

    def close(self) -> None:
        """Let it end."""
        self._over.set()

    async def listed(self) -> tuple[ListedTool, ...] | AppTrouble:
        """All its tools, in the order of their names."""
        found = await self._ask(self._list(), LISTING)
        return found if isinstance(found, AppTrouble) else _listed(found, self._exchange.secrets)

    async def call(
        self, tool: str, arguments: dict[str, object], seconds: float
    ) -> AppAnswer | AppTrouble:
        """Call a tool by its own name."""
        assert self._client is not None
        found = await self._ask(self._client.call_tool(tool, arguments), seconds)
        if isinstance(found, AppTrouble):
            return found
        if not isinstance(found, AppAnswer):
            found = AppAnswer(_text(found), failed=bool(found.is_error))
        return AppAnswer(without_secrets(found.text, self._exchange.secrets), found.failed)

    async def _hold(self) -> Exception | None:
        """Hold the session from beginning to end, as one task: the library ties it to one."""
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client
        from mcp_types import Implementation

        try:
            async with (
                http_client(self._server, self._exchange) as http,
                Client(
                    streamable_http_client(
                        self._server.address, http_client=http, max_sse_event_size=MOST_BYTES
                    ),
                    cache=None,
                    client_info=Implementation(name="Routines", version="1"),
                ) as client,
            ):
                self._client = client
                self._ready.set()
                await self._over.wait()
        except Exception as error:
            # Whatever a server makes of the library is told as that server's trouble.
            return error
        finally:
            self._client = None
        return None

    async def _list(self) -> list[Any]:
        assert self._client is not None
        found: list[Any] = []
        after: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.list_tools(cursor=after)
            found += page.tools
            after = page.next_cursor
            if not after or len(found) >= MOST_TOOLS:
                break
        return found

    async def _ask(self, question: Any, seconds: float) -> Any:
        """What a question brought, or the trouble that came of it."""
        assert self._host is not None
        self._exchange.begin()
        asking = asyncio.ensure_future(question)
        try:
            await asyncio.wait(
                {asking, self._host}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if not asking.done():
                if self._host.done():
                    return self._trouble(self._host.result())
                return AppTrouble(
                    f"It didn’t answer within {seconds:.0f} seconds. What was asked of it may "
                    "have been done all the same."
                )
            error = asking.exception()
            if error is None:
                return asking.result()
            return _turned_away(error, self._exchange.status) or self._trouble(error)
        finally:
            if not asking.done():
                asking.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await asyncio.wait({asking}, timeout=CLOSING)

    def _trouble(self, error: BaseException | None) -> AppTrouble:
        """An error in words of ours; of the other side's only what it says as an app."""
        import httpx2
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED

        seen, causes = self._exchange, list(_leaves(error))
        log.info("app_trouble", errors=[type(each).__name__ for each in causes], status=seen.status)
        if seen.judged:
            return AppTrouble(seen.judged, silent=True)
        if seen.not_signed is not None:
            return seen.not_signed
        if seen.status in (401, 403):
            more = seen.status == 403 and "insufficient_scope" in seen.challenge
            sentence = MORE if more else SIGN_IN
            return AppTrouble(sentence, refused=True, challenge=seen.challenge)
        if seen.too_much:
            return AppTrouble(TOO_MUCH)
        for each in causes:
            match each:
                case httpx2.ConnectError() if "CERTIFICATE" in str(each):
                    return AppTrouble(
                        "Its certificate can’t be trusted, so nothing was sent.", silent=True
                    )
                case httpx2.ConnectError() | httpx2.ConnectTimeout():
                    return AppTrouble("No connection to it could be made.", silent=True)
                case httpx2.TimeoutException():
                    return AppTrouble("It was silent for too long.")
        if seen.status >= 400:
            return AppTrouble(f"It answered with HTTP status {seen.status}.")
        broke = all(
            isinstance(each, MCPError) and each.code == CONNECTION_CLOSED for each in causes
        )
        return AppTrouble(BROKE_OFF if broke else NOT_MCP)


def _turned_away(error: BaseException, status: int) -> AppAnswer | None:
    """What an app says to a call that it doesn't take, such as one with a wrong argument; None for
    any other error."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

    if not isinstance(error, MCPError) or status in (401, 403):
        return None
    told = error.code == INVALID_PARAMS or (error.code != METHOD_NOT_FOUND and error.code > -32000)
    return AppAnswer(storable(error.message), failed=True) if told else None


def _leaves(error: BaseException | None) -> list[BaseException]:
    """The errors that a group of them holds, however deep."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [] if error is None else [error]


def _listed(tools: list[Any], secrets: set[str]) -> tuple[ListedTool, ...]:
    """The tools that can be offered: each name once, and with a schema that a provider takes."""
    found: dict[str, ListedTool] = {}
    for tool in tools:
        schema = tool.input_schema
        if not _fits(schema) or not 0 < len(tool.name) <= LONGEST_TOOL or len(found) >= MOST_TOOLS:
            continue
        said = tool.description or tool.title or ""
        hints = tool.annotations
        reads = hints is not None and hints.read_only_hint is True
        name = storable(tool.name)
        if without_secrets(name, secrets) != name:
            continue
        said = without_secrets(said, secrets)
        whole = {"properties": {}, **schema_without_secrets(schema, secrets), "type": "object"}
        found[name] = ListedTool(name, _described(said), whole, changes=not reads)
    return tuple(found[name] for name in sorted(found))


def _fits(schema: object) -> bool:
    """Whether a schema can be kept and sent: of a bounded size, and of what every reader of JSON
    and every database takes."""
    if not isinstance(schema, dict):
        return False
    try:
        text = json.dumps(schema, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError):  # no number, half of a surrogate pair; too deep
        return False
    # beside two backslashes, which stand for one, this can only be a NUL
    return len(text) <= MOST_SCHEMA and "\\u0000" not in text.replace("\\\\", "")


def _described(text: str) -> str:
    return one_line(" ".join(text.split()), DESCRIBED)


def _text(result: Any) -> str:
    """What a call brought, as text; what is no text is named."""
    parts = [_part(each) for each in result.content]
    said = "\n".join(part for part in parts if part)
    if not said and result.structured_content is not None:
        said = json.dumps(result.structured_content, ensure_ascii=False)
    return storable(said)


def _part(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "resource" if getattr(block.resource, "text", None) is not None:
            return str(block.resource.text)
        case "resource_link":
            return f"[a link: {block.uri}]"
        case kind:
            return f"[{kind}, which is no text, wasn’t read]"
