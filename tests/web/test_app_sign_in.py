"""Signing in to an app with OAuth: from the page to its server and back, over real HTTP."""

import html
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.test import Client

from accounts.models import Membership, Role
from foundation import clock
from routines_app.models import AppSignIn, Connector, SignInAttempt
from routines_app.runner.ask_connector import ask_connector
from tests.factories import make_member, make_person, make_workspace
from tests.fakes.mcp_app import McpApp
from tests.fakes.sign_in_server import CANARY, SignInServer
from tests.web.leaving import PAGE, answered, fields, leave, nothing_changed, text, there


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
