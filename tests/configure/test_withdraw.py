"""What waits ends when its schedule is changed, or its routine deleted."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from accounts.models import User, Workspace
from billing.holds import take_hold
from billing.models import Account, Hold
from foundation import database_clock
from routines_app.configure.delete import delete_routine
from routines_app.configure.routine import (
    Configured,
    Refused,
    RoutineContent,
    configure_routine,
    content_of,
    create_routine,
)
from routines_app.fires import FireRequest, claim_fire, request_fires
from routines_app.fires.withdraw import withdraw_fires
from routines_app.models import Fire, Notice, OnSpan, Routine, RoutineTotals, Run
from routines_app.producers.manual import run_it_now
from routines_app.rules.schedule import Schedule, ScheduleKind
from routines_app.rules.status import RunStatus
from routines_app.runner import lease
from routines_app.runner.lease import LeaseKeeper, Why
from tests.factories import make_agent, make_machine, make_run, make_workspace, owner_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace() -> Workspace:
    return make_workspace()


@pytest.fixture
def person(workspace: Workspace) -> User:
    return owner_of(workspace)


@pytest.fixture
def routine(workspace: Workspace, person: User) -> Routine:
    content = RoutineContent(
        name="Morning brief",
        instructions="echo done",
        agent_id=make_agent(workspace).pk,
        machine_id=make_machine(workspace).pk,
        schedule=Schedule(ScheduleKind.DAILY, {"times": ["8:00"]}, "UTC"),
    )
    made = create_routine(workspace, person, content, turn_on=True)
    assert isinstance(made, Routine)
    return made


def due(routine: Routine, key: str) -> Run:
    """A run that the schedule has just asked for, and nobody took yet."""
    now = database_clock.now()
    made = request_fires([FireRequest(routine.pk, "timer", key, now, scheduled=True)], now)
    return Run.objects.get(pk=next(iter(made.values())))


def at_nine(routine: Routine) -> RoutineContent:
    return replace(
        content_of(routine), schedule=Schedule(ScheduleKind.DAILY, {"times": ["9:00"]}, "UTC")
    )


def test_a_changed_schedule_ends_what_it_asked_for_at_once(routine: Routine, person: User) -> None:
    waiting, asked = due(routine, "k"), run_it_now(routine, person, "mine")
    assert isinstance(configure_routine(routine, person, 1, at_nine(routine)), Configured)
    waiting.refresh_from_db()
    asked.refresh_from_db()
    assert waiting.status == RunStatus.SKIP_CHANGED
    assert waiting.fire.closed_at is not None and waiting.finished_at is not None
    assert asked.status == RunStatus.QUEUED
    assert RoutineTotals.objects.get(routine=routine).refusals == 1
    assert not Notice.objects.exists()


def test_another_change_leaves_the_schedules_fires_in_line(routine: Routine, person: User) -> None:
    waiting = due(routine, "k")
    renamed = replace(content_of(routine), name="Evening brief")
    assert isinstance(configure_routine(routine, person, 1, renamed), Configured)
    waiting.refresh_from_db()
    assert waiting.status == RunStatus.QUEUED


def test_a_refused_edit_withdraws_nothing(routine: Routine, person: User) -> None:
    waiting = due(routine, "k")
    answer = configure_routine(routine, person, 1, replace(at_nine(routine), name=""))
    assert isinstance(answer, Refused)
    waiting.refresh_from_db()
    assert waiting.status == RunStatus.QUEUED


def test_a_claimed_fire_is_its_runners_to_end(routine: Routine, person: User) -> None:
    taken = due(routine, "k")
    assert claim_fire(taken.fire_id, "w", database_clock.now())
    assert withdraw_fires(routine, RunStatus.SKIP_CHANGED, {}) == 0
    taken.refresh_from_db()
    assert (taken.status, taken.fire.closed_at) == (RunStatus.QUEUED, None)


def test_withdrawing_twice_counts_once_and_frees_what_was_held(
    routine: Routine, workspace: Workspace
) -> None:
    Account.objects.create(workspace=workspace)
    waiting = due(routine, "k")
    take_hold(workspace.pk, waiting.key, 500_000, database_clock.now())
    assert withdraw_fires(routine, RunStatus.SKIP_CHANGED, {}) == 1
    assert withdraw_fires(routine, RunStatus.SKIP_CHANGED, {}) == 0
    assert RoutineTotals.objects.get(routine=routine).refusals == 1
    assert not Hold.objects.filter(freed_at__isnull=True).exists()


def test_only_a_refusal_can_be_written_so(routine: Routine) -> None:
    with pytest.raises(AssertionError, match="says that it ran"):
        withdraw_fires(routine, RunStatus.DONE_CHANGED, {})


def test_a_deleted_routine_ends_what_waits_and_keeps_what_was(
    routine: Routine, person: User
) -> None:
    done = make_run(routine, RunStatus.DONE_CHANGED, spent=90_000)
    waiting, asked = due(routine, "k"), run_it_now(routine, person, "mine")
    gone = delete_routine(routine, person)
    assert gone.deleted_at is not None
    assert (gone.enabled, gone.next_fire_at) == (False, None)
    for run in (waiting, asked):
        run.refresh_from_db()
        assert (run.status, run.facts["person"]) == (RunStatus.SKIP_OFF, str(person))
    done.refresh_from_db()
    assert (done.status, done.spent) == (RunStatus.DONE_CHANGED, 90_000)
    assert delete_routine(routine, make_workspace().memberships.get().user).off_by == person


def test_what_was_owed_when_it_was_deleted_has_its_row(routine: Routine, person: User) -> None:
    owed = database_clock.now() - timedelta(seconds=20)
    Routine.objects.filter(pk=routine.pk).update(
        next_fire_at=owed, evaluated_until=owed - timedelta(hours=1)
    )
    gone = delete_routine(routine, person)
    run = Run.objects.select_related("fire").get(routine=routine)
    assert (run.fire.due_at, run.status) == (owed, RunStatus.SKIP_OFF)
    assert gone.next_fire_at is None
    assert not OnSpan.objects.filter(routine=routine, ended_at__isnull=True).exists()
    assert OnSpan.objects.filter(routine=routine).exists()


def test_a_deleted_routine_is_asked_for_no_more(routine: Routine, person: User) -> None:
    delete_routine(routine, person)
    now = database_clock.now()
    assert request_fires([FireRequest(routine.pk, "timer", "k", now, scheduled=True)], now) == {}
    assert not Fire.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_runner_notices_that_its_routine_was_deleted(
    routine: Routine, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "LOOK_SECONDS", 0.02)
    taken = due(routine, "k")
    claim = claim_fire(taken.fire_id, uuid4().hex, database_clock.now())
    assert claim is not None
    delete_routine(routine, person)
    with LeaseKeeper(claim) as keeper:
        keeper._thread.join(timeout=0.5)
    assert keeper.why is Why.DELETED
