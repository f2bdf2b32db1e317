"""Where an app is signed in to, and what is handed over there: judged before anything is sent."""

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from foundation.addresses import Refused
from routines_app.agents import oauth_ask, oauth_offer
from routines_app.agents.oauth_ask import NoReply, Reply, ask, judge_secret
from routines_app.agents.oauth_offer import NoOffer, Offer, discover
from tests.agents.test_strange_apps import answering
from tests.fakes.mcp_app import McpApp
from tests.fakes.sign_in_server import SignInServer

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
