"""What was due before a change has its row after it, whoever made the change and whenever."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foundation import database_clock
from routines_app.fires.accounting import accounted
from routines_app.models import OnSpan, Routine, Run
from routines_app.producers import timer
from tests.invariants.world import Plan, World, a_world, cron, once

pytestmark = [pytest.mark.django_db, pytest.mark.queue]

BEGIN = datetime(2027, 6, 1, 7, 58, tzinfo=UTC)
HOURLY = cron("0 * * * *")
HOUR = timedelta(hours=1)


@pytest.fixture
def world(db: None, tmp_path: Path) -> Iterator[World]:
    with a_world(tmp_path, BEGIN) as made:
        yield made


def rows(routine: Routine) -> list[tuple[int, str, str]]:
    """Each run's due hour, its source and its status, in the order of being due."""
    runs = Run.objects.filter(routine=routine).select_related("fire").order_by("fire__due_at")
    return [(run.fire.due_at.hour, run.fire.source, run.status) for run in runs]


MISSED = [(8, "timer", "skip_missed"), (9, "timer", "skip_missed")]


def test_an_edit_withdraws_the_newest_and_tells_of_the_older(world: World) -> None:
    routine = world.create(HOURLY)
    world.clock.set(BEGIN.replace(hour=10, minute=5))
    world.edit(routine, cron("30 6 * * *"))
    world.take_all()
    assert rows(routine) == [*MISSED, (10, "timer", "skip_changed")]
    assert world.audit().violations == ()


def test_switching_off_leaves_a_row_for_all_that_was_due(world: World) -> None:
    routine = world.create(HOURLY)
    world.clock.set(BEGIN.replace(hour=10, minute=5))
    world.switch(routine, False)
    world.take_all()
    assert rows(routine) == [*MISSED, (10, "timer", "skip_off")]


def test_deleting_leaves_a_row_for_all_that_was_due(world: World) -> None:
    routine = world.create(HOURLY)
    world.clock.set(BEGIN.replace(hour=10, minute=5))
    world.delete(routine)
    assert rows(routine) == [*MISSED, (10, "timer", "skip_off")]
    assert world.audit().violations == ()


def test_run_it_now_takes_the_newest_that_is_due_and_tells_of_the_older(world: World) -> None:
    routine = world.create(HOURLY)
    world.clock.set(BEGIN.replace(hour=10, minute=5))
    world.ask(routine, "click")
    assert timer.scan().fired == 0
    assert rows(routine) == [*MISSED, (10, "manual", "queued")]


def test_the_failure_that_turns_it_off_leaves_a_row_for_all_that_was_due(world: World) -> None:
    routine = world.create(HOURLY)
    Routine.objects.filter(pk=routine.pk).update(streak=4)
    run = world.ask(routine, "click")
    world.clock.set(BEGIN.replace(hour=10, minute=5))
    world.take(run.fire_id, Plan(code="fail_script"))
    routine.refresh_from_db()
    assert (routine.enabled, routine.off_reason, routine.run_counter) == (False, "failures", 4)
    world.take_all()
    assert rows(routine)[1:] == [*MISSED, (10, "timer", "skip_auto_off")]


def test_a_missed_once_turns_its_routine_off_and_its_row_says_so(world: World) -> None:
    routine = world.create(once(BEGIN + HOUR))
    world.clock.move(30 * HOUR)
    world.tick()
    routine.refresh_from_db()
    assert (routine.enabled, routine.off_reason, routine.next_fire_at) == (False, "once", None)
    run = Run.objects.get(routine=routine)
    assert (run.status, run.facts["was_once"]) == ("skip_missed", True)


def test_a_once_that_a_person_starts_when_it_is_due_is_over(world: World) -> None:
    routine = world.create(once(BEGIN + HOUR))
    world.clock.move(HOUR + timedelta(minutes=2))
    run = world.ask(routine, "click")
    world.take(run.fire_id)
    routine.refresh_from_db()
    assert (routine.enabled, routine.off_reason) == (False, "once")


def test_a_once_that_is_moved_while_it_waits_still_comes(world: World) -> None:
    routine = world.create(once(BEGIN + HOUR))
    world.clock.move(HOUR + timedelta(minutes=2))
    timer.scan()
    world.edit(routine, once(BEGIN + 5 * HOUR))
    world.take_all()
    world.clock.move(4 * HOUR)
    timer.scan()
    world.take_all()
    statuses = [status for _, _, status in rows(routine)]
    assert statuses == ["skip_changed", "done_changed"]


def test_a_deleted_routine_starts_nothing_that_a_person_had_asked_for(world: World) -> None:
    routine = world.create(HOURLY)
    run = world.ask(routine, "click")
    world.delete(routine)
    world.take_all()
    run.refresh_from_db()
    assert (run.status, run.effects_begun_at) == ("skip_off", None)


def test_what_was_on_is_kept_as_spans_and_time_off_owes_nothing(world: World) -> None:
    routine = world.create(HOURLY)
    for hours in range(1, 4):
        world.clock.set(BEGIN.replace(hour=7 + hours, minute=1))
        world.tick()
    world.switch(routine, False)
    world.clock.move(10 * HOUR)
    world.switch(routine, True)
    world.clock.move(HOUR)
    world.tick()
    world.edit(routine, cron("30 * * * *"))
    world.clock.move(HOUR)
    world.tick()
    spans = OnSpan.objects.filter(routine=routine).order_by("started_at")
    assert [span.ended_at is None for span in spans] == [False, False, True]
    assert accounted(routine, None, database_clock.now()) == (5, 5)
    assert accounted(routine, BEGIN + HOUR, database_clock.now()) == (4, 4)
