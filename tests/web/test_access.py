"""Roles at the door: who may read, who may change, and what the others are told."""

import pytest
from django.test import Client

from accounts.models import Membership, Role
from tests.factories import make_machine, make_member, make_person, make_workspace

pytestmark = pytest.mark.django_db


def test_a_viewer_reads_and_is_told_who_can_help(client: Client) -> None:
    workspace = make_workspace(make_person("Owner"))
    make_member(workspace, Role.ADMIN, name="Admin")
    make_machine(workspace)
    client.force_login(make_member(workspace, Role.VIEWER, name="Vera"))
    assert client.get(f"/w/{workspace.slug}/machines/harbour-1/").status_code == 200
    answer = client.post(f"/w/{workspace.slug}/machines/harbour-1/start/")
    page = answer.content.decode()
    assert answer.status_code == 403
    assert "You may read this, not change it." in page
    assert "Owner and Admin can give you that role." in page
    assert 'class="rail"' in page
    workspace.machines.get(state="asleep")


def test_in_place_the_refusal_is_one_sentence(client: Client) -> None:
    workspace = make_workspace(make_person("Owner"))
    make_machine(workspace)
    client.force_login(make_member(workspace, Role.VIEWER))
    answer = client.post(
        f"/w/{workspace.slug}/machines/harbour-1/start/", headers={"HX-Request": "true"}
    )
    page = answer.content.decode()
    assert answer.status_code == 403
    assert "This takes a member. Owner can give you that role." in page
    assert "<html" not in page


@pytest.mark.parametrize(
    ("role", "status"),
    [(Role.VIEWER, 403), (Role.MEMBER, 403), (Role.ADMIN, 302), (Role.OWNER, 302)],
)
def test_only_an_admin_makes_a_machine(client: Client, role: Role, status: int) -> None:
    workspace = make_workspace()
    person = make_member(workspace, Role.MEMBER)
    Membership.objects.filter(user=person).update(role=role)
    client.force_login(person)
    answer = client.post(f"/w/{workspace.slug}/machines/new/", {"name": "quay"})
    assert answer.status_code == status
    assert workspace.machines.count() == (1 if status == 302 else 0)


def test_another_workspaces_machine_isnt_found_in_ones_own(client: Client) -> None:
    mine, theirs = make_workspace(), make_workspace()
    make_machine(theirs, "secret-box")
    client.force_login(mine.memberships.get().user)
    for path in ("machines/secret-box/", "files/secret-box/"):
        assert client.get(f"/w/{mine.slug}/{path}").status_code == 404


def test_a_form_without_its_token_changes_nothing_and_says_so() -> None:
    strict = Client(enforce_csrf_checks=True)
    workspace = make_workspace()
    strict.force_login(workspace.memberships.get().user)
    answer = strict.post(f"/w/{workspace.slug}/machines/new/", {"name": "quay"})
    assert answer.status_code == 403
    assert "That form was too old." in answer.content.decode()
    assert not workspace.machines.exists()


def test_a_page_and_its_fragment_are_cached_apart(client: Client) -> None:
    workspace = make_workspace()
    client.force_login(workspace.memberships.get().user)
    assert "HX-Request" in client.get(f"/w/{workspace.slug}/machines/")["Vary"]
