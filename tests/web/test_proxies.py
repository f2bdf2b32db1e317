"""Who asks is believed of trusted proxies alone."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from routines_app import asgi


@pytest.mark.parametrize(
    ("peer", "client", "scheme"),
    [
        ("127.0.0.1", "198.51.100.7", "https"),
        ("203.0.113.9", "203.0.113.9", "http"),
    ],
)
def test_forwarded_headers_count_only_from_a_trusted_proxy(
    monkeypatch: pytest.MonkeyPatch, peer: str, client: str, scheme: str
) -> None:
    seen: list[dict[str, Any]] = []

    async def record(scope: dict[str, Any], receive: object, send: object) -> None:
        seen.append(scope)

    monkeypatch.setattr(asgi.application, "app", record)
    scope = {
        "type": "http",
        "scheme": "http",
        "client": (peer, 4711),
        "headers": [(b"x-forwarded-for", b"198.51.100.7"), (b"x-forwarded-proto", b"https")],
    }
    async_to_sync(asgi.application)(scope, None, None)  # type: ignore[arg-type]
    assert (seen[0]["client"][0], seen[0]["scheme"]) == (client, scheme)
