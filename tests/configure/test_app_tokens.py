"""An app's tokens: renewed in time, by one at a time, and ended only by a refusal."""

import asyncio
import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection

from foundation import clock
from routines_app.agents.app_wire import AppTrouble
from routines_app.configure import app_tokens
from routines_app.configure.app_sign_in import end_sign_in
from routines_app.configure.app_tokens import (
    AGAIN,
    MEMORY,
    NOBODY,
    UNREADABLE,
    Held,
    KeptTokens,
    Usable,
    usable_token,
)
from routines_app.configure.apps import missing_app, server_of
from routines_app.models import AppSignIn, Connector
from tests.factories import NOON, make_app, make_routine, make_workspace
from tests.fakes.sign_in_server import CANARY, SignInServer
from tests.fakes.signed_in import sign_in_to


@pytest.fixture
def server() -> Iterator[SignInServer]:
    with SignInServer() as running:
        yield running


@pytest.fixture
def app(db: None, server: SignInServer) -> Connector:
    """An app that somebody signed in to an hour's token ago."""
    return sign_in_to(make_app(make_workspace()), server)


def renewals(server: SignInServer) -> list[str]:
    return [
        fields["refresh_token"]
        for fields in server.asked_at("/token")
        if fields["grant_type"] == "refresh_token"
    ]


def token(app: Connector, **more: str) -> str:
    found = usable_token(app.pk, **more)
    assert isinstance(found, Usable), found
    return found.access


def end_in(seconds: float) -> None:
    """Each token ends in so many seconds, and may be renewed now."""
    now = clock.now()
    AppSignIn.objects.update(renew_at=now, expires_at=now + timedelta(seconds=seconds))


def test_one_that_holds_is_used_as_it_is(app: Connector, server: SignInServer) -> None:
    assert token(app) == token(app)
    assert renewals(server) == []
    row = AppSignIn.objects.get()
    assert row.expires_at is not None and row.renew_at == row.expires_at - timedelta(seconds=60)
    assert CANARY not in repr(server_of(app)) + repr(usable_token(app.pk))


def test_one_that_ends_soon_is_renewed_and_the_new_refresh_token_kept(
    app: Connector, server: SignInServer
) -> None:
    first = token(app)
    for _ in range(3):
        end_in(30)
        newer = token(app)
        assert newer != first and server.takes(f"Bearer {newer}")
    assert len(set(renewals(server))) == 3
    assert server.reused == 0
    asked = server.asked_at("/token")[-1]
    assert asked["resource"] == app.address and "scope" not in asked


def test_a_refresh_token_that_is_not_replaced_goes_on(app: Connector, server: SignInServer) -> None:
    server.rotates = False
    for _ in range(2):
        end_in(0)
        token(app)
    assert len(set(renewals(server))) == 1


def test_one_that_was_turned_away_is_renewed_and_an_older_one_is_not(
    app: Connector, server: SignInServer
) -> None:
    first = token(app)
    second = token(app, instead_of=first)
    assert second != first
    assert token(app, instead_of=first) == second  # somebody else renewed it meanwhile
    assert len(renewals(server)) == 1


def test_a_short_life_is_renewed_in_its_last_quarter(app: Connector, server: SignInServer) -> None:
    server.life = 20
    end_in(0)
    token(app)
    row = AppSignIn.objects.get()
    assert row.expires_at is not None and row.renew_at == row.expires_at - timedelta(seconds=5)


def test_without_a_life_it_is_used_until_it_is_turned_away(
    app: Connector, server: SignInServer
) -> None:
    server.life = None
    end_in(0)
    there = token(app)
    assert (AppSignIn.objects.get().expires_at, token(app)) == (None, there)


@pytest.mark.parametrize("status", [0, 500, 429])
def test_a_server_that_can_not_be_reached_is_no_refusal(
    app: Connector, server: SignInServer, status: int
) -> None:
    server.trouble = status
    if not status:
        server.stop()
    there = token(app)
    end_in(30)
    assert token(app) == there  # it holds for a while yet
    end_in(0)
    found = usable_token(app.pk)
    assert isinstance(found, AppTrouble) and not found.refused
    assert found.sentence.startswith("Its sign-in couldn’t be renewed.")
    app.refresh_from_db()
    assert app.state == "connected" and bytes(AppSignIn.objects.get().held)


