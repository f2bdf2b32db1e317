"""What a server hands over for an app, and how an app is signed in to with it."""

import asyncio
from typing import Any

import httpx2
import pytest

from routines_app.agents.app_wire import Exchange, http_client
from routines_app.agents.connectors import App, OpenApps
from routines_app.agents.mcp_session import (
    MORE,
    SIGN_IN,
    AppAnswer,
    AppServer,
    AppTrouble,
    ListedTool,
)
from routines_app.agents.oauth_offer import Offer, wider
from routines_app.agents.oauth_tokens import Client, NotGiven, Tokens, client_of, renew
from tests.agents.test_connectors import nothing
from tests.agents.test_strange_apps import answering
from tests.fakes.mcp_app import McpApp
from tests.fakes.sign_in_server import CANARY, Grant, SignInServer

GOOD = b'{"access_token": "a", "token_type": "Bearer"'


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, GOOD + b"}", Tokens("a")),
        (200, GOOD + b', "refresh_token": "r", "expires_in": "60"}', Tokens("a", "r", 60)),
        (200, GOOD + b', "expires_in": 0}', Tokens("a")),
        (200, GOOD + b', "expires_in": -5, "refresh_expires_in": 90}', Tokens("a", "", None, 90)),
        (200, GOOD + b', "expires_in": NaN, "refresh_token": null}', Tokens("a")),
        (200, GOOD + b', "expires_in": true}', Tokens("a")),
        (200, GOOD + b', "expires_in": 1e300}', Tokens("a", "", 315_360_000)),
        (200, b'{"access_token": "a", "token_type": "DPoP"}', "nothing that can be used"),
        (200, b'{"access_token": "a b", "token_type": "bearer"}', "nothing that can be used"),
        (200, b'{"access_token": 7, "token_type": "bearer"}', "nothing that can be used"),
        (200, b"{}", "nothing that can be used"),
        (400, b'{"error": "invalid_grant"}', "refused it (invalid_grant)"),
        (401, b'{"error": "invalid_client"}', "refused it (invalid_client)"),
        (400, b'{"error": "<b>"}', "HTTP status 400"),
        (503, b'{"error": "invalid_grant"}', "HTTP status 503"),
        (429, b"", "HTTP status 429"),
    ],
)
def test_what_a_server_hands_over(status: int, body: bytes, expected: Tokens | str) -> None:
    with answering(status, {}, body) as (address, _):
        offer = Offer("i", address, address, "r")
        given = renew(offer, Client("me"), "old", nearby=True)
    if isinstance(given, NotGiven):
        assert isinstance(expected, str) and expected in given.sentence
        assert given.refused is ("refused it" in expected)
        assert given.client_unknown is ("invalid_client" in expected)
    else:
        assert given == expected
        assert "access" not in repr(given)


def test_a_wider_sign_in_asks_for_both() -> None:
    offer = Offer("i", "a", "t", "r", scopes="read")
    said = 'Bearer error="insufficient_scope", scope="write read"'
    more = wider(offer, said)
    assert more is not None and more.scopes == "read write"
    assert wider(offer, 'Bearer error="invalid_token", scope="write"') is None
    assert wider(offer, "Bearer") is None


def test_a_client_of_ones_own_says_who_it_is_as_its_server_takes_it() -> None:
    for methods, expected in (
        (("none", "client_secret_post"), "client_secret_post"),
        (("client_secret_post", "client_secret_basic"), "client_secret_basic"),
        (("none",), "client_secret_basic"),
    ):
        offer = Offer("i", "a", "t", "r", methods=methods)
        assert client_of(offer, "me", "secret") == Client("me", "secret", expected)
    assert client_of(offer, "me", "") == Client("me")


