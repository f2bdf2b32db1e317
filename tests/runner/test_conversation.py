"""Runs that go on from those before them, from the fire to the row."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from accounts.models import Workspace
from foundation import clock, database_clock
from foundation.crypto import encrypt
from machines import access
from routines_app.configure.conversation import start_anew
from routines_app.configure.delete import delete_routine
from routines_app.fires import FireRequest, request_fires
from routines_app.models import Conversation, ConversationTurn, Fire, ModelKey, Routine, Run
from routines_app.rules.status import RunStatus
from routines_app.runner.run_fire import take_fire
from tests.factories import make_agent, make_machine, make_routine, make_workspace, owner_of
from tests.fakes.model_provider import Answer, Fail, FakeProvider, Held, Move, finish
from tests.fakes.model_wire import Seen
from tests.runner.conftest import fire_once

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def harbour(settings: Any, tmp_path: Any, fake: FakeProvider) -> Iterator[Workspace]:
    """A workspace with a machine in memory and a model at the fake."""
    settings.MACHINE_PROVIDER = "memory"
    settings.MACHINES_ROOT = tmp_path
    access.provider_named.cache_clear()
    workspace = make_workspace()
    make_machine(workspace)
    make_agent(workspace, "Assistant", "model")
    ModelKey.objects.create(
        workspace=workspace,
        provider="openai-compatible",
        base_url=fake.base_url("openai-compatible"),
        model="small",
        own_input=fake.meter.input_rate,
        own_output=fake.meter.output_rate,
        sealed=encrypt(settings.ENCRYPTION_KEY, str(workspace.key), "sk-canary"),
        last_four="nary",
    )
    yield workspace
    access.provider_named.cache_clear()


def continued(workspace: Workspace, **fields: Any) -> Routine:
    return make_routine(workspace, conversation="continued", **fields)


def numbers_of(routine: Routine) -> list[int]:
    kept = ConversationTurn.objects.filter(conversation_id=routine.pk).order_by("number")
    return list(kept.values_list("number", flat=True))


def test_the_second_run_is_told_what_the_first_one_said(
    harbour: Workspace, fake: FakeProvider
) -> None:
    fake.script = [finish("The heron is back."), finish("It stayed."), finish("Fresh.")]
    routine = continued(harbour)
    first, second = fire_once(routine, "one"), fire_once(routine, "two")
    assert [first.status, second.status] == ["done_changed", "done_changed"]
    assert "The heron is back." in fake.seen[1].raw.decode()
    assert numbers_of(routine) == [1, 2]
    assert first.snapshot["talk"]["runs"] == 0
    assert second.snapshot["talk"]["runs"] == 1 and second.snapshot["talk"]["size"] > 0
    kept = ConversationTurn.objects.filter(conversation_id=routine.pk).order_by("number")
    rereads = list(kept.values_list("reread", flat=True))
    assert rereads[0] == 0 < rereads[1] < second.spent

    fire_once(continued(harbour), "other")
    assert "The heron is back." not in fake.seen[2].raw.decode(), "no other routine's"


def test_a_fresh_run_neither_reads_nor_leaves_anything(
    harbour: Workspace, fake: FakeProvider
) -> None:
    fake.script = [finish("The heron is back."), finish("It stayed.")]
    routine = make_routine(harbour)
    fire_once(routine, "one")
    run = fire_once(routine, "two")
    assert "The heron is back." not in fake.seen[1].raw.decode()
    assert not Conversation.objects.exists()
    assert "talk" not in run.snapshot


@pytest.mark.parametrize("move", [Fail(400), Answer(text="I'm sorry, but I can't help with that.")])
def test_a_run_that_failed_leaves_nothing(
    harbour: Workspace, fake: FakeProvider, move: Move
) -> None:
    fake.script = [finish("The heron is back."), move, finish("Well again.")]
    routine = continued(harbour)
    fire_once(routine, "one")
    assert RunStatus(fire_once(routine, "two").status).failed
    assert numbers_of(routine) == [1]
    fire_once(routine, "three")
    assert numbers_of(routine) == [1, 3]


def test_a_run_without_a_turn_leaves_nothing(harbour: Workspace, fake: FakeProvider) -> None:
    ModelKey.objects.all().delete()
    assert fire_once(continued(harbour), "one").status == "skip_no_model"
    assert not Conversation.objects.exists()


def test_started_anew_the_next_run_knows_nothing(harbour: Workspace, fake: FakeProvider) -> None:
    fake.script = [finish("The heron is back."), finish("Who?"), finish("Ah.")]
    routine = continued(harbour)
    fire_once(routine, "one")
    assert start_anew(routine, owner_of(harbour)) == 1
    run = fire_once(routine, "two")
    assert "The heron is back." not in fake.seen[1].raw.decode()
    assert run.snapshot["talk"]["anew_by"] == str(owner_of(harbour))
    assert "anew_by" not in fire_once(routine, "three").snapshot["talk"]
    assert numbers_of(routine) == [2, 3]


@pytest.mark.parametrize("act", [start_anew, delete_routine])
def test_a_run_that_began_before_leaves_nothing_after(
    harbour: Workspace, fake: FakeProvider, act: Any
) -> None:
    routine = continued(harbour)

    def script(seen: Seen) -> Move:
        return Held(lambda: _beside(lambda: act(routine, owner_of(harbour))), finish("Late."))

    fake.script = script
    run = fire_once(routine, "one")
    assert run.status in ("done_changed", "stop_deleted")
    assert numbers_of(routine) == []


def test_a_run_that_is_stopped_leaves_nothing(harbour: Workspace, fake: FakeProvider) -> None:
    routine = continued(harbour)

    def stop() -> None:
        Run.objects.filter(routine=routine).update(stop_asked_at=clock.now())
        fake.closing.wait(3)

    fake.script = lambda seen: Held(lambda: _beside(stop), finish("Late."))
    assert fire_once(routine, "one").status == "stop_person"
    assert numbers_of(routine) == []


def test_what_has_no_room_is_left_out_and_a_step_says_so(
    harbour: Workspace, fake: FakeProvider
) -> None:
    fake.script = lambda seen: finish("Looked.", body="word " * 700)
    routine = continued(harbour, cap=100_000)
    runs = [fire_once(routine, f"{number}") for number in range(9)]
    assert {run.status for run in runs} == {"done_changed"}
    first = next(run for run in runs if run.snapshot["talk"]["left_out"])
    note = first.steps.get(kind="note")
    assert "left the conversation" in note.title
    numbers = numbers_of(routine)
    assert len(numbers) < 9 and numbers[-1] == 9
    assert max(run.snapshot["talk"]["size"] for run in runs) * 3 <= 100_000 / 4
    assert all(run.spent <= 100_000 for run in runs)


def test_a_tiny_cap_starts_without_them_instead_of_doing_nothing(
    harbour: Workspace, fake: FakeProvider
) -> None:
    fake.script = [
        Answer(text="word " * 800, calls=finish("Looked.", body="word " * 180).calls),
        finish("Again."),
    ]
    routine = continued(harbour)
    fire_once(routine, "one")
    Routine.objects.filter(pk=routine.pk).update(cap=52_000)
    run = fire_once(routine, "two")
    assert run.status == "done_changed"
    assert run.steps.get(kind="note").title.endswith("it starts without them")
    assert numbers_of(routine) == [2]


def test_deleting_the_routine_forgets_its_conversation(
    harbour: Workspace, fake: FakeProvider
) -> None:
    routine = continued(harbour)
    fire_once(routine, "one")
    delete_routine(routine, owner_of(harbour))
    assert not Conversation.objects.exists() and not ConversationTurn.objects.exists()


def test_a_lost_claim_leaves_nothing(harbour: Workspace, fake: FakeProvider) -> None:
    routine = continued(harbour)
    now = database_clock.now()
    request_fires([FireRequest(routine.pk, "timer", "one", now, scheduled=True)], now)
    run = Run.objects.get(routine=routine)

    def lose() -> None:
        Fire.objects.filter(pk=run.fire_id).update(claim_token=uuid4())

    fake.script = lambda seen: Held(lambda: _beside(lose), finish("Late."))
    take_fire(run.fire_id)
    run.refresh_from_db()
    assert not RunStatus(run.status).final
    assert numbers_of(routine) == []


def _beside(act: Any) -> None:
    """Do it on the provider's thread, whose database connection is closed again."""
    try:
        act()
    finally:
        connection.close()
