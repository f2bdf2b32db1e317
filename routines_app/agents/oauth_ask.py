"""One question to a server that signs in, over our own judged connections.

Nothing is sent before the address has been judged, and what is connected to is judged once more.
What is secret goes encrypted, unless it stays on this computer or its private network. No redirect
is followed, an answer is bounded, and nothing of it is ever logged or shown.
"""

import asyncio
import json
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog

from foundation.addresses import Refused, ResolvedAddress, check_address, lies_nearby
from routines_app.agents.guarded import Judge, guarded_transport
from routines_app.agents.providers import trusted

if TYPE_CHECKING:
    import httpx2

log = structlog.get_logger()

ASKING = 10.0  # seconds for one question, from the look-up to the last byte
MOST_BYTES = 100_000  # of one answer
NOT_SECRET = "would send the sign-in unencrypted, for all on the way to read. It has to be https."


@dataclass(frozen=True)
class Reply:
    """What it answered. `said` is the JSON object in it, {} when there was none."""

    status: int
    said: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class NoReply:
    """It couldn't be asked, or didn't answer; why, in a sentence of ours."""

    sentence: str


def host_of(url: str) -> str:
    """An address's host and port, as a person reads it."""
    return urlsplit(url).netloc


def judge_secret(url: str, *, nearby: bool) -> ResolvedAddress | Refused:
    """Whether something secret may be sent to this address. `nearby`: it may be on this computer
    or its private network, and only there without encryption."""
    found = check_address(url, allow_loopback=nearby, allow_query=True, resolve=socket.getaddrinfo)
    if isinstance(found, ResolvedAddress) and found.scheme != "https" and not lies_nearby(found):
        return Refused(f"{found.host} {NOT_SECRET}")
    return found


def judge_of_connections(url: str, *, nearby: bool) -> Judge:
    """The rule for the connections by which `url` is asked, which name host and port alone."""
    plain = urlsplit(url).scheme != "https"

    def judge(there: str) -> ResolvedAddress | Refused:
        found = check_address(there, allow_loopback=nearby, resolve=socket.getaddrinfo)
        if isinstance(found, ResolvedAddress) and plain and not lies_nearby(found):
            return Refused(f"{found.host} {NOT_SECRET}")
        return found

    return judge


def ask(
    url: str,
    *,
    nearby: bool,
    form: str | None = None,
    body: dict[str, object] | None = None,
    headers: dict[str, str] | None = None,
) -> Reply | NoReply:
    """Ask a server: GET, or POST when there's a `form` (urlencoded) or a `body` (JSON).

    It blocks for at most `ASKING` seconds, beside what a name server takes to give up.
    """
    judged = judge_secret(url, nearby=nearby)
    if isinstance(judged, Refused):
        return NoReply(judged.sentence)
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "Routines"}
    content: bytes | None = None
    if form is not None:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
        content = form.encode()
    elif body is not None:
        sent["Content-Type"] = "application/json"
        content = json.dumps(body).encode()
    found = asyncio.run(_asked(url, content, sent | (headers or {}), nearby))
    log.info(
        "sign_in_server_asked",
        host=judged.host,
        status=found.status if isinstance(found, Reply) else None,
        trouble=found.sentence if isinstance(found, NoReply) else None,
    )
    return found


async def _asked(
    url: str, content: bytes | None, headers: dict[str, str], nearby: bool
) -> Reply | NoReply:
    import httpx2

    host = host_of(url)
    refused: list[str] = []
    judge = judge_of_connections(url, nearby=nearby)

    def judged(there: str) -> ResolvedAddress | Refused:
        found = judge(there)
        if isinstance(found, Refused):
            refused.append(found.sentence)
        return found

    try:
        async with (
            asyncio.timeout(ASKING),
            httpx2.AsyncClient(
                transport=guarded_transport(trusted(), judged),
                timeout=ASKING,
                follow_redirects=False,
                trust_env=False,
            ) as client,
            client.stream(
                "GET" if content is None else "POST", url, content=content, headers=headers
            ) as response,
        ):
            read = await _read(response)
            if read is None:
                return NoReply(f"What {host} answered is too large to be read.")
            return Reply(response.status_code, read)
    except httpx2.ConnectError as error:
        if refused:
            return NoReply(refused[0])
        if "CERTIFICATE" in str(error):
            return NoReply(f"{host}’s certificate can’t be trusted, so nothing was sent.")
        return NoReply(f"No connection to {host} could be made.")
    except (httpx2.TimeoutException, TimeoutError):
        return NoReply(f"{host} didn’t answer within {ASKING:.0f} seconds.")
    except (httpx2.HTTPError, httpx2.InvalidURL):
        return NoReply(f"The connection to {host} broke off.")


async def _read(response: "httpx2.Response") -> dict[str, Any] | None:
    """The JSON object in an answer, {} when it holds none, None when it's too large."""
    if response.headers.get("content-encoding", "identity") != "identity":
        return {}  # a small answer may unpack to any size, and it wasn't asked for
    whole = b""
    async for chunk in response.aiter_raw():
        whole += chunk
        if len(whole) > MOST_BYTES:
            return None
    try:
        said = json.loads(whole)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
