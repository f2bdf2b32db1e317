"""A run's steps: what begins is open until it's told; a database's restart is waited out."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection

from foundation import database_clock
from routines_app.agents.turn import NewStep, StepKind, TurnInterrupted, Usage
from routines_app.fires import Claim, FireRequest, claim_fire, request_fires
from routines_app.models import Fire, Run
from routines_app.runner import patience
from routines_app.runner.lease import LeaseKeeper
from routines_app.runner.patience import patiently
from routines_app.runner.steps import StoredSteps
from tests.factories import make_routine, make_workspace


@pytest.fixture
def claim(db: None) -> Claim:
    now = database_clock.now()
    routine = make_routine(make_workspace())
    (fire_id,) = request_fires([FireRequest(routine.pk, "timer", "k", now)], now)
    claim = claim_fire(fire_id, "w", now)
    assert claim
    return claim


def doing(claim: Claim) -> dict[str, object]:
    found: dict[str, object] = Run.objects.get(pk=claim.run_id).doing
    return found


def test_what_begins_is_open_until_its_step_is_told(claim: Claim) -> None:
    steps = StoredSteps(claim, LeaseKeeper(claim))
    steps.begin(StepKind.RAN, "make\x00 deploy" + "!" * 600)
    assert doing(claim)["kind"] == "ran"
    assert str(doing(claim)["title"]).startswith("make\ufffd deploy!")
    assert len(str(doing(claim)["title"])) == 500
    steps.record(NewStep(StepKind.RAN, "make deploy"))
    assert doing(claim) == {}


def test_a_text_that_comes_in_stands_in_place_of_the_open_step(claim: Claim) -> None:
    steps = StoredSteps(claim, LeaseKeeper(claim))
    steps.begin(StepKind.NOTE, "Asking the model")
    steps.streaming("Four herons\nwere\x00 seen.")
    assert doing(claim) == {
        "kind": "said",
        "title": "Four herons",
        "text": "Four herons\nwere\ufffd seen.",
    }
    steps.streaming("a" * 5_000 + "the end")
    text = str(doing(claim)["text"])
    assert len(text) == 2_001
    assert text.startswith("…a") and text.endswith("the end")
    steps.record(NewStep(StepKind.SAID, "Four herons"))
    assert doing(claim) == {}


@pytest.mark.parametrize(
    "write",
    [
        lambda steps: steps.streaming("Four"),
        lambda steps: steps.begin(StepKind.RAN, "make deploy"),
        lambda steps: steps.record(NewStep(StepKind.RAN, "make deploy")),
        lambda steps: steps.spent(5, Usage()),
    ],
)
def test_nothing_begins_or_is_stored_once_the_claim_is_lost(
    claim: Claim, write: Callable[[StoredSteps], None]
) -> None:
    steps = StoredSteps(claim, LeaseKeeper(claim))
    Fire.objects.filter(pk=claim.fire_id).update(claim_token=uuid.uuid4())
    with pytest.raises(TurnInterrupted):
        write(steps)
    run = Run.objects.get(pk=claim.run_id)
    assert (run.doing, run.spent, run.steps.count()) == ({}, 0, 0)


def test_a_step_whose_first_commit_held_is_stored_once(claim: Claim) -> None:
    steps = StoredSteps(claim, LeaseKeeper(claim))
    steps.record(NewStep(StepKind.RAN, "make"))
    steps.count -= 1  # as when the answer to that commit was lost
    steps.record(NewStep(StepKind.RAN, "make"))
    assert Run.objects.get(pk=claim.run_id).steps.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_for_a_moment_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(patience.time, "sleep", pauses.append)
    left = iter([OperationalError("gone"), OperationalError("starting up")])

    def work() -> str:
        if error := next(left, None):
            raise error
        return "done"

    assert patiently(work) == "done"
    assert pauses == [0.5, 0.5]
    connection.ensure_connection()


@pytest.mark.django_db(transaction=True)
def test_it_isnt_waited_for_longer_than_a_lease(settings: Any) -> None:
    settings.LEASE_SECONDS = 0.0

    def work() -> None:
        raise OperationalError("gone")

    with pytest.raises(OperationalError):
        patiently(work)
