"""Who may give whom which role, and who may remove whom. The owner changes by handing over."""

from dataclasses import dataclass

import structlog
from django.db import transaction

from accounts.invite import take_back_all_by
from accounts.models import Membership, Role
from foundation import clock

log = structlog.get_logger()


@dataclass(frozen=True)
class RoleRefused:
    """Nothing was changed; `sentence` says why and what to do."""

    sentence: str


def may_set_role(actor: Membership, target: Membership, role: str) -> str:
    """Why `actor` may not give `target` this role; "" when they may."""
    if not actor.may(Role.ADMIN):
        return "Only an admin may change a role. Ask one."
    if target.role == Role.OWNER or role == Role.OWNER:
        return "The owner changes only by handing the workspace over, in Settings."
    if role not in set(Role):
        return "Choose viewer, member or admin."
    if actor.user_id == target.user_id:
        return "Nobody changes their own role. Ask another admin."
    return ""


def may_remove(actor: Membership, target: Membership) -> str:
    """Why `actor` may not remove `target`; "" when they may."""
    if not actor.may(Role.ADMIN):
        return "Only an admin may remove somebody. Ask one."
    if target.role == Role.OWNER:
        return "The owner can’t be removed. The workspace is handed over first, in Settings."
    if actor.user_id == target.user_id:
        return "Nobody removes themselves. Ask another admin."
    return ""


def set_role(actor: Membership, target: Membership, role: str) -> Membership | RoleRefused:
    """Give a member of the same workspace another role, at once. Who may invite nobody any more
    has their open invitations taken back."""
    with transaction.atomic():
        held = _both(actor, target)
        if held is None:
            return RoleRefused("They aren’t here any more.")
        actor, target = held
        reason = may_set_role(actor, target, role)
        if reason:
            return RoleRefused(reason)
        before, target.role = target.role, role
        target.save(update_fields=["role"])
        if not target.may(Role.ADMIN):
            take_back_all_by(target, clock.now())
    log.info(
        "role_set",
        workspace=target.workspace_id,
        person=actor.user_id,
        member=target.user_id,
        before=before,
        after=role,
    )
    return target


def hand_over(actor: Membership, target: Membership) -> Membership | RoleRefused:
    """Make an admin the owner; whoever was it becomes an admin."""
    with transaction.atomic():
        held = _both(actor, target)
        if held is None:
            return RoleRefused("They aren’t here any more.")
        actor, target = held
        if actor.role != Role.OWNER:
            return RoleRefused("Only the owner may hand the workspace over.")
        if target.role != Role.ADMIN:
            return RoleRefused("Only an admin can become the owner. Make them an admin first.")
        actor.role, target.role = Role.ADMIN, Role.OWNER
        actor.save(update_fields=["role"])
        target.save(update_fields=["role"])
    log.info(
        "handed_over",
        workspace=target.workspace_id,
        person=actor.user_id,
        member=target.user_id,
    )
    return target


def _both(actor: Membership, target: Membership) -> tuple[Membership, Membership] | None:
    """The two rows as they are now, locked in one order; None when one of them is gone."""
    rows = {
        row.pk: row
        for row in Membership.objects.select_for_update()
        .filter(pk__in=[actor.pk, target.pk], workspace_id=actor.workspace_id)
        .order_by("pk")
    }
    if actor.pk not in rows or target.pk not in rows:
        return None
    return rows[actor.pk], rows[target.pk]
