"""What the pages' tests share: a furnished workspace, its owner, and the owner's browser."""

from collections.abc import Iterator

import pytest
from celery import current_app
from django.test import Client

from accounts.models import User, Workspace
from routines_app.configure.app_sign_in import keep_offer
from routines_app.configure.workspace import furnish
from routines_app.models import Connector
from tests.factories import make_app, make_person, make_workspace
from tests.fakes.sign_in_server import SignInServer
from tests.fakes.signed_in import offer_at


@pytest.fixture
def owner(db: None) -> User:
    """Somebody in London."""
    return make_person(zone="Europe/London")


@pytest.fixture
def harbour(owner: User) -> Workspace:
    """The owner's workspace, with the roster and one sleeping machine."""
    workspace = make_workspace(owner, name="Harbour", slug="harbour")
    furnish(workspace, owner)
    return workspace


@pytest.fixture
def browser_of_owner(client: Client, owner: User, harbour: Workspace) -> Client:
    """The owner, signed in."""
    client.force_login(owner)
    return client


@pytest.fixture
def server() -> Iterator[SignInServer]:
    """A server that signs people in for an app."""
    with SignInServer() as running:
        yield running


@pytest.fixture
def app(
    client: Client, db: None, server: SignInServer, monkeypatch: pytest.MonkeyPatch
) -> Connector:
    """An app that said where it's signed in to, and the browser of its workspace's owner."""
    monkeypatch.setattr(current_app, "send_task", lambda name, args: None)
    workspace = make_workspace(slug="ada")
    client.force_login(workspace.memberships.get().user)
    row = make_app(workspace, state="refused", trouble="Nobody has signed in to it yet.")
    keep_offer(row, offer_at(server, row.address))
    return row
