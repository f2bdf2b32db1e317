"""What an app, or whoever signs in for it, may say and do while its sign-in goes on."""

import threading
import time
from collections.abc import Iterator

import pytest
from django.db import connection
from mcp_types import Tool

from foundation import clock
from routines_app.agents.mcp_session import McpSession
from routines_app.agents.oauth_tokens import Tokens
from routines_app.configure.app_sign_in import _keep, end_sign_in
from routines_app.configure.app_tokens import Held, unseal, usable_token
from routines_app.configure.apps import server_of
from routines_app.configure.connectors import _seal, sign_in_again
from routines_app.models import AppSignIn, Connector
from routines_app.runner.ask_connector import ask_connector
from tests.factories import make_app, make_workspace, owner_of
from tests.fakes.mcp_app import SECRET, McpApp
from tests.fakes.sign_in_server import SignInServer
from tests.fakes.signed_in import sign_in_to


@pytest.fixture
def server() -> Iterator[SignInServer]:
    with SignInServer() as running:
        yield running


@pytest.mark.django_db(transaction=True)
def test_a_person_signs_in_anew_while_a_run_learns_that_the_old_sign_in_is_over(
    server: SignInServer,
) -> None:
    app = sign_in_to(make_app(make_workspace()), server)
    row = AppSignIn.objects.select_related("connector__workspace").get()
    held = Held.of(unseal(row.connector.workspace, row.held))
    AppSignIn.objects.update(renew_at=clock.now(), expires_at=clock.now())
    server.take_back()
    server.slow = 0.5
    errors: list[BaseException] = []

    def learn() -> None:
        try:
            usable_token(app.pk)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=learn)
    thread.start()
    until = time.monotonic() + 10
    while not server.asked_at("/token") and time.monotonic() < until:
        time.sleep(0.01)
    newer = Held("a-newer-token", "its-refresh-token", held.offer, held.client)
    assert _keep(app, owner_of(app.workspace), newer, Tokens(newer.access, newer.refresh, 3600))
    thread.join(timeout=20)
    assert errors == []
    kept = AppSignIn.objects.select_related("connector__workspace").get()
    assert Held.of(unseal(kept.connector.workspace, kept.held)) == newer
    assert Connector.objects.get().state != "refused"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scope", ["a\0b", "a\ud800b"])
def test_scopes_that_no_database_takes_are_an_answer_all_the_same(
    server: SignInServer, scope: str
) -> None:
    with McpApp(sign_in=server) as helpdesk:
        app = make_app(make_workspace(), address=helpdesk.address, tools=[])
        helpdesk.challenge = f'Bearer resource_metadata="{helpdesk.about_at}"'
        helpdesk.about["scopes_supported"] = [scope, "tickets:read"]
        ask_connector(app.pk)
    app.refresh_from_db()
    assert app.checked_at is not None and app.state == "refused"


@pytest.mark.django_db(transaction=True)
def test_a_resource_that_no_database_takes(server: SignInServer) -> None:
    with McpApp(sign_in=server) as helpdesk:
        app = make_app(make_workspace(), address=helpdesk.address, tools=[])
        helpdesk.about["resource"] = helpdesk.address + "?\0"
        ask_connector(app.pk)
    app.refresh_from_db()
    assert app.checked_at is not None and app.state == "refused"


@pytest.mark.parametrize("value", ["a\0b", float("nan"), float("inf"), {"a\0": 1}])
def test_a_schema_that_no_database_takes_is_not_offered(
    db: None, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    good = Tool(name="find", input_schema={"type": "object"})
    bad = Tool(name="bad", input_schema={"type": "object", "default": value})

    async def listed(self: McpSession) -> list[Tool]:
        return [good, bad]

    monkeypatch.setattr(McpSession, "_list", listed)
    with McpApp() as helpdesk:
        app = make_app(make_workspace(), address=helpdesk.address, tools=[])
        _seal(app, (("Authorization", SECRET),))
        app.save()
        ask_connector(app.pk)
    app.refresh_from_db()
    assert app.checked_at is not None and app.state == "connected", app.trouble
    assert "find" in [tool["name"] for tool in app.tools]


def test_headers_that_are_put_in_after_a_sign_in_was_refused_are_what_signs_in(
    db: None, server: SignInServer
) -> None:
    app = sign_in_to(make_app(make_workspace()), server)
    server.take_back()
    AppSignIn.objects.update(renew_at=clock.now(), expires_at=clock.now())
    usable_token(app.pk)
    assert sign_in_again(app, "Authorization: Bearer by-hand-1234") == {}
    assert end_sign_in(app)
    app = Connector.objects.select_related("workspace", "sign_in").get(pk=app.pk)
    found = server_of(app)
    assert (found.sign_in, found.headers) == (None, (("Authorization", "Bearer by-hand-1234"),))
