"""Signing in to an app in tests of pages: the way to its server and back."""

import html
import re
from urllib.parse import parse_qsl, urlsplit

import httpx2
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from routines_app.models import AppSignIn, Connector

PAGE = "/w/ada/agents/apps/"


def text(client: Client, path: str = PAGE) -> str:
    return words(client.get(path))


def words(page: HttpResponse) -> str:
    """A page's text as it's read, without what is bold in it."""
    plain = re.sub(r"</?(b|em)>", "", html.unescape(page.content.decode()))
    return " ".join(plain.split())


def there(app: Connector) -> str:
    return reverse("app_sign_in", args=[app.workspace.slug, app.key])


def leave(client: Client, app: Connector, **typed: str) -> str:
    """Where the sign-in page sends somebody who goes on."""
    answer = client.post(there(app), typed)
    assert answer.status_code == 302, answer.content.decode()
    assert answer["Referrer-Policy"] == "no-referrer"
    return answer["Location"]


def answered(where: str) -> str:
    """What a browser that is sent there is sent back to, as this site's own path."""
    found = httpx2.get(where)
    assert found.status_code == 302
    parts = urlsplit(found.headers["Location"])
    assert f"{parts.scheme}://{parts.netloc}" == "http://localhost:8000"
    return f"{parts.path}?{parts.query}"


def fields(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


def nothing_changed(app: Connector) -> bool:
    row = AppSignIn.objects.get(connector=app)
    app.refresh_from_db()
    return (bytes(row.held), row.signed_in_at, app.state) == (b"", None, "refused")
