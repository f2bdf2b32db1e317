"""Where an app is signed in to, and what is handed over there: judged before anything is sent."""

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from foundation.addresses import Refused
from routines_app.agents import oauth_ask, oauth_offer
from routines_app.agents.connectors import App, OpenApps
from routines_app.agents.mcp_session import (
    MORE,
    SIGN_IN,
    AppAnswer,
    AppServer,
    AppTrouble,
    ListedTool,
)
from routines_app.agents.oauth_ask import NoReply, Reply, ask, judge_secret
from routines_app.agents.oauth_offer import NoOffer, Offer, discover, wider
from routines_app.agents.oauth_tokens import Client, NotGiven, Tokens, client_of, renew
from tests.agents.test_connectors import nothing
from tests.agents.test_strange_apps import answering
from tests.fakes.mcp_app import McpApp
from tests.fakes.sign_in_server import CANARY, Grant, SignInServer

METADATA = "http://169.254.169.254/latest"


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[SignInServer, McpApp]]:
    with SignInServer(path="/tenant") as server, McpApp(sign_in=server) as app:
        yield server, app


@pytest.fixture
def server(running: tuple[SignInServer, McpApp]) -> SignInServer:
    """The server that signs in, as new."""
    server, app = running
    server.said = {}
    server.asked.clear()
    app.about = {
        "resource": app.address,
        "authorization_servers": [server.issuer],
        "scopes_supported": ["tickets:read", "tickets:write"],
    }
    return server


@pytest.fixture
def app(running: tuple[SignInServer, McpApp]) -> McpApp:
    return running[1]


def found(app: McpApp, challenge: str | None = None) -> Offer | NoOffer:
    said = app.challenge if challenge is None else challenge
    return discover(app.address, said, nearby=True)


def test_it_is_found_from_the_challenge_and_from_the_well_known_places(
    server: SignInServer, app: McpApp
) -> None:
    offer = found(app)
    assert isinstance(offer, Offer)
    assert (offer.issuer, offer.resource) == (server.issuer, app.address)
    assert (offer.scopes, offer.names_itself, offer.host) == ("tickets:read", True, server.host)
    assert Offer.of(offer.as_json()) == offer
    plain = found(app, "")
    assert isinstance(plain, Offer) and plain.scopes == "tickets:read tickets:write"
    server.said = {"scopes_supported": ["tickets:read", "offline_access", "admin"]}
    lasting = found(app)
    assert isinstance(lasting, Offer) and lasting.scopes == "tickets:read offline_access"


def test_an_app_that_says_nothing_may_sign_in_by_its_own_server() -> None:
    with SignInServer() as server:
        offer = discover(f"{server.issuer}/mcp", "", nearby=True)
    assert isinstance(offer, Offer)
    assert (offer.issuer, offer.resource) == (server.issuer, f"{server.issuer}/mcp")


def test_one_that_knows_nothing_of_it_offers_nothing() -> None:
    with McpApp() as app:
        assert discover(app.address, "", nearby=True) == NoOffer()


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"issuer": "http://127.0.0.1:1/tenant"}, "names itself otherwise"),
        ({"issuer": None}, "names itself otherwise"),
        ({"code_challenge_methods_supported": None}, "PKCE with S256"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE with S256"),
        ({"code_challenge_methods_supported": "S256"}, "PKCE with S256"),
        ({"response_types_supported": ["token"]}, "doesn’t let anybody sign in by their browser"),
        ({"grant_types_supported": ["client_credentials"]}, "by their browser"),
        ({"token_endpoint_auth_methods_supported": ["private_key_jwt"]}, "no way of saying who"),
        ({"authorization_endpoint": None}, "it doesn’t say where one signs in"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "Write the whole address"),
        ({"authorization_endpoint": METADATA}, "no server on the internet"),
        ({"token_endpoint": METADATA}, "no server on the internet"),
        ({"token_endpoint": "http://user:pass@127.0.0.1/t"}, "Leave the name and password out"),
        ({"registration_endpoint": METADATA}, "no server on the internet"),
        ({"revocation_endpoint": METADATA}, "no server on the internet"),
    ],
)
def test_a_server_is_used_only_as_far_as_it_can_be_trusted(
    server: SignInServer, app: McpApp, said: dict[str, Any], says: str
) -> None:
    server.said = said
    offer = found(app)
    assert isinstance(offer, NoOffer) and says in offer.sentence and not offer.passing


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({"resource": "http://127.0.0.1:1/mcp"}, "names itself another address"),
        ({"resource": "https://evil.example.org/mcp"}, "names itself another address"),
        ({"authorization_servers": []}, "doesn’t say who signs in for it"),
        ({"authorization_servers": [METADATA]}, "no server on the internet"),
        ({"authorization_servers": ["http://127.0.0.1:1"]}, "No connection to 127.0.0.1:1"),
    ],
)
def test_an_app_is_believed_only_what_it_says_of_itself(
    server: SignInServer, app: McpApp, about: dict[str, Any], says: str
) -> None:
    app.about |= about
    offer = found(app)
    assert isinstance(offer, NoOffer) and says in offer.sentence


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """To what a connection was tried."""
    made: list[object] = []
    monkeypatch.setattr(
        "httpcore2._backends.anyio.AnyIOBackend.connect_tcp",
        lambda self, host, *_args, **_more: made.append(host),
    )
    return made