@pytest.mark.parametrize("how", ["taken back", "client gone", "no refresh token"])
def test_a_refusal_ends_the_sign_in_and_every_routine_that_needs_it_knows(
    app: Connector, server: SignInServer, how: str
) -> None:
    routine = make_routine(app.workspace, apps=[{"app": "helpdesk", "required": True}])
    assert missing_app(routine) is None
    if how == "taken back":
        server.take_back()
    elif how == "client gone":
        server.clients.clear()
    else:
        sign_in_to(app, server, refresh="")
    end_in(0)
    found = usable_token(app.pk)
    assert found == AppTrouble(AGAIN, refused=True)
    app.refresh_from_db()
    assert (app.state, app.trouble) == ("refused", AGAIN)
    missing = missing_app(routine)
    assert missing is not None and (missing.name, missing.why) == ("Helpdesk", AGAIN)
    row = AppSignIn.objects.get()
    assert bytes(row.held) == b"" and row.signed_in_at is not None
    assert bool(row.client) is (how != "client gone")
    asked = len(server.asked)
    assert usable_token(app.pk) == found
    assert len(server.asked) == asked  # it isn't asked again for what is over


def test_what_can_not_be_read_or_was_never_there_is_told(app: Connector, settings: object) -> None:
    AppSignIn.objects.update(held=b"nonsense")
    assert usable_token(app.pk) == AppTrouble(UNREADABLE, refused=True)
    assert not end_sign_in(app)
    assert usable_token(app.pk) == AppTrouble(NOBODY, refused=True)
    assert usable_token(make_app(app.workspace, "Other").pk) == AppTrouble(NOBODY, refused=True)


def test_the_row_holds_no_secret_in_the_clear(app: Connector) -> None:
    values = AppSignIn.objects.values().get()
    assert CANARY.encode() not in b"".join(bytes(values[name]) for name in ("held", "client"))
    assert CANARY not in str(
        {name: values[name] for name in values if name not in ("held", "client")}
    )
    assert Held.__dataclass_fields__["access"].repr is False


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_renews_and_the_other_takes_what_it_got(server: SignInServer) -> None:
    app = sign_in_to(make_app(make_workspace()), server)
    end_in(0)
    server.slow = 0.3
    got: list[object] = []

    def take() -> None:
        got.append(usable_token(app.pk))
        connection.close()

    threads = [threading.Thread(target=take) for _ in range(3)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert time.monotonic() - began < 5
    assert len({found.access for found in got if isinstance(found, Usable)}) == 1, got
    assert len(got) == 3
    assert (len(renewals(server)), server.reused) == (1, 0)
    assert server.takes(f"Bearer {got[0].access}")  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_what_is_taken_back_is_what_a_renewal_under_way_got(server: SignInServer) -> None:
    app = sign_in_to(make_app(make_workspace()), server)
    end_in(0)
    server.slow = 0.3

    def take() -> None:
        usable_token(app.pk)
        connection.close()

    thread = threading.Thread(target=take)
    thread.start()
    until = time.monotonic() + 10
    while not renewals(server) and time.monotonic() < until:
        time.sleep(0.01)
    assert end_sign_in(app)
    thread.join(timeout=20)
    assert all(grant.over for grant in server.grants)
    assert bytes(AppSignIn.objects.get().held) == b""


def test_a_turn_that_goes_on_asks_soon_whether_it_may_still_use_a_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [NOON]
    found: list[Usable | AppTrouble] = [Usable("first", None)]
    monkeypatch.setattr(app_tokens.clock, "now", lambda: now[0])
    monkeypatch.setattr(app_tokens, "usable_token", lambda _, **more: found[0])
    hands = KeptTokens(1)
    assert asyncio.run(hands.token()) == "first"
    found[0] = AppTrouble(AGAIN, refused=True)
    now[0] += MEMORY - timedelta(seconds=1)
    assert asyncio.run(hands.token()) == "first"
    now[0] += timedelta(seconds=1)
    assert asyncio.run(hands.token()) == AppTrouble(AGAIN, refused=True)
