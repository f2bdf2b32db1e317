"""Asking for runs and taking them: once each, whatever happens at the same time."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from foundation import database_clock
from routines_app.fires import (
    FireRequest,
    claim_fire,
    place_in_line,
    renew_lease,
    request_fires,
    requeue_fire,
)
from routines_app.models import Fire, Routine, Run
from tests.factories import make_machine, make_routine, make_workspace

DUE = datetime(2027, 3, 25, 8, 0, tzinfo=UTC)
pytestmark = [pytest.mark.queue]


def ask(routine: Routine, key: str = "k", due: datetime = DUE) -> int:
    request_fires([FireRequest(routine.pk, "timer", key, due)], database_clock.now())
    return Fire.objects.get(routine=routine, dedup_key=key).pk


def together(work: Callable[[], object], times: int) -> list[object]:
    """Call `work` from so many threads at once; what each returned."""
    start, found = threading.Barrier(times), []

    def one() -> None:
        try:
            start.wait()
            found.append(work())
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.django_db
def test_a_fire_and_its_queued_run_are_written_together() -> None:
    routine = make_routine(make_workspace())
    fire = Fire.objects.get(pk=ask(routine))
    assert (fire.run.status, fire.run.number, fire.run.machine) == ("queued", 1, routine.machine)
    assert fire.due_at == DUE


@pytest.mark.django_db
def test_the_same_key_twice_is_one_run() -> None:
    routine = make_routine(make_workspace())
    ask(routine)
    ask(routine)
    routine.refresh_from_db()
    assert (Run.objects.count(), routine.run_counter) == (1, 1)


@pytest.mark.django_db
def test_numbers_count_per_routine_in_the_order_of_being_due() -> None:
    workspace = make_workspace()
    one, two = make_routine(workspace), make_routine(workspace)
    hour = timedelta(hours=1)
    requests = [
        FireRequest(one.pk, "timer", "later", DUE + hour),
        FireRequest(one.pk, "timer", "sooner", DUE),
        FireRequest(two.pk, "timer", "sooner", DUE),
    ]
    request_fires(requests, database_clock.now())
    numbers = {(r.routine_id, r.fire.dedup_key): r.number for r in Run.objects.all()}
    assert numbers == {(one.pk, "sooner"): 1, (one.pk, "later"): 2, (two.pk, "sooner"): 1}


@pytest.mark.django_db
def test_a_deleted_routine_takes_no_more_fires() -> None:
    routine = make_routine(make_workspace(), deleted_at=DUE)
    made = request_fires([FireRequest(routine.pk, "timer", "k", DUE)], database_clock.now())
    assert made == {}


@pytest.mark.django_db(transaction=True)
def test_ten_who_ask_at_once_make_one_run() -> None:
    routine = make_routine(make_workspace())
    together(lambda: ask(routine), 10)
    assert Run.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_ten_who_claim_at_once_are_one_claim() -> None:
    fire_id = ask(make_routine(make_workspace()))
    now = database_clock.now()
    claims = together(lambda: claim_fire(fire_id, "w", now), 10)
    assert len([claim for claim in claims if claim]) == 1


@pytest.mark.django_db(transaction=True)
def test_two_routines_on_one_machine_never_hold_it_at_once() -> None:
    workspace = make_workspace()
    fires = [ask(make_routine(workspace)) for _ in range(4)]
    now, waiting = database_clock.now(), list(fires)
    claims = together(lambda: claim_fire(waiting.pop(), "w", now), 4)
    assert len([claim for claim in claims if claim]) == 1


@pytest.mark.django_db
def test_machines_of_their_own_are_held_at_once() -> None:
    workspace = make_workspace()
    here, there = make_machine(workspace, "harbour-1"), make_machine(workspace, "harbour-2")
    now = database_clock.now()
    assert claim_fire(ask(make_routine(workspace, machine=here)), "w", now)
    assert claim_fire(ask(make_routine(workspace, machine=there)), "w", now)


@pytest.mark.django_db
def test_the_same_routine_isnt_held_back_so_that_admission_can_say_it_overlaps() -> None:
    routine = make_routine(make_workspace())
    now = database_clock.now()
    assert claim_fire(ask(routine, "one"), "w", now)
    assert claim_fire(ask(routine, "two"), "w", now)


@pytest.mark.django_db
def test_a_place_in_line_counts_those_that_wait_before_it() -> None:
    workspace = make_workspace()
    fires = [ask(make_routine(workspace), due=DUE + timedelta(minutes=n)) for n in range(3)]
    claim_fire(fires[0], "w", database_clock.now())
    places = [place_in_line(Run.objects.get(fire_id=fire)) for fire in fires[1:]]
    assert places == [1, 2]


@pytest.mark.django_db
def test_a_requeued_fire_can_be_taken_again_and_its_old_claim_is_worth_nothing() -> None:
    fire_id, now = ask(make_routine(make_workspace())), database_clock.now()
    first = claim_fire(fire_id, "w", now)
    assert first and requeue_fire(first)
    second = claim_fire(fire_id, "w", now)
    assert second and second.token != first.token
    assert not renew_lease(first, now)
    assert not requeue_fire(first)
    assert Run.objects.get(fire_id=fire_id).attempt == 2


@pytest.mark.django_db
def test_a_run_whose_effects_have_begun_is_never_requeued() -> None:
    fire_id, now = ask(make_routine(make_workspace())), database_clock.now()
    claim = claim_fire(fire_id, "w", now)
    assert claim
    Run.objects.filter(pk=claim.run_id).update(status="running", effects_begun_at=now)
    assert not requeue_fire(claim)