def resolved_to(*addresses: str) -> Callable[..., list[Any]]:
    answers = iter(addresses)
    return lambda host, port, *_: [(0, 0, 0, "", (next(answers), port))]


@pytest.mark.parametrize("address", ["169.254.169.254", "10.0.0.7", "127.0.0.1", "::1"])
def test_a_name_that_leads_inside_is_refused_before_anything_is_connected(
    monkeypatch: pytest.MonkeyPatch, connected: list[object], address: str
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolved_to(address))
    offer = discover("https://app.example.org/mcp", "", nearby=False)
    assert isinstance(offer, NoOffer) and offer.sentence.startswith("app.example.org l")
    assert connected == []


def test_a_name_that_leads_inside_the_second_time_is_refused_too(
    monkeypatch: pytest.MonkeyPatch, connected: list[object]
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolved_to("93.184.215.14", "10.0.0.7"))
    answer = ask("https://auth.example.org/token", nearby=False, form="a=b")
    assert isinstance(answer, NoReply) and "this place’s own network" in answer.sentence
    assert connected == []


def test_nothing_secret_goes_unencrypted_through_the_internet(
    monkeypatch: pytest.MonkeyPatch, connected: list[object]
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolved_to("93.184.215.14", "10.0.0.7"))
    judged = judge_secret("http://auth.example.org/token", nearby=True)
    assert isinstance(judged, Refused) and "has to be https" in judged.sentence
    assert not isinstance(judge_secret("http://auth.example.org/token", nearby=True), Refused)
    monkeypatch.setattr(socket, "getaddrinfo", resolved_to("10.0.0.7", "93.184.215.14"))
    answer = ask("http://auth.example.org/token", nearby=True, form="a=b")
    assert isinstance(answer, NoReply) and "has to be https" in answer.sentence
    assert connected == []


@pytest.mark.parametrize(
    ("status", "headers", "body", "expected"),
    [
        (200, {}, b'{"a": 1}', Reply(200, {"a": 1})),
        (200, {}, b"[1]", Reply(200)),
        (200, {}, b"<html>", Reply(200)),
        (200, {}, b"[" * 50_000, Reply(200)),
        (200, {"Content-Encoding": "gzip"}, b"", Reply(200)),
        (302, {"Location": "/elsewhere"}, b"", Reply(302)),
    ],
    ids=["object", "list", "page", "deep", "packed", "redirect"],
)
def test_what_is_answered_is_an_object_or_nothing(
    status: int, headers: dict[str, str], body: bytes, expected: Reply
) -> None:
    with answering(status, headers, body) as (address, asked):
        assert ask(address, nearby=True, form="a=b") == expected
    assert len(asked) == 1


def test_an_answer_is_bounded_in_bytes_and_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(200, {}, b" " * 200_000) as (address, _):
        large = ask(address, nearby=True)
    assert isinstance(large, NoReply) and "too large" in large.sentence
    monkeypatch.setattr(oauth_ask, "ASKING", 0.3)
    with SignInServer() as server:
        server.slow = 1.0
        form = "grant_type=refresh_token&refresh_token=x"
        slow = ask(f"{server.issuer}/token", nearby=True, form=form)
    assert isinstance(slow, NoReply) and "didn’t answer within" in slow.sentence


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


def test_a_token_that_an_app_sends_back_is_seen_nowhere(server: SignInServer, app: McpApp) -> None:
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


@pytest.mark.parametrize(
    "said",
    [
        {"challenge": 'Bearer resource_metadata="http://127.0.0.1:9/router/reboot"'},
        {"authorization_servers": ["https://192.168.1.1"]},
        {"token_endpoint": "https://10.0.0.7/token"},
        {"registration_endpoint": "http://127.0.0.1:9/register"},
    ],
)
def test_an_app_on_the_internet_has_nothing_asked_of_the_private_network(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]
) -> None:
    """Nor does whoever signs in for it, though apps at home may be used here."""
    public, auth = "https://apps.example.org/mcp", "https://sign-in.example.org"
    about = {"resource": public, "authorization_servers": [auth]} | said
    server = {
        "issuer": auth,
        "authorization_endpoint": f"{auth}/go",
        "token_endpoint": f"{auth}/token",
        "code_challenge_methods_supported": ["S256"],
    } | said
    asked = []

    def answering_at(url: str, *, nearby: bool) -> Reply | NoReply:
        judged = judge_secret(url, nearby=nearby)
        if isinstance(judged, Refused):
            return NoReply(judged.sentence)
        asked.append(judged.host)
        return Reply(200, server if "authorization-server" in url else about)

    def resolve(host: str, port: int) -> list[tuple[Any, ...]]:
        return [(0, 0, 0, "", (host if host[0].isdigit() else "93.184.215.14", port))]

    monkeypatch.setattr(oauth_ask.socket, "getaddrinfo", resolve)
    monkeypatch.setattr(oauth_offer, "ask", answering_at)
    offer = discover(public, said.get("challenge", ""), nearby=True)
    assert isinstance(offer, NoOffer) and "own network" in offer.sentence, offer
    assert not [host for host in asked if host[0].isdigit()]
