"""Who may give whom which role and remove whom: every pair of roles."""

import itertools

import pytest

from accounts.models import Membership, Role, Workspace
from accounts.roles import RoleRefused, hand_over, may_remove, may_set_role, set_role
from tests.factories import make_member, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace() -> Workspace:
    return make_workspace()


def membership(workspace: Workspace, role: Role) -> Membership:
    """The owner, or one more person of this role."""
    if role is Role.OWNER:
        return workspace.memberships.get(role=Role.OWNER)
    return workspace.memberships.get(user=make_member(workspace, role))


def test_roles_are_set_by_admins_among_those_below_the_owner(workspace: Workspace) -> None:
    actors = {role: membership(workspace, role) for role in Role}
    targets = {role: membership(workspace, role) for role in Role if role is not Role.OWNER}
    targets[Role.OWNER] = actors[Role.OWNER]
    for actor, target, new in itertools.product(Role, Role, Role):
        by, whom = actors[actor], targets[target]
        allowed = actor.at_least(Role.ADMIN) and Role.OWNER not in {target, new}
        assert (may_set_role(by, whom, new) == "") is allowed, (actor, target, new)
        answer = set_role(by, whom, new)
        whom.refresh_from_db()
        assert isinstance(answer, Membership) is allowed, (actor, target, new)
        assert whom.role == (new if allowed else target), (actor, target, new)
        Membership.objects.filter(pk=whom.pk).update(role=target)
        whom.refresh_from_db()


def test_people_are_removed_by_admins_but_never_the_owner(workspace: Workspace) -> None:
    actors = {role: membership(workspace, role) for role in Role}
    targets = {role: membership(workspace, role) for role in Role if role is not Role.OWNER}
    targets[Role.OWNER] = actors[Role.OWNER]
    for actor, target in itertools.product(Role, Role):
        allowed = actor.at_least(Role.ADMIN) and target is not Role.OWNER
        assert (may_remove(actors[actor], targets[target]) == "") is allowed, (actor, target)


def test_nobody_changes_or_removes_themselves(workspace: Workspace) -> None:
    admin = membership(workspace, Role.ADMIN)
    assert isinstance(set_role(admin, admin, Role.MEMBER), RoleRefused)
    assert may_remove(admin, admin) == "Nobody removes themselves. Ask another admin."
    admin.refresh_from_db()
    assert admin.role == Role.ADMIN


def test_a_role_that_was_taken_meanwhile_counts(workspace: Workspace) -> None:
    admin, member = membership(workspace, Role.ADMIN), membership(workspace, Role.MEMBER)
    Membership.objects.filter(pk=admin.pk).update(role=Role.VIEWER)
    assert isinstance(set_role(admin, member, Role.ADMIN), RoleRefused)


def test_somebody_elsewhere_has_no_role_here(workspace: Workspace) -> None:
    stranger = membership(make_workspace(), Role.MEMBER)
    owner = membership(workspace, Role.OWNER)
    assert set_role(owner, stranger, Role.VIEWER) == RoleRefused("They aren’t here any more.")


def test_the_owner_hands_over_to_an_admin_and_becomes_one(workspace: Workspace) -> None:
    owner, admin = membership(workspace, Role.OWNER), membership(workspace, Role.ADMIN)
    member = membership(workspace, Role.MEMBER)
    assert isinstance(hand_over(admin, member), RoleRefused)
    assert isinstance(hand_over(owner, member), RoleRefused)
    assert isinstance(hand_over(owner, admin), Membership)
    roles = set(workspace.memberships.values_list("user_id", "role"))
    assert roles == {
        (owner.user_id, "admin"),
        (admin.user_id, "owner"),
        (member.user_id, "member"),
    }
