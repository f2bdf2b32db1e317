"""Runs whose model says what no database takes: each comes to its row all the same."""

from typing import Any

import pytest

from accounts.models import Workspace
from routines_app.models import Run
from routines_app.rules.status import RunStatus
from tests.factories import make_routine
from tests.fakes.model_provider import Answer, FakeProvider, call
from tests.runner.conftest import connect, fire_once

pytestmark = [pytest.mark.django_db(transaction=True)]

NASTY = "a\0b"
THEIRS = {
    RunStatus.FAIL_TOOL,
    RunStatus.DONE_CHANGED,
    RunStatus.DONE_UNCHANGED,
    RunStatus.FAIL_EMPTY,
}


def ran(harbour: Workspace, fake: FakeProvider, settings: Any, *moves: Answer) -> Run:
    connect(harbour, fake, settings, "openai-compatible")
    fake.script = list(moves)
    routine = make_routine(
        harbour, agent=harbour.agents.get(slug="writer"), conversation="continued"
    )
    return fire_once(routine, "one")


def test_an_ending(harbour: Workspace, fake: FakeProvider, settings: Any) -> None:
    end = call("finish", changed=True, headline=f"Done {NASTY}", body=f"Body {NASTY}", blocked="")
    run = ran(harbour, fake, settings, end)
    assert run.status == RunStatus.DONE_CHANGED and run.body.startswith("Body a")


def test_blocked(harbour: Workspace, fake: FakeProvider, settings: Any) -> None:
    end = call("finish", changed=False, headline="", body=NASTY, blocked=f"No {NASTY}")
    run = ran(harbour, fake, settings, end)
    assert run.finished_at is not None and run.status == RunStatus.FAIL_AGENT


@pytest.mark.parametrize(("tool", "name"), [("fetch_url", "url"), (f"helpdesk__{NASTY}", "x")])
def test_a_call(
    harbour: Workspace, fake: FakeProvider, settings: Any, tool: str, name: str
) -> None:
    value = f"http://{NASTY}/x" if tool == "fetch_url" else NASTY
    calls = [call(tool, **{name: value, "amount": float("nan")}) for _ in range(2)]
    run = ran(harbour, fake, settings, *calls, Answer(text=""))
    assert run.cause != "ours" and run.status in THEIRS, (run.status, run.facts)
