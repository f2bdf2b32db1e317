"""Inviting somebody into a workspace, and coming in by the link."""

import hashlib
import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from accounts.models import Invitation, InvitationState, Membership, Role, User

LASTS = timedelta(days=7)
MOST_OPEN = 50  # invitations that a workspace may have waiting
INVITED_AS = (Role.MEMBER, Role.VIEWER, Role.ADMIN)


@dataclass(frozen=True)
class Invited:
    """The invitation, with the secret of its link. The secret is known only now."""

    invitation: Invitation
    secret: str


@dataclass(frozen=True)
class NotInvited:
    """Nothing was changed. `field` is email or role, "" for neither; `sentence` says what to do."""

    field: str
    sentence: str


@dataclass(frozen=True)
class NotJoined:
    """The link lets nobody in; `state` says why."""

    state: InvitationState


@dataclass(frozen=True)
class NotTheirs:
    """The link is somebody else's; `whose` is their address, masked."""

    whose: str


def masked(email: str) -> str:
    """An address that its owner knows again, and nobody else learns.

    >>> masked("ada@example.org")
    'a…@example.org'
    """
    name, _, domain = email.rpartition("@")
    return f"{name[:1]}…@{domain}"


def is_for(invitation: Invitation, email: str) -> bool:
    """Whether it was made for this address, however it is written."""
    return invitation.email.strip().casefold() == email.strip().casefold()


def invite(membership: Membership, email: str, role: str, now: datetime) -> Invited | NotInvited:
    """Invite an address as a viewer, member or admin. Asking again renews the link: the one before
    stops working."""
    if not membership.may(Role.ADMIN):
        return NotInvited("", "Only an admin may invite somebody. Ask one.")
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError:
        return NotInvited("email", "Write their email, such as ada@example.org.")
    if role not in INVITED_AS:
        return NotInvited(
            "role", "Choose member, viewer or admin. An owner is made by handing over."
        )
    workspace = membership.workspace
    if workspace.memberships.filter(user__email=address).exists():
        return NotInvited("email", "They are here already. Their role is in the table above.")
    with transaction.atomic():
        # Locked, so that whoever loses the right meanwhile leaves no link behind.
        held = Membership.objects.select_for_update().filter(pk=membership.pk).first()
        if held is None or not held.may(Role.ADMIN):
            return NotInvited("", "Only an admin may invite somebody. Ask one.")
        open_ones = Invitation.objects.select_for_update().filter(
            workspace=workspace, used_at__isnull=True, taken_back_at__isnull=True
        )
        found = open_ones.filter(email=address).first()
        if found is None and open_ones.count() >= MOST_OPEN:
            said = f"{MOST_OPEN} invitations are waiting. Take one back first."
            return NotInvited("", said)
        return _renewed(
            found or Invitation(workspace=workspace, email=address), membership, role, now
        )


def send_again(membership: Membership, key: uuid.UUID, now: datetime) -> Invited | NotInvited:
    """Renew an invitation that waits or has expired; the link before stops working."""
    found = Invitation.objects.filter(workspace=membership.workspace, key=key).first()
    if found is None or found.state(now) in {InvitationState.USED, InvitationState.TAKEN_BACK}:
        return NotInvited("", "That invitation is over. Make a new one.")
    return invite(membership, found.email, found.role, now)


def _renewed(invitation: Invitation, membership: Membership, role: str, now: datetime) -> Invited:
    secret = secrets.token_urlsafe(32)
    invitation.role, invitation.digest = role, _digest(secret)
    invitation.invited_by, invitation.made_at = membership.user, now
    invitation.expires_at = now + LASTS
    invitation.save()
    return Invited(invitation, secret)


def take_back(membership: Membership, key: uuid.UUID, now: datetime) -> Invitation | NotInvited:
    """Let the link work no more. Twice is once."""
    if not membership.may(Role.ADMIN):
        return NotInvited("", "Only an admin may take an invitation back. Ask one.")
    open_ones = Invitation.objects.filter(
        workspace=membership.workspace, key=key, used_at__isnull=True
    )
    open_ones.filter(taken_back_at__isnull=True).update(taken_back_at=now)
    return open_ones.first() or NotInvited("", "That invitation has been used already.")


def take_back_all_by(inviter: Membership, now: datetime) -> int:
    """Let every link of theirs work no more, once they may invite nobody: the links that they have
    would let them in again as what they chose. How many there were.

    Call it in the transaction that changes or removes their membership.
    """
    return Invitation.objects.filter(
        workspace_id=inviter.workspace_id,
        invited_by_id=inviter.user_id,
        used_at__isnull=True,
        taken_back_at__isnull=True,
    ).update(taken_back_at=now)


def invitation_of(secret: str) -> Invitation | None:
    """The invitation whose link holds this secret, with its workspace and maker; None without."""
    return (
        Invitation.objects.select_related("workspace", "invited_by")
        .filter(digest=_digest(secret), workspace__deleted_at__isnull=True)
        .first()
    )


def join(secret: str, user: User, now: datetime) -> Membership | NotJoined | NotTheirs:
    """Come in by the link, which is used up by it; it lets in the invited address alone, whoever
    holds it. Somebody who is here already keeps their role, and the link. A secret that no
    invitation has is as one taken back."""
    with transaction.atomic():
        found = (
            Invitation.objects.select_for_update(of=("self",))
            .select_related("workspace")
            .filter(digest=_digest(secret), workspace__deleted_at__isnull=True)
            .first()
        )
        if found is None:
            return NotJoined(InvitationState.TAKEN_BACK)
        here = Membership.objects.filter(workspace=found.workspace, user=user).first()
        if here is not None:
            return here
        state = found.state(now)
        if state is not InvitationState.WAITING:
            return NotJoined(state)
        if not is_for(found, user.email):
            return NotTheirs(masked(found.email))
        found.used_at, found.used_by = now, user
        found.save(update_fields=["used_at", "used_by"])
        return Membership.objects.create(
            workspace=found.workspace, user=user, role=found.role, joined_at=now
        )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
