"""Somebody leaves a workspace: each of their routines is taken over, or stops visibly."""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog
from django.db import transaction

from accounts.invite import take_back_all_by
from accounts.models import Membership, Role, User
from accounts.roles import may_remove
from foundation import clock
from routines_app.configure.routine import turn_off
from routines_app.models import Routine

log = structlog.get_logger()

STOP = ""  # in place of somebody's email: nobody takes it over, so it is turned off


@dataclass(frozen=True)
class NotRemoved:
    """Nobody was removed; `sentence` says why and what to do."""

    sentence: str


@dataclass(frozen=True)
class Removed:
    """They are out. `stopped` are the routines that were turned off by it."""

    person: User
    stopped: list[Routine]


def routines_of(membership: Membership) -> list[Routine]:
    """What this member owns here, by name."""
    return list(
        Routine.objects.filter(
            workspace_id=membership.workspace_id,
            owner_id=membership.user_id,
            deleted_at__isnull=True,
        ).order_by("name", "pk")
    )


def heirs_in(membership: Membership) -> list[Membership]:
    """Who may take over: everybody else here who may run something, by name."""
    rows = (
        Membership.objects.select_related("user")
        .filter(workspace_id=membership.workspace_id, user__is_active=True)
        .exclude(pk=membership.pk)
        .exclude(role=Role.VIEWER)
    )
    return sorted(rows, key=lambda row: str(row.user).lower())


def remove_person(
    actor: Membership, leaving: Membership, heirs: Mapping[str, str]
) -> Removed | NotRemoved:
    """Remove a member. `heirs` says for each routine's slug the email of who takes it over, or
    STOP: then it is turned off, under the name of whoever removes them, and becomes theirs. The
    invitations that they made and nobody has used are taken back.

    Everything or nothing: a routine without an answer refuses it all.
    """
    with transaction.atomic():
        held = Membership.objects.select_for_update().filter(pk=leaving.pk).first()
        if held is None or held.workspace_id != actor.workspace_id:
            return NotRemoved("They aren’t here any more.")
        reason = may_remove(actor, held)
        if reason:
            return NotRemoved(reason)
        takers = {row.user.email: row.user for row in heirs_in(held)}
        routines = routines_of(held)
        for routine in routines:
            answer = heirs.get(routine.slug)
            if answer is None or (answer != STOP and answer not in takers):
                return NotRemoved(f"Say who takes over {routine.name}, or that it stops.")
        stopped = [_given(each, takers.get(heirs[each.slug]), actor.user) for each in routines]
        person = held.user
        take_back_all_by(held, clock.now())
        held.delete()
    log.info(
        "person_removed",
        workspace=actor.workspace_id,
        person=actor.user_id,
        member=person.pk,
        routines=len(routines),
    )
    return Removed(person, [each for each in stopped if each is not None])


def _given(routine: Routine, taker: User | None, remover: User) -> Routine | None:
    """Give the routine away; itself when it was turned off by that."""
    Routine.objects.filter(pk=routine.pk).update(owner=taker or remover)
    if taker is not None or not routine.enabled:
        return None
    return turn_off(routine, remover)