class Hands:
    """Tokens as a row would give them: the first, and one for each that was turned away."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)
        self.turned_away: list[str] = []

    async def token(self) -> str | AppTrouble:
        return self.tokens[0]

    async def instead_of(self, turned_away: str) -> str | AppTrouble:
        self.turned_away.append(turned_away)
        self.tokens.pop(0)
        return self.tokens[0] if self.tokens else AppTrouble("It is over.", refused=True)


def opened(address: str, hands: Hands, **more: Any) -> AppTrouble | None:
    app = App(
        "helpdesk", "Helpdesk", (), AppServer(address, sign_in=hands, nearby=True, **more), True
    )
    with OpenApps((app,)) as apps:
        trouble = apps.open_required(nothing)
    return None if trouble is None else trouble[1]


def test_a_token_that_is_turned_away_is_replaced_once() -> None:
    hands = Hands("first", "second", "third")
    challenge = {"WWW-Authenticate": 'Bearer scope="a"'}
    with answering(401, challenge) as (address, asked):
        trouble = opened(address, hands, headers=(("Authorization", "Bearer typed"),))
    assert trouble == AppTrouble(SIGN_IN, refused=True)
    assert trouble.challenge == 'Bearer scope="a"'
    assert hands.turned_away == ["first"]
    posts = [sign_in for method, sign_in in asked if method == "POST"]
    assert posts[:2] == ["Bearer first", "Bearer second"] and "Bearer typed" not in posts


@pytest.mark.parametrize("older", [False, True])
def test_a_session_outlives_its_token(older: bool) -> None:
    with SignInServer() as server, McpApp(older=older, sign_in=server) as app:
        server.grants.append(Grant("me", "", "", {"first", "second"}))
        hands = Hands("first", "second")
        tool = ListedTool("find_ticket", "", {"type": "object"}, False)
        there = AppServer(app.address, sign_in=hands, nearby=True)
        with OpenApps((App("helpdesk", "Helpdesk", (tool,), there, True),)) as apps:
            for number in range(3):
                found = apps.call("helpdesk__find_ticket", {"words": str(number)}, 20.0, nothing)
                assert isinstance(found, AppAnswer), found
                server.grants[0].access.discard("first")
    assert hands.turned_away == ["first"]
    assert [words for _, words in app.done] == ["0", "1", "2"]
    assert len({asked.get("mcp-session-id") for asked in app.asked} - {None}) == int(older)


def test_one_that_nothing_replaces_is_told_as_that() -> None:
    with answering(401, {}) as (address, _):
        assert opened(address, Hands("first")) == AppTrouble("It is over.", refused=True)


def test_what_was_granted_too_narrowly_is_told_apart() -> None:
    said = {"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="more"'}
    with answering(403, said) as (address, _):
        assert opened(address, Hands("first")) == AppTrouble(MORE, refused=True)


@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_token_follows_no_redirect(status: int) -> None:
    """Not even within the app's own address, where the protocol's library would go along."""
    with answering(200, {}) as (elsewhere, there):
        for target in (elsewhere, "/mcp/"):
            with answering(status, {"Location": target}) as (address, asked):
                assert opened(address, Hands("first")) is not None
            assert {sign_in for _, sign_in in asked} == {"Bearer first"}
            assert len([method for method, _ in asked if method == "POST"]) <= 2
    assert there == []


def test_a_token_that_an_app_sends_back_is_seen_nowhere() -> None:
    assert CANARY not in repr(Tokens(CANARY, CANARY)) + repr(Client("me", CANARY))
    hands = Hands(f"access-{CANARY}")
    body = (
        b'{"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": "access-'
        + CANARY.encode()
        + b'"}}'
    )
    with answering(400, {"Content-Type": "application/json"}, body) as (address, _):
        trouble = opened(address, hands)
    assert trouble is not None and CANARY not in trouble.sentence


def test_a_token_is_sent_to_the_app_s_own_address_alone() -> None:
    with answering(200, {}) as (elsewhere, there), answering(200, {}) as (address, here):
        server = AppServer(address, sign_in=Hands("first"), nearby=True)

        async def ask(url: str) -> None:
            async with http_client(server, Exchange()) as client:
                await client.post(url)

        asyncio.run(ask(address + "/other"))
        with pytest.raises(httpx2.UnsupportedProtocol):
            asyncio.run(ask(elsewhere))
    assert (here, there) == ([("POST", "Bearer first")], [])
