"""Invitations: a link that works once, until it expires or is taken back."""

from datetime import timedelta

import pytest

from accounts.invite import (
    LASTS,
    MOST_OPEN,
    Invited,
    NotInvited,
    NotJoined,
    NotTheirs,
    invitation_of,
    invite,
    join,
    send_again,
    take_back,
)
from accounts.models import Invitation, InvitationState, Membership, Role, Workspace
from accounts.roles import set_role
from tests.factories import NOON, make_member, make_person, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Membership:
    workspace = make_workspace()
    return workspace.memberships.get(user=make_member(workspace, Role.ADMIN))


def made(admin: Membership, email: str = "new@example.org", role: str = "member") -> Invited:
    answer = invite(admin, email, role, NOON)
    assert isinstance(answer, Invited)
    return answer


@pytest.mark.parametrize("role", list(Role))
def test_only_admins_invite(admin: Membership, role: Role) -> None:
    workspace: Workspace = admin.workspace
    if role is Role.OWNER:
        who = workspace.memberships.get(role=Role.OWNER)
    else:
        who = workspace.memberships.get(user=make_member(workspace, role))
    answer = invite(who, "new@example.org", "member", NOON)
    assert isinstance(answer, Invited) is role.at_least(Role.ADMIN)


@pytest.mark.parametrize(
    ("email", "role", "field"),
    [("nobody", "member", "email"), ("a@b.org", "owner", "role"), ("a@b.org", "", "role")],
)
def test_what_can_t_be_invited_is_said(
    admin: Membership, email: str, role: str, field: str
) -> None:
    answer = invite(admin, email, role, NOON)
    assert isinstance(answer, NotInvited) and answer.field == field
    assert not Invitation.objects.exists()


def test_somebody_who_is_here_isn_t_invited(admin: Membership) -> None:
    answer = invite(admin, admin.user.email.upper(), "member", NOON)
    assert isinstance(answer, NotInvited) and answer.field == "email"


def test_the_link_lets_one_person_in_once(admin: Membership) -> None:
    secret = made(admin, " New@Example.org ", "viewer").secret
    first, second = make_person(email="new@example.org"), make_person()
    joined = join(secret, first, NOON + timedelta(days=1))
    assert isinstance(joined, Membership) and joined.role == Role.VIEWER
    assert join(secret, second, NOON + timedelta(days=1)) == NotJoined(InvitationState.USED)
    assert not Membership.objects.filter(user=second).exists()
    used = Invitation.objects.get()
    assert (used.email, used.used_by) == ("new@example.org", first)


def test_the_link_lets_in_its_address_alone(admin: Membership) -> None:
    """Whoever else holds it learns nothing but its mask, and it waits for whom it is for."""
    secret = made(admin).secret
    assert join(secret, make_person(email="now@example.org"), NOON) == NotTheirs("n…@example.org")
    assert Invitation.objects.get().state(NOON) is InvitationState.WAITING
    assert isinstance(join(secret, make_person(email="NEW@Example.org"), NOON), Membership)


def test_the_secret_itself_is_kept_nowhere(admin: Membership) -> None:
    secret = made(admin).secret
    row = Invitation.objects.values().get()
    assert secret not in {str(value) for value in row.values()}


def test_an_expired_link_lets_nobody_in(admin: Membership) -> None:
    secret, person = made(admin).secret, make_person(email="new@example.org")
    assert join(secret, person, NOON + LASTS) == NotJoined(InvitationState.EXPIRED)
    assert isinstance(join(secret, person, NOON + LASTS - timedelta(seconds=1)), Membership)


def test_one_taken_back_lets_nobody_in(admin: Membership) -> None:
    invited = made(admin)
    take_back(admin, invited.invitation.key, NOON)
    answer = join(invited.secret, make_person(email="new@example.org"), NOON)
    assert answer == NotJoined(InvitationState.TAKEN_BACK)
    again = send_again(admin, invited.invitation.key, NOON)
    assert isinstance(again, NotInvited)
    assert isinstance(invite(admin, "new@example.org", "member", NOON), Invited)


def test_sending_again_renews_the_link_and_the_old_one_dies(admin: Membership) -> None:
    first = made(admin)
    later = NOON + LASTS + timedelta(days=1)
    second = send_again(admin, first.invitation.key, later)
    assert isinstance(second, Invited) and second.invitation.pk == first.invitation.pk
    assert invitation_of(first.secret) is None
    assert isinstance(join(second.secret, make_person(email="new@example.org"), later), Membership)


def test_an_invitation_lowers_nobody_and_isn_t_used_up_by_those_who_are_here(
    admin: Membership,
) -> None:
    secret = made(admin, role="viewer").secret
    kept = join(secret, admin.user, NOON)
    assert isinstance(kept, Membership) and kept.role == Role.ADMIN
    assert isinstance(join(secret, make_person(email="new@example.org"), NOON), Membership)


def test_another_workspace_s_admin_has_no_hand_in_it(admin: Membership) -> None:
    elsewhere = make_workspace().memberships.get(role=Role.OWNER)
    invited = made(admin)
    assert isinstance(take_back(elsewhere, invited.invitation.key, NOON), NotInvited)
    assert isinstance(send_again(elsewhere, invited.invitation.key, NOON), NotInvited)
    assert isinstance(join(invited.secret, make_person(email="new@example.org"), NOON), Membership)


def test_so_many_may_wait_and_no_more(admin: Membership) -> None:
    for number in range(MOST_OPEN):
        made(admin, f"p{number}@example.org")
    answer = invite(admin, "one-more@example.org", "member", NOON)
    assert isinstance(answer, NotInvited) and "Take one back first." in answer.sentence
    assert isinstance(invite(admin, "p1@example.org", "viewer", NOON), Invited)


def test_who_may_invite_nobody_any_more_leaves_no_way_in(admin: Membership) -> None:
    owner = admin.workspace.memberships.get(role=Role.OWNER)
    kept = invite(owner, "kept@example.org", "member", NOON)
    mine = made(admin, "a-second-address-of-mine@example.org", "admin").secret
    assert isinstance(set_role(owner, admin, Role.MEMBER), Membership)
    assert join(mine, make_person(email="a-second-address-of-mine@example.org"), NOON) == NotJoined(
        InvitationState.TAKEN_BACK
    )
    answer = invite(admin, "third@example.org", "admin", NOON)  # by a page loaded before
    assert isinstance(answer, NotInvited)
    assert isinstance(kept, Invited)
    assert isinstance(join(kept.secret, make_person(email="kept@example.org"), NOON), Membership)
