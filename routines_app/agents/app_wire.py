"""The wire to an app: where its requests may go, how they are signed in, and what of it is read.

A token goes to the app's own address alone. One that is turned away is renewed once, and what was
asked is asked again: a request that was turned away did nothing.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from foundation.addresses import Refused, ResolvedAddress
from routines_app.agents.guarded import guarded_transport, judge_for
from routines_app.agents.oauth_ask import judge_of_connections
from routines_app.agents.providers import trusted

if TYPE_CHECKING:
    import httpx2

CONNECTING = 15.0  # seconds until a connection stands
MOST_BYTES = 1_000_000  # of one answer
SECRET_FROM = 8  # characters: a shorter value of a header may be an ordinary word
LONGEST_CHALLENGE = 2_000  # characters of what an app says when it turns somebody away
HIDDEN = "•••"
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class AppTrouble:
    """An app couldn't be used; why, in a sentence of ours. `refused`: it was our sign-in, and
    `challenge` is what the app said to that (WWW-Authenticate).

    `silent`: no way leads to it, or it left calls unanswered, so that asking it anew would bring
    the same.
    """

    sentence: str
    refused: bool = False
    silent: bool = False
    challenge: str = field(default="", compare=False, repr=False)


class SignIn(Protocol):
    """Where an app's token comes from. Neither holds up the event loop."""

    async def token(self) -> str | AppTrouble:
        """The token to sign in with now, renewed if it would soon be worth nothing."""

    async def instead_of(self, turned_away: str) -> str | AppTrouble:
        """Another token for one that the app turned away."""


@dataclass(frozen=True)
class AppServer:
    """How to reach an app. `nearby`: it may be on this computer or its private network.

    With `sign_in` each request carries its token, whatever `headers` say of Authorization.
    """

    address: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    nearby: bool = False
    sign_in: SignIn | None = field(default=None, repr=False)


@dataclass
class Exchange:
    """What was seen on the wire since the last thing that was asked; of `secrets` all that was
    sent in the session."""

    status: int = 0
    too_much: bool = False
    judged: str = ""
    challenge: str = ""
    not_signed: AppTrouble | None = None
    secrets: set[str] = field(default_factory=set, repr=False)

    def begin(self) -> None:
        """Something new is asked."""
        self.status, self.too_much, self.challenge, self.not_signed = 0, False, "", None


def secrets_of(server: AppServer) -> set[str]:
    """What is sent to sign in by headers, which an app may send back."""
    return {part for _, value in server.headers for part in (value, value.rpartition(" ")[2])}


def without_secrets(text: str, secrets: set[str]) -> str:
    """A text without what was sent to sign in."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SECRET_FROM:
            text = text.replace(secret, HIDDEN)
    return text


def schema_without_secrets(schema: dict[str, Any], secrets: set[str]) -> dict[str, Any]:
    """The same of a schema. What it would make unreadable is a schema that takes anything."""
    text = json.dumps(schema, ensure_ascii=False)
    clean = without_secrets(text, secrets)
    if clean == text:
        return schema
    read = json.loads(clean)
    return read if isinstance(read, dict) else {}


def http_client(server: AppServer, exchange: Exchange) -> "httpx2.AsyncClient":
    """The client of one session with an app."""
    import httpx2

    exchange.secrets |= secrets_of(server)
    # What signs in by a token is never sent where others could read it on the way.
    judge = (
        judge_for(nearby=server.nearby)
        if server.sign_in is None
        else judge_of_connections(server.address, nearby=server.nearby)
    )

    def judged(url: str) -> ResolvedAddress | Refused:
        found = judge(url)
        if isinstance(found, Refused):
            exchange.judged = found.sentence
        return found

    class Counted(httpx2.AsyncByteStream):
        """An answer's bytes, which are refused from the first one too many."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            count = 0
            async for chunk in self._stream:
                count += len(chunk)
                if count > MOST_BYTES:
                    exchange.too_much = True
                    raise httpx2.ReadError("The answer is too large.")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Bounded(httpx2.AsyncBaseTransport):
        """Counts what comes in, and takes nothing packed: a small answer may unpack to any size."""

        def __init__(self) -> None:
            self._inner = guarded_transport(trusted(), judged)
            self._in_its_place: set[str] = set()

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            if server.sign_in is None:
                return await self._send(request)
            request.headers.pop("Authorization", None)
            if not _is_at(server.address, str(request.url)):
                raise httpx2.UnsupportedProtocol("Nothing is asked elsewhere with this sign-in.")
            return await self._signed(request, server.sign_in)

        async def _signed(self, request: httpx2.Request, sign_in: SignIn) -> httpx2.Response:
            token = await sign_in.token()
            if isinstance(token, AppTrouble):
                exchange.not_signed = token
                raise httpx2.ConnectError("There is no token to sign in with.")
            response = await self._send_with(token, request)
            if response.status_code != 401 or token in self._in_its_place:
                return response
            another = await sign_in.instead_of(token)
            if isinstance(another, AppTrouble):
                exchange.not_signed = another
                return response
            self._in_its_place.add(another)
            await response.aclose()
            return await self._send_with(another, request)

        async def _send_with(self, token: str, request: httpx2.Request) -> httpx2.Response:
            exchange.secrets.add(token)
            request.headers["Authorization"] = f"Bearer {token}"
            response = await self._send(request)
            if response.is_redirect:
                # The protocol's library follows it within the origin; a token goes nowhere else.
                response.headers.pop("Location", None)
            return response

        async def _send(self, request: httpx2.Request) -> httpx2.Response:
            response = await self._inner.handle_async_request(request)
            if request.method == "POST":
                exchange.status = response.status_code
                said = response.headers.get("www-authenticate", "")
                exchange.challenge = said[:LONGEST_CHALLENGE]
            if response.headers.get("content-encoding", "identity") != "identity":
                await response.aclose()
                raise httpx2.DecodingError("It was packed, which wasn't asked for.")
            return httpx2.Response(
                response.status_code,
                headers=response.headers.raw,
                stream=Counted(response.stream),
                extensions=response.extensions,
            )

        async def aclose(self) -> None:
            await self._inner.aclose()

    return httpx2.AsyncClient(
        transport=Bounded(),
        headers=[("Accept-Encoding", "identity"), ("User-Agent", "Routines"), *server.headers],
        timeout=httpx2.Timeout(CONNECTING, read=None),  # each question has a limit of its own
        follow_redirects=False,
        trust_env=False,
    )


def _is_at(address: str, url: str) -> bool:
    """Whether a request goes to the server of this address, and to no other."""
    return _origin(address) == _origin(url)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
