"""What a dead runner or a lost doorbell leaves is found and brought on."""

import uuid
from datetime import timedelta

import pytest

from billing.models import Hold
from foundation import database_clock
from routines_app.fires import FireRequest, claim_fire, request_fires, sweep
from routines_app.fires.claim import Claim
from routines_app.models import Delivery, Fire, Routine, Run
from routines_app.rules.status import RunStatus
from routines_app.runner import rescue
from routines_app.runner.ending import Ending
from routines_app.runner.record import finish
from routines_app.runner.rescue import rescue_dead_runs
from tests.factories import make_routine, make_workspace

pytestmark = [pytest.mark.django_db, pytest.mark.queue]


def claimed(routine: Routine | None = None, *, late: bool = True) -> Claim:
    now = database_clock.now()
    routine = routine or make_routine(make_workspace())
    made = request_fires([FireRequest(routine.pk, "timer", str(uuid.uuid4()), now)], now)
    claim = claim_fire(next(iter(made)), "w", now)
    assert claim
    if late:
        Fire.objects.filter(pk=claim.fire_id).update(lease_until=now - timedelta(seconds=1))
    return claim


def run_of(claim: Claim) -> Run:
    return Run.objects.get(pk=claim.run_id)


def test_a_living_claim_is_left_alone() -> None:
    claim = claimed(late=False)
    assert rescue_dead_runs() == 0
    assert Fire.objects.get(pk=claim.fire_id).claim_token == claim.token


def test_work_that_hadnt_begun_goes_back_to_the_queue() -> None:
    claim = claimed()
    Run.objects.filter(pk=claim.run_id).update(status="waking", waking_at=database_clock.now())
    Hold.objects.create(
        workspace_id=run_of(claim).workspace_id, run_key=run_of(claim).key, amount=5
    )
    assert rescue_dead_runs() == 1
    fire = Fire.objects.get(pk=claim.fire_id)
    assert (fire.claim_token, fire.attempts, run_of(claim).status) == (None, 1, "queued")
    assert Hold.objects.get().freed_at is None, "the hold is the run's, not the attempt's"


def test_after_three_tries_it_fails_and_says_it_is_ours() -> None:
    claim = claimed()
    Fire.objects.filter(pk=claim.fire_id).update(attempts=3)
    rescue_dead_runs()
    run = run_of(claim)
    assert (run.status, run.cause) == ("fail_platform", "ours")
    run.routine.refresh_from_db()
    assert run.routine.streak == 0


def test_work_that_had_begun_is_interrupted_and_never_repeated() -> None:
    claim = claimed()
    now = database_clock.now()
    Run.objects.filter(pk=claim.run_id).update(
        status="running",
        effects_begun_at=now,
        turn_at=now,
        spent=70_000,
        doing={"kind": "ran", "title": "make deploy"},
    )
    rescue_dead_runs()
    run = run_of(claim)
    assert (run.status, run.spent) == ("fail_restart", 70_000)
    assert Fire.objects.get(pk=claim.fire_id).closed_at
    step = run.steps.get()
    assert (step.title, step.facts) == ("make deploy", {"outcome": "unknown"})
    assert Delivery.objects.filter(run=run, channel="bell").exists()
    assert rescue_dead_runs() == 0


def test_a_stale_runner_can_write_nothing_once_it_was_rescued() -> None:
    claim = claimed()
    now = database_clock.now()
    Run.objects.filter(pk=claim.run_id).update(status="running", effects_begun_at=now)
    rescue_dead_runs()
    assert not finish(claim, Ending(RunStatus.DONE_CHANGED, headline="Too late"))
    assert run_of(claim).status == "fail_restart"


def test_a_start_rescues_whatever_the_lease_says() -> None:
    claim = claimed(late=False)
    assert rescue_dead_runs(all_claims=True) == 1
    assert run_of(claim).status == "queued"


def test_the_sweep_rings_for_what_waits_but_not_behind_a_busy_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rung: list[int] = []
    monkeypatch.setattr(sweep, "ring_for_fires", lambda ids: rung.extend(ids))
    busy = make_routine(make_workspace())
    claimed(busy, late=False)
    now = database_clock.now()
    other = make_routine(busy.workspace)
    free = make_routine(make_workspace())
    behind = request_fires([FireRequest(other.pk, "timer", "k", now)], now)
    waits = request_fires([FireRequest(free.pk, "timer", "k", now)], now)
    fresh = sweep.sweep()
    Fire.objects.update(requested_at=now - timedelta(seconds=6))
    sweep.sweep()
    assert fresh == 0
    assert rung == list(waits)
    assert not set(behind) & set(rung)


def test_one_that_cant_be_brought_on_keeps_none_of_the_others_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = claimed(), claimed()
    Run.objects.update(status="running", effects_begun_at=database_clock.now())

    def breaks_once(claim: Claim, ending: Ending) -> bool:
        if claim.fire_id == first.fire_id:
            raise ValueError("its schedule can't be read")
        return finish(claim, ending)

    monkeypatch.setattr(rescue, "finish", breaks_once)
    assert rescue_dead_runs() == 1
    assert (run_of(first).status, run_of(second).status) == ("running", "fail_restart")
    monkeypatch.undo()
    assert rescue_dead_runs() == 1
    assert run_of(first).status == "fail_restart"


def test_a_gap_in_its_steps_keeps_no_run_from_its_end() -> None:
    claim = claimed()
    Run.objects.update(
        status="running",
        effects_begun_at=database_clock.now(),
        doing={"kind": "ran", "title": "make deploy"},
    )
    for number in (1, 3):
        run_of(claim).steps.create(number=number, kind="note", title="x")
    assert rescue_dead_runs() == 1
    assert run_of(claim).steps.order_by("-number")[0].number == 4
