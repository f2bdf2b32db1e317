"""The page that sends somebody to an app's sign-in, and the apps' page afterwards."""

import html
from datetime import timedelta

from django.test import Client

from accounts.models import Membership, Role
from foundation import clock
from routines_app.models import AppSignIn, Connector, SignInAttempt
from tests.factories import make_routine
from tests.fakes.sign_in_server import CANARY, SignInServer
from tests.web.leaving import PAGE, answered, leave, text, there, words


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
