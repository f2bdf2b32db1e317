"""Stop works within two seconds wherever a turn is, and what was made by then is kept."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from django.db import connection

from foundation import database_clock
from machines.models import Machine
from routines_app.agents.model import ModelRuntime
from routines_app.fires import FireRequest, request_fires
from routines_app.models import Agent, Run
from routines_app.runner.run_fire import take_fire
from routines_app.runner.stop import ask_to_stop
from tests.factories import make_routine, owner_of
from tests.fakes.model_provider import Answer, FakeProvider, Hang, Move, call, finish
from tests.fakes.web_pages import WebPage, WebPages

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebPages]:
    """A page that never comes, at an address that may be read."""
    with WebPages({"/slow": WebPage("late", hang=60.0)}) as pages:
        runtime = partial(ModelRuntime, judge=pages.judge)
        monkeypatch.setattr("routines_app.agents.runtimes.ModelRuntime", runtime)
        yield pages


def begin(machine: Machine, **more: object) -> tuple[Run, threading.Thread]:
    """Ask for a run and take it on a thread of its own, as a runner does."""
    routine = make_routine(machine.workspace, machine=machine, **more)
    now = database_clock.now()
    request_fires([FireRequest(routine.pk, "timer", "k", now, scheduled=True)], now)
    run = Run.objects.get(routine=routine)

    def work() -> None:
        try:
            take_fire(run.fire_id)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return run, thread


def wait_until(run: Run, holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        run.refresh_from_db()
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError(f"It never came: {run.status}, {run.doing}")


CHATTY = "while :; do echo tick; sleep 0.01; done"
WHERE = {
    "asking": (Hang(60.0), "note"),
    "an answer comes in": (Answer(text="word " * 900, pace=0.05), "said"),
    "a command": (call("run_command", command="echo begun; sleep 60"), "ran"),
    "a chatty command": (call("run_command", command=CHATTY), "ran"),
    "a page": (call("fetch_url", url="/slow"), "fetched"),
    "its own timer": (call("schedule", seconds=300), "waited"),
}


@pytest.mark.parametrize("where", WHERE)
def test_stop_ends_a_turn_within_two_seconds(
    machine: Machine, assistant: Agent, fake: FakeProvider, web: WebPages, where: str
) -> None:
    move, kind = WHERE[where]
    if kind == "fetched":
        move = call("fetch_url", url=f"{web.root}/slow")
    moves: list[Move] = [call("write_file", path="made.md", text="made"), move, finish()]
    fake.script = moves
    run, thread = begin(machine, agent=assistant)
    wait_until(run, lambda: run.steps.count() > 1 and run.doing.get("kind") == kind)
    time.sleep(0.5)
    asked = time.monotonic()
    ask_to_stop(run, owner_of(machine.workspace))
    wait_until(run, lambda: run.finished_at is not None)
    took = time.monotonic() - asked
    thread.join()
    assert run.status == "stop_person"
    assert took < 2.0
    assert run.doing == {}
    assert run.steps.filter(kind="wrote", title="made.md").exists()
    assert run.folder_changes.get(path="made.md").diff.startswith("@@ -0,0 +1,1 @@\n+made")
    assert fake.meter.billed <= run.spent
    assert "finish" not in [step.kind for step in run.steps.all()]


def test_text_is_on_the_row_while_it_comes_in_and_then_a_step(
    machine: Machine, assistant: Agent, fake: FakeProvider
) -> None:
    text = " ".join(f"heron{number}" for number in range(60))
    fake.script = [Answer(text=text, calls=finish("Sixty.").calls, pace=0.05)]
    run, thread = begin(machine, agent=assistant)
    wait_until(run, lambda: "heron1" in str(run.doing.get("text")))
    assert run.doing["kind"] == "said"
    assert run.finished_at is None
    early = str(run.doing["text"])
    wait_until(run, lambda: len(str(run.doing.get("text", ""))) > len(early) or not run.doing)
    thread.join()
    wait_until(run, lambda: run.finished_at is not None)
    assert (run.status, run.headline, run.doing) == ("done_changed", "Sixty.", {})
    assert run.steps.get(kind="said").content == text


@pytest.mark.parametrize("at", ["script", "check"])
def test_a_script_and_a_check_are_seen_as_they_print_and_stop_within_two_seconds(
    machine: Machine, at: str
) -> None:
    printing = f"printf '\\033[1mbegun\\033[0m\\n'; {CHATTY}"
    more = {"check_command": printing} if at == "check" else {"instructions": printing}
    run, thread = begin(machine, **more)
    wait_until(run, lambda: "tick" in str(run.doing.get("text")))
    assert run.doing["kind"] == ("check" if at == "check" else "ran")
    early = len(str(run.doing["text"])) + run.doing["before"]
    wait_until(run, lambda: len(str(run.doing["text"])) + run.doing["before"] > early)
    assert "\x1b" not in run.doing["text"]
    asked = time.monotonic()
    ask_to_stop(run, owner_of(machine.workspace))
    wait_until(run, lambda: run.finished_at is not None)
    assert time.monotonic() - asked < 2.0
    thread.join()
    assert (run.status, run.doing) == ("stop_person", {})
    step = run.steps.get(kind="check" if at == "check" else "ran")
    assert step.content.startswith("\x1b[1mbegun\x1b[0m\ntick\n")
    assert step.content.count("tick") * 5 > early
