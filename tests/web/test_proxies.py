"""Who asks is believed of the proxies that were named, and of nobody else."""

import io
import subprocess
import sys
from typing import Any

import pytest
from allauth.account.adapter import get_adapter
from asgiref.sync import async_to_sync
from django.core.handlers.asgi import ASGIRequest

from routines_app.management import web
from routines_app.web.body_limit import Scope
from routines_app.web.proxies import behind
from tests.run import PRODUCTION
from tests.running_app import ROOT

SAID = [
    (b"host", b"routines.example"),
    (b"x-forwarded-for", b"198.51.100.7"),
    (b"x-forwarded-proto", b"https"),
    (b"x-forwarded-host", b"harbour.example"),
    (b"forwarded", b"for=198.51.100.7;proto=https"),
]


def heard(proxies: list[str], peer: str) -> ASGIRequest:
    """The request as the site sees it, when this peer sends all that a proxy might."""
    seen: list[Scope] = []

    async def record(scope: Scope, receive: object, send: object) -> None:
        seen.append(scope)

    scope: Scope = {
        "type": "http",
        "scheme": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "client": (peer, 4711),
        "headers": SAID,
    }
    async_to_sync(behind(proxies, record))(scope, None, None)  # type: ignore[arg-type]
    return ASGIRequest(seen[0], io.BytesIO())


@pytest.mark.parametrize(
    ("proxies", "peer", "client", "secure"),
    [
        ([], "127.0.0.1", "127.0.0.1", False),
        ([], "203.0.113.9", "203.0.113.9", False),
        (["10.0.0.0/8"], "203.0.113.9", "203.0.113.9", False),
        (["10.0.0.0/8"], "127.0.0.1", "127.0.0.1", False),
        (["10.0.0.0/8"], "10.1.2.3", "198.51.100.7", True),
        (["10.0.0.5", "::1"], "::1", "198.51.100.7", True),
    ],
)
def test_forwarded_headers_count_only_from_a_named_proxy(
    settings: Any, proxies: list[str], peer: str, client: str, secure: bool
) -> None:
    settings.ALLOWED_HOSTS = ["routines.example"]
    request = heard(proxies, peer)
    assert get_adapter().get_client_ip(request) == client  # what sign-in's limits go by
    assert request.is_secure() is secure
    assert request.get_host() == "routines.example"
    # nothing that reads a header for itself finds one
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.USE_X_FORWARDED_HOST = True
    request = heard(proxies, peer)
    assert request.is_secure() is secure
    assert request.get_host() == "routines.example"
    assert not [name for name in request.META if "FORWARDED" in name]


def test_of_several_in_a_row_the_last_that_is_no_proxy_counts(monkeypatch: Any) -> None:
    monkeypatch.setitem(
        globals(), "SAID", [(b"x-forwarded-for", b"1.2.3.4, 203.0.113.9, 10.0.0.7")]
    )
    assert heard(["10.0.0.0/8"], "10.0.0.5").META["REMOTE_ADDR"] == "203.0.113.9"


def test_no_settings_believe_a_header_by_themselves() -> None:
    """Production's own settings, as a process of its own reads them."""
    asked = (
        "from routines_app import settings as s;"
        "print(s.TRUSTED_PROXIES, getattr(s, 'SECURE_PROXY_SSL_HEADER', None),"
        " getattr(s, 'USE_X_FORWARDED_HOST', False))"
    )
    said = subprocess.run(
        [sys.executable, "-c", asked],
        cwd=ROOT,
        env=PRODUCTION,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "[] None False"


def test_no_way_to_start_the_site_lets_its_server_believe_them() -> None:
    for name in ("Dockerfile", "routines_app/management/stack.py", "README.md"):
        text = (ROOT / name).read_text()
        assert "--no-proxy-headers" in text, name
        # an address may hold what an app's sign-in answered
        assert "--no-access-log" in text, name
    thread = web.WebThread([])
    assert thread._server.config.proxy_headers is False
