"""Which notices still need someone, and who has read what.

A notice stops needing someone when its routine has got further since: a run that completed
settles every earlier one, and a check that found nothing settles those in which no turn began.
Of one routine only the newest notice needs someone, so the bell counts things, not messages.
"""

from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import User, Workspace
from routines_app.models import Notice, Run
from routines_app.models.notice import QUIET
from routines_app.rules.quiet import heard
from routines_app.rules.status import RunStatus

COMPLETED = tuple(status for status in RunStatus if status.completed)


def settle(run: Run) -> None:
    """A run has just ended: let earlier notices of its routine rest, where that settles them."""
    earlier = Notice.objects.filter(
        routine_id=run.routine_id, needs_someone=True, run__number__lt=run.number
    )
    if heard(run.state):
        quiet_notices().filter(routine_id=run.routine_id).update(needs_someone=False)
    if run.state.completed:
        earlier.update(needs_someone=False)
    elif run.state is RunStatus.NOTHING_TO_DO:
        earlier.filter(run__turn_at__isnull=True).update(needs_someone=False)


def quiet_notices() -> QuerySet[Notice]:
    """Those of routines that are too quiet now."""
    return Notice.objects.filter(key__startswith=QUIET, needs_someone=True)


def supersede(run: Run) -> None:
    """A run's notice needs someone: those of its routine's earlier runs leave the word to it."""
    Notice.objects.filter(
        routine_id=run.routine_id, needs_someone=True, run__number__lt=run.number
    ).update(needs_someone=False)


def settled_since(run: Run) -> bool:
    """Whether what came after it says all: its own ring was delivered late."""
    later = Run.objects.filter(routine_id=run.routine_id, number__gt=run.number)
    well = Q(status__in=COMPLETED)
    if run.turn_at is None:
        well |= Q(status=RunStatus.NOTHING_TO_DO)
    return later.filter(well | Q(notice__needs_someone=True)).exists()


def rings_of(workspace: Workspace) -> QuerySet[Notice]:
    """The workspace's notices, without those of routines that are deleted."""
    return Notice.objects.filter(workspace=workspace, routine__deleted_at__isnull=True)


def unread(notices: QuerySet[Notice], person: User) -> QuerySet[Notice]:
    """Those that this person hasn't read."""
    return notices.exclude(pk__in=_read(person))


def still_needs(person: User) -> Q:
    """Of a notice: that it needs someone and that this person hasn't read it."""
    return Q(needs_someone=True) & ~Q(pk__in=_read(person))


def _read(person: User) -> QuerySet[Any, Any]:
    return Notice.read_by.through.objects.filter(user=person).values("notice_id")


def how_many_need_someone(workspace: Workspace, person: User) -> int:
    """What the bell's number says: rings that need someone and that this person hasn't read."""
    return rings_of(workspace).filter(still_needs(person)).count()


def mark_read(notices: QuerySet[Notice], person: User) -> list[int]:
    """Note that this person has read them; the ids of those that were unread."""
    found = list(unread(notices, person).values_list("pk", flat=True))
    through = Notice.read_by.through
    through.objects.bulk_create(
        [through(notice_id=pk, user_id=person.pk) for pk in found], ignore_conflicts=True
    )
    return found


def mark_unread(notices: QuerySet[Notice], person: User, ids: list[int]) -> int:
    """Take back that this person has read those of `notices` with these ids; how many those are."""
    mine = Notice.read_by.through.objects.filter(user=person)
    known = notices.filter(pk__in=ids).values("pk")
    return mine.filter(notice_id__in=known).delete()[0]
