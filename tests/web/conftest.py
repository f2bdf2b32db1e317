"""What the pages' tests share: a furnished workspace, its owner, and the owner's browser."""

import pytest
from django.test import Client

from accounts.models import User, Workspace
from routines_app.configure.workspace import furnish
from tests.factories import make_person, make_workspace


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
