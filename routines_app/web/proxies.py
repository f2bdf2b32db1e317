"""Who asks, and whether by https: believed of the proxies that the operator named, of nobody else.

What those say is in the request's own facts afterwards, and the headers are gone: so nothing
further in can believe one that anybody may send. A server that believes them by itself, as uvicorn
does of this computer, has to be told not to: `--no-proxy-headers`.
"""

from collections.abc import Sequence
from typing import Any, cast

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from routines_app.web.body_limit import Application, Receive, Scope, Send

_OTHERS = {b"forwarded", b"x-real-ip", b"true-client-ip", b"cf-connecting-ip"}


def behind(proxies: Sequence[str], application: Application) -> Application:
    """An ASGI application that hears of its clients from these proxies alone (addresses or
    networks; none: from the connection itself)."""

    async def bare(scope: Scope, receive: Receive, send: Send) -> None:
        if "headers" in scope:
            kept = [pair for pair in scope["headers"] if not _forwarded(pair[0])]
            scope = {**scope, "headers": kept}
        await application(scope, receive, send)

    return cast(Application, ProxyHeadersMiddleware(cast(Any, bare), trusted_hosts=list(proxies)))


def _forwarded(name: bytes) -> bool:
    return name.startswith(b"x-forwarded-") or name in _OTHERS
