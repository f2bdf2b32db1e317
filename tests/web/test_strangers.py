"""Every address beneath a workspace: a stranger gets 404, and a passer-by is sent to sign-in.

The list is the URLconf itself, so a new page is covered when it is added; one that no rule
classifies fails here.
"""

from collections.abc import Iterator
from uuid import UUID

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.converters import (
    IntConverter,
    PathConverter,
    SlugConverter,
    StringConverter,
    UUIDConverter,
)

from accounts.join import found_workspace
from accounts.models import Role, User

OPEN_TO_ALL = {"home", "help", "invitation"}
FOR_WHOEVER_IS_SIGNED_IN = {"kit", "me", "sign_out_there", "workspace_new", "app_signed_in"}
OTHERS_WITH_THEIR_OWN_DOOR = (
    "accounts/",
    "api/",
    "mcp",
    "hooks/",
    "healthz",
    "readyz",
    "metrics",
    "static/",
)
SAMPLES: dict[type, object] = {
    IntConverter: 1,
    SlugConverter: "a-name",
    StringConverter: "a-name",
    PathConverter: "some/path.txt",
    UUIDConverter: UUID(int=1),
}


def routes(
    patterns: list[URLPattern | URLResolver], before: str = "", converters: dict | None = None
) -> Iterator[tuple[str, URLPattern, dict]]:
    """Each route as its text, its pattern, and the converters of its whole path."""
    for entry in patterns:
        text = before + str(entry.pattern)
        known = (converters or {}) | entry.pattern.converters
        if isinstance(entry, URLResolver):
            yield from routes(entry.url_patterns, text, known)
        else:
            yield text, entry, known


EVERY_ROUTE = list(routes(get_resolver().url_patterns))
IN_A_WORKSPACE = [route for route in EVERY_ROUTE if route[0].startswith("w/")]


def address(text: str, converters: dict, slug: str) -> str:
    """The route's path, with samples for all but the workspace's slug."""
    path = text
    for name, converter in converters.items():
        value = slug if name == "workspace_slug" else SAMPLES[type(converter)]
        kind = next(k for k in ("int", "slug", "str", "path", "uuid", "") if f"<{k}:{name}>" in path
                    or f"<{name}>" in path)  # fmt: skip
        path = path.replace(f"<{kind}:{name}>" if kind else f"<{name}>", str(value))
    return f"/{path}"


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner@example.org", None, name="Owner")


@pytest.fixture
def stranger(client: Client, owner: User) -> Client:
    somebody = User.objects.create_user("other@example.org", None, name="Other")
    found_workspace(somebody, "UTC")
    client.force_login(somebody)
    return client


def test_every_route_is_classified() -> None:
    unknown = []
    for text, entry, _ in EVERY_ROUTE:
        view = entry.callback
        if text.startswith("w/"):
            known = isinstance(getattr(view, "needs_role", None), Role)
        elif entry.name in FOR_WHOEVER_IS_SIGNED_IN:
            known = True
        else:
            known = entry.name in OPEN_TO_ALL or text.startswith(OTHERS_WITH_THEIR_OWN_DOOR)
        if not known:
            unknown.append(f"{text} ({entry.name})")
    assert unknown == []


def test_there_are_routes_to_look_at() -> None:
    assert len(IN_A_WORKSPACE) >= 6


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("route", IN_A_WORKSPACE, ids=lambda route: route[0])
def test_a_stranger_finds_nothing(
    route: tuple[str, URLPattern, dict], method: str, owner: User, stranger: Client
) -> None:
    workspace = found_workspace(owner, "UTC")
    path = address(route[0], route[2], workspace.slug)
    foreign = getattr(stranger, method)(path)
    missing = getattr(stranger, method)(address(route[0], route[2], "there-is-none"))
    assert foreign.status_code == missing.status_code == 404
    assert workspace.name not in foreign.content.decode()


@pytest.mark.parametrize("route", IN_A_WORKSPACE, ids=lambda route: route[0])
def test_a_passer_by_is_sent_to_sign_in(
    route: tuple[str, URLPattern, dict], owner: User, client: Client
) -> None:
    path = address(route[0], route[2], found_workspace(owner, "UTC").slug)
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=%2Fw%2F")
    in_place = client.get(path, headers={"HX-Request": "true"})
    assert in_place.status_code == 401
    assert in_place["HX-Redirect"].startswith("/accounts/login/")


@pytest.mark.parametrize("path", ["/me/"])
def test_a_passer_by_has_no_page_of_their_own(path: str, client: Client, db: None) -> None:
    assert client.get(path).status_code == 302
