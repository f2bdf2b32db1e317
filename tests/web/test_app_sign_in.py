"""Signing in to an app with OAuth: from the page to its server and back, over real HTTP."""

import html
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from celery import current_app
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from accounts.models import Membership, Role, Workspace
from foundation import clock
from routines_app.configure.app_sign_in import keep_offer
from routines_app.models import AppSignIn, Connector, SignInAttempt
from routines_app.runner.ask_connector import ask_connector
from tests.factories import make_app, make_member, make_person, make_routine, make_workspace
from tests.fakes.mcp_app import McpApp
from tests.fakes.sign_in_server import CANARY, SignInServer
from tests.fakes.signed_in import offer_at

PAGE = "/w/ada/agents/apps/"


@pytest.fixture
def server() -> Iterator[SignInServer]:
    with SignInServer() as running:
        yield running


@pytest.fixture
def workspace(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(current_app, "send_task", lambda name, args: None)
    workspace = make_workspace(slug="ada")
    client.force_login(workspace.memberships.get().user)
    return workspace


@pytest.fixture
def app(workspace: Workspace, server: SignInServer) -> Connector:
    """An app whose server said where it's signed in to."""
    row = make_app(workspace, state="refused", trouble="Nobody has signed in to it yet.")
    keep_offer(row, offer_at(server, row.address))
    return row


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


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("method", ["none", "client_secret_post", "client_secret_basic"])
def test_from_connecting_to_the_tools_and_to_taking_it_back(
    client: Client, server: SignInServer, monkeypatch: Any, caplog: Any, method: str
) -> None:
    monkeypatch.setattr(current_app, "send_task", lambda name, args: ask_connector(*args))
    server.method = method
    workspace = make_workspace(slug="ada", owner=make_person(name="Ada Byron"))
    client.force_login(workspace.memberships.get().user)
    with McpApp(sign_in=server) as helpdesk:
        client.post(f"{PAGE}add/", {"name": "Helpdesk", "address": helpdesk.address})
        app = Connector.objects.get()
        page = text(client)
        assert "Helpdesk asks to be signed in to. Nobody has signed in to it yet." in page
        page = text(client, there(app))
        assert f"You are sent to {server.host}, which asks whether Routines may use" in page
        assert "tickets:read" in page and f"Go to {server.host}" in page

        where = leave(client, app)
        assert where.startswith(f"http://{server.host}/authorize?tenant=a+b&")
        sent = fields(where)
        assert (sent["resource"], sent["scope"]) == (helpdesk.address, "tickets:read")
        back = client.get(answered(where))
        assert back["Location"] == f"{PAGE}?asked={app.key}"
        page = text(client, back["Location"])
        assert "You are signed in to Helpdesk." in page
        assert "3 tools: 2 read, 1 changes things. Signed in by Ada Byron, until it is" in page
        app.refresh_from_db()
        assert (app.state, app.trouble) == ("connected", "")
        [registered] = server.asked_at("/register")
        assert registered["redirect_uris"] == ["http://localhost:8000/agents/apps/signed-in/"]

        row = AppSignIn.objects.get()
        assert CANARY not in str([*Connector.objects.values(), *AppSignIn.objects.values()])
        assert CANARY.encode() not in bytes(row.held) + bytes(row.client)
        shown = "".join(
            text(client, path) for path in (PAGE, there(app), f"{PAGE}{app.key}/tools/")
        )
        assert CANARY not in shown + caplog.text
        assert server.takes(helpdesk.asked[-1]["authorization"])

        leave(client, app)
        assert len(server.asked_at("/register")) == 1  # it's known there by now
        gone = client.post(f"{PAGE}{app.key}/remove/", follow=True)
        assert "Helpdesk is disconnected." in gone.content.decode()
        assert not server.takes(helpdesk.asked[-1]["authorization"])
        assert [each["token_type_hint"] for each in server.asked_at("/revoke")] == [
            "refresh_token",
            "access_token",
        ]
        assert bytes(AppSignIn.objects.get().held) == b""


def test_a_cancelled_sign_in_comes_back_to_a_page_that_says_so(
    client: Client, app: Connector, server: SignInServer
) -> None:
    server.agrees = False
    back = client.get(answered(leave(client, app)))
    assert back["Location"] == f"{there(app)}?came=declined"
    page = text(client, back["Location"])
    assert f"Helpdesk isn’t signed in to. You, or {server.host}, said no. Nothing has" in page
    assert "They said no" not in page and nothing_changed(app)
    server.agrees = True
    assert client.get(answered(leave(client, app)))["Location"].startswith(f"{PAGE}?asked=")


def other_browser(client: Client, app: Connector) -> Client:
    """The same person, signed in in another browser."""
    another = Client()
    another.force_login(app.workspace.memberships.get(role=Role.OWNER).user)
    return another


def other_admin(client: Client, app: Connector) -> Client:
    another = Client()
    another.force_login(make_member(app.workspace, Role.ADMIN))
    return another


def other_workspaces(client: Client, app: Connector) -> Client:
    another = Client()
    another.force_login(make_workspace(slug="byron").memberships.get().user)
    return another


def who_has_left(client: Client, app: Connector) -> Client:
    Membership.objects.all().delete()
    return client


def who_may_no_longer(client: Client, app: Connector) -> Client:
    Membership.objects.update(role=Role.MEMBER)
    return client


def disconnected(client: Client, app: Connector) -> Client:
    Connector.objects.update(removed_at=clock.now())
    return client


@pytest.mark.parametrize(
    "by",
    [other_browser, other_admin, other_workspaces, who_has_left, who_may_no_longer, disconnected],
)
def test_an_answer_is_taken_from_whom_it_is_for_alone(
    client: Client, app: Connector, server: SignInServer, by: Callable[[Client, Connector], Client]
) -> None:
    path = answered(leave(client, app))
    found = by(client, app).get(path)
    assert found.status_code == 422
    assert "This sign-in can’t be finished." in html.unescape(found.content.decode())
    assert server.asked_at("/token") == [] and nothing_changed(app)
    assert SignInAttempt.objects.get().used_at is None  # whose it is may still finish it


@pytest.mark.parametrize("state", ["", "wrong"])
def test_a_state_that_nobody_was_given_is_nobodys(
    client: Client, app: Connector, server: SignInServer, state: str
) -> None:
    path = answered(leave(client, app))
    wrong = path.replace(fields(path)["state"], state)
    assert client.get(wrong).status_code == 422
    assert server.asked_at("/token") == [] and nothing_changed(app)


def test_an_answer_is_taken_once(client: Client, app: Connector, server: SignInServer) -> None:
    path = answered(leave(client, app))
    client.get(path)
    assert client.get(path)["Location"] == f"{there(app)}?came=used"
    assert len(server.asked_at("/token")) == 1


def test_an_answer_is_taken_for_ten_minutes(
    client: Client, app: Connector, server: SignInServer
) -> None:
    path = answered(leave(client, app))
    SignInAttempt.objects.update(began_at=clock.now() - timedelta(minutes=10))
    assert client.get(path)["Location"] == f"{there(app)}?came=late"
    assert server.asked_at("/token") == [] and nothing_changed(app)
    SignInAttempt.objects.update(began_at=clock.now() - timedelta(days=2))
    leave(client, app)
    assert SignInAttempt.objects.count() == 1  # nothing of the old one is kept


@pytest.mark.parametrize("issuer", ["https://evil.example.org", "", None])
def test_an_answer_of_another_server_is_not_taken(
    client: Client, app: Connector, server: SignInServer, issuer: str | None
) -> None:
    path = answered(leave(client, app))
    said = fields(path) | {"iss": issuer}
    kept = {name: value for name, value in said.items() if value is not None}
    found = client.get(path.partition("?")[0], kept)
    assert found["Location"] == f"{there(app)}?came=mixed"
    assert server.asked_at("/token") == [] and nothing_changed(app)


def test_what_the_app_says_meanwhile_leads_no_answer_elsewhere(
    client: Client, app: Connector, server: SignInServer
) -> None:
    path = answered(leave(client, app))
    row = AppSignIn.objects.get()
    row.offer |= {"issuer": "http://127.0.0.1:9", "tokens": "http://127.0.0.1:9/token"}
    row.save()
    client.get(path)
    assert len(server.asked_at("/token")) == 1


@pytest.mark.parametrize(("status", "came"), [(500, "silent"), (429, "silent"), (0, "refused")])
def test_a_server_that_hands_nothing_over_changes_nothing(
    client: Client, app: Connector, server: SignInServer, status: int, came: str
) -> None:
    path = answered(leave(client, app))
    server.trouble = status
    if not status:
        server.clients.clear()
    assert client.get(path)["Location"] == f"{there(app)}?came={came}"
    assert nothing_changed(app)
    assert bool(AppSignIn.objects.get().client) is bool(status)  # forgotten there: forgotten here
    server.trouble = 0
    assert client.get(answered(leave(client, app)))["Location"].startswith(f"{PAGE}?asked=")


def test_without_registration_a_person_writes_the_client(
    client: Client, app: Connector, server: SignInServer
) -> None:
    row = AppSignIn.objects.get()
    row.offer |= {"registers": "", "methods": ["client_secret_basic"]}
    row.save()
    page = text(client, there(app))
    assert "http://localhost:8000/agents/apps/signed-in/" in page and "Client secret" in page
    refused = client.post(there(app), {})
    assert refused.status_code == 422
    assert f"Write the client id that {server.host} gave" in html.unescape(refused.content.decode())
    wrong = client.post(there(app), {"client_id": "mine", "client_secret": "ha lf"})
    assert "no secret has" in wrong.content.decode() and "ha lf" not in wrong.content.decode()
    secret = f"s+e/c:{CANARY}"
    server.clients["mine"] = {
        "client_secret": secret,
        "redirect_uris": ["http://localhost:8000/agents/apps/signed-in/"],
    }
    where = leave(client, app, client_id="mine", client_secret=secret)
    client.get(answered(where))
    assert AppSignIn.objects.get().signed_in_at is not None
    assert server.asked_at("/register") == []
    page = text(client, there(app))
    assert "Both empty: what was written before is used." in page and CANARY not in page
    leave(client, app)  # it's kept, also for who left and didn't come back
    leave(client, app)


def test_where_registration_is_refused_a_person_may_write_one(
    client: Client, app: Connector, server: SignInServer
) -> None:
    row = AppSignIn.objects.get()
    row.offer |= {"registers": f"http://{server.host}/nowhere"}
    row.save()
    page = words(client.post(there(app), {}))
    assert "didn’t register Routines by itself (HTTP status 404)" in page
    assert 'name="client_secret"' in page
    row.offer |= {"registers": "http://127.0.0.1:9/register"}
    row.save()
    page = words(client.post(there(app), {}))
    assert "Nobody was sent anywhere. No connection to 127.0.0.1:9 could be made." in page
    assert 'name="client_secret"' not in page


def test_a_client_that_was_forgotten_there_is_registered_anew(
    client: Client, app: Connector, server: SignInServer
) -> None:
    """Its server tells that to the person alone, who comes back by themselves."""
    leave(client, app)
    server.clients.clear()
    path = answered(leave(client, app))
    assert len(server.asked_at("/register")) == 2
    assert client.get(path)["Location"].startswith(f"{PAGE}?asked=")
    leave(client, app)
    assert len(server.asked_at("/register")) == 2


def test_who_may_not_connect_an_app_may_not_sign_in(client: Client, app: Connector) -> None:
    Membership.objects.update(role=Role.MEMBER)
    assert client.post(there(app)).status_code == 403
    assert not SignInAttempt.objects.exists()


def test_only_the_page_that_says_where_lets_a_form_lead_there(
    client: Client, app: Connector
) -> None:
    assert "form-action 'self' https:" in client.get(there(app))["Content-Security-Policy"]
    assert "form-action 'self';" in client.get(PAGE)["Content-Security-Policy"] + ";"


def test_when_a_sign_in_ends_is_said_where_the_server_says_so(
    client: Client, app: Connector, server: SignInServer
) -> None:
    server.refresh_life = 5 * 86_400
    make_routine(app.workspace, name="Sweep", apps=[{"app": "helpdesk", "required": True}])
    client.get(answered(leave(client, app)))
    Connector.objects.update(state="connected", checked_at=clock.now())
    day = clock.now() + timedelta(days=5)
    page = text(client)
    assert f"asks to be signed in again by {day.day} {day:%B}. Sweep needs it; its" in page
    assert "One asks to be signed in again." in page
    AppSignIn.objects.update(ends_at=clock.now() + timedelta(days=40))
    assert "asks to be signed in again" not in text(client)


def test_headers_take_the_place_of_a_sign_in(
    client: Client, app: Connector, server: SignInServer
) -> None:
    client.get(answered(leave(client, app)))
    client.post(there(app), {"headers": "Authorization: Bearer sk-other"})
    row = AppSignIn.objects.get()
    assert (bytes(row.held), row.signed_in_at) == (b"", None)
    assert all(grant.over for grant in server.grants)
    assert "By header Authorization" in text(client)
    client.get(answered(leave(client, app)))  # and a sign-in the place of that header
    app.refresh_from_db()
    assert (app.header_names, bytes(app.sealed)) == ([], b"")


def test_a_server_that_cannot_be_told_leaves_nothing_here_and_is_named(
    client: Client, app: Connector, server: SignInServer
) -> None:
    client.get(answered(leave(client, app)))
    server.stop()
    gone = client.post(f"{PAGE}{app.key}/remove/", follow=True).content.decode()
    assert "take the sign-in back there, too" in html.unescape(gone)
    assert bytes(AppSignIn.objects.get().held) == b""


def test_signing_in_again_keeps_no_run_waiting(client: Client, app: Connector) -> None:
    client.get(answered(leave(client, app)))
    app.refresh_from_db()
    assert (app.state, app.trouble) == ("connected", "")
    Connector.objects.update(tools=[], state="refused")
    client.get(answered(leave(client, app)))
    app.refresh_from_db()
    assert app.state == "new"


def test_what_was_never_signed_in_to_is_told_apart(client: Client, app: Connector) -> None:
    assert "None is connected. Nobody has signed in to one yet." in text(client)
    assert "Not signed in to yet." in text(client)
    Connector.objects.update(header_names=["Authorization"])
    assert "None is connected. One asks to be signed in again." in text(client)
