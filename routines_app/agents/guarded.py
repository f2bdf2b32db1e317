"""Connections that go only where they may, judged by the address that is called.

A model server's address was judged when it was saved, a page's before it was asked for; the name
may answer differently by now. So each connection resolves the name once, judges every address it
has, and connects to one of exactly these.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from foundation.addresses import Refused, ResolvedAddress, check_address

if TYPE_CHECKING:
    import httpx2

Judge = Callable[[str], ResolvedAddress | Refused]


def judge_for(*, nearby: bool) -> Judge:
    """The rule for addresses; `nearby`: loopback and private networks may be called too."""
    return lambda url: check_address(url, allow_loopback=nearby, resolve=socket.getaddrinfo)


def judge_of_pages(url: str) -> ResolvedAddress | Refused:
    """The rule for pages that a model asks for: public ones, wherever this runs. A text that it
    read may have talked it into asking, so what is nearby stays closed even to one owner's own."""
    return check_address(url, allow_loopback=False, allow_query=True, resolve=socket.getaddrinfo)


def guarded_transport(trusted: ssl.SSLContext, judge: Judge) -> "httpx2.AsyncHTTPTransport":
    """A transport whose every connection is judged. A refused one raises httpx2.ConnectError with
    the rule's sentence, before anything is sent."""
    import httpcore2
    import httpx2
    from httpcore2._backends.auto import AutoBackend

    class Guarded(AutoBackend):
        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Iterable[Any] | None = None,
        ) -> httpcore2.AsyncNetworkStream:
            name = f"[{host}]" if ":" in host else host
            found = await asyncio.to_thread(judge, f"http://{name}:{port}")
            if isinstance(found, Refused):
                raise httpcore2.ConnectError(found.sentence)
            trouble: Exception | None = None
            for address in found.addresses:
                try:
                    return await super().connect_tcp(
                        address, port, timeout, local_address, socket_options
                    )
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    trouble = error
            raise trouble or httpcore2.ConnectError(f"{host} has no address.")

    transport = httpx2.AsyncHTTPTransport(verify=trusted)
    # The library takes a backend only for a pool that one makes oneself, and names it the same.
    transport._pool._network_backend = Guarded()
    return transport
