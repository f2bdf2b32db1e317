"""The schedule and a person ask in the same way."""

from datetime import timedelta

import pytest

from foundation import database_clock
from routines_app.models import Fire, Routine, Run
from routines_app.producers import timer
from routines_app.producers.manual import run_it_now
from routines_app.rules.occurrence import occurrence_key
from tests.factories import make_routine, make_workspace, owner_of

pytestmark = [pytest.mark.django_db, pytest.mark.queue]


def due_routine(**fields: object) -> Routine:
    due = database_clock.now().replace(microsecond=0) - timedelta(seconds=5)
    return make_routine(make_workspace(), next_fire_at=due, **fields)


def test_what_is_due_is_asked_for_once_and_moved_on() -> None:
    routine = due_routine()
    due = routine.next_fire_at
    assert due
    assert timer.scan().fired == 1
    assert timer.scan().fired == 0
    fire = Fire.objects.get()
    assert (fire.source, fire.dedup_key, fire.due_at) == ("timer", occurrence_key(due), due)
    assert (fire.schedule_version, fire.requested_by) == (1, None)
    routine.refresh_from_db()
    assert routine.next_fire_at and routine.next_fire_at > database_clock.now()
    assert routine.evaluated_until and routine.evaluated_until >= due


def test_what_isnt_due_off_or_deleted_stays() -> None:
    make_routine(make_workspace(), next_fire_at=database_clock.now() + timedelta(hours=1))
    due_routine(enabled=False)
    due_routine(deleted_at=database_clock.now())
    assert timer.scan().fired == 0


def test_a_scan_takes_more_than_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timer, "BATCH", 3)
    for _ in range(7):
        due_routine()
    assert timer.scan().fired == 7
    assert Run.objects.count() == 7


def test_the_watermark_never_goes_back() -> None:
    ahead = database_clock.now() + timedelta(days=2)
    routine = due_routine(evaluated_until=ahead)
    timer.scan()
    routine.refresh_from_db()
    assert routine.evaluated_until == ahead
    assert routine.next_fire_at and routine.next_fire_at > ahead


def test_run_it_now_twice_with_one_key_is_one_run() -> None:
    routine = make_routine(make_workspace())
    person = owner_of(routine.workspace)
    first = run_it_now(routine, person, "click")
    assert run_it_now(routine, person, "click") == first
    assert first.fire.requested_by == person
    assert run_it_now(routine, person, "again") != first


def test_run_it_now_consumes_an_occurrence_that_is_due() -> None:
    routine = due_routine()
    due = routine.next_fire_at
    assert due
    run = run_it_now(routine, owner_of(routine.workspace), "click")
    assert (run.fire.source, run.fire.dedup_key) == ("manual", occurrence_key(due))
    assert timer.scan().fired == 0
    assert Run.objects.count() == 1


def test_a_double_click_on_a_due_occurrence_is_still_one_run() -> None:
    routine = due_routine()
    person = owner_of(routine.workspace)
    assert run_it_now(routine, person, "click") == run_it_now(routine, person, "click")
    assert Run.objects.count() == 1
