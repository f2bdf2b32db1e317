"""How a person comes to have a workspace."""

import pytest

from accounts.access import membership_of, who_can_help, workspaces_of
from accounts.join import TRIES, found_workspace
from accounts.models import Role, User, Workspace
from foundation import clock
from tests.factories import make_member, make_person, make_workspace

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("name", "email", "called", "slug"),
    [
        ("Ada Byron", "m@example.org", "Ada’s workspace", "ada"),
        ("Jonas", "j@example.org", "Jonas’ workspace", "jonas"),
        ("Élodie Martin", "e@example.org", "Élodie’s workspace", "elodie"),
        ("", "ada.b@example.org", "ada.b’s workspace", "adab"),
        ("蓮", "r@example.org", "蓮’s workspace", "workspace"),
    ],
)
def test_a_workspace_is_named_after_its_person(
    name: str, email: str, called: str, slug: str
) -> None:
    person = make_person(name, email=email)
    workspace = found_workspace(person, "Europe/London")
    assert (workspace.name, workspace.slug, workspace.zone) == (called, slug, "Europe/London")
    membership = membership_of(person, slug)
    assert membership is not None
    assert membership.role == Role.OWNER


def test_a_second_person_of_the_same_name_gets_the_next_address() -> None:
    slugs = [found_workspace(make_person("Ada"), "UTC").slug for _ in range(3)]
    assert slugs == ["ada", "ada-2", "ada-3"]


def test_addresses_of_a_common_name_never_run_out() -> None:
    slugs = {found_workspace(make_person("Ada"), "UTC").slug for _ in range(TRIES + 3)}
    assert len(slugs) == TRIES + 3
    assert all(slug.startswith("ada") for slug in slugs)


def test_a_deleted_workspace_keeps_its_address_and_lets_nobody_in() -> None:
    person = make_person("Ada")
    old = found_workspace(person, "UTC")
    Workspace.objects.filter(pk=old.pk).update(deleted_at=clock.now())
    assert membership_of(person, old.slug) is None
    assert workspaces_of(person) == []
    assert found_workspace(person, "UTC").slug == "ada-2"


def test_a_stranger_is_no_member() -> None:
    assert membership_of(make_person(), make_workspace().slug) is None
    assert membership_of(make_person(), "there-is-none") is None


def test_owners_are_named_before_admins_as_those_who_can_help() -> None:
    workspace = make_workspace(make_person("Owner"))
    make_member(workspace, Role.VIEWER, name="Vera")
    make_member(workspace, Role.ADMIN, name="Admin")
    gone = make_member(workspace, Role.ADMIN, name="Gone")
    User.objects.filter(pk=gone.pk).update(is_active=False)
    assert [str(person) for person in who_can_help(workspace)] == ["Owner", "Admin"]
