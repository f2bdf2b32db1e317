"""Runs that use apps: from the fire to the row, with a real MCP server and a real machine."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from foundation import clock
from foundation.crypto import encrypt
from machines.models import Machine
from routines_app.agents.turn import StepKind
from routines_app.configure.connectors import set_changes, sign_in_again
from routines_app.fires import FireRequest, request_fires
from routines_app.models import Agent, Connector, Routine, Run
from routines_app.runner import ask_connector as ask_connector_module
from routines_app.runner.ask_connector import ask_connector
from routines_app.runner.run_fire import take_fire
from tests.factories import make_agent, make_app, make_routine, owner_of
from tests.fakes.mcp_app import SECRET, McpApp
from tests.fakes.model_provider import Answer, FakeProvider, call, finish
from tests.fakes.model_wire import Seen
from tests.runner.conftest import fire_once

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def served() -> Iterator[McpApp]:
    with McpApp() as running:
        yield running


@pytest.fixture
def helpdesk(machine: Machine, served: McpApp, settings: Any) -> Connector:
    """The app as its row has it, connected and asked for its tools."""
    workspace = machine.workspace
    headers = json.dumps([["Authorization", SECRET]])
    row = make_app(
        workspace,
        address=served.address,
        sealed=encrypt(settings.ENCRYPTION_KEY, str(workspace.key), headers),
        tools=[],
        state="new",
    )
    ask_connector(row.pk)
    row.refresh_from_db()
    assert (row.state, row.trouble) == ("connected", "")
    return row


def using(machine: Machine, agent: Agent, app: Connector, *, required: bool = True) -> Routine:
    uses = [{"app": app.slug, "required": required}]
    return make_routine(machine.workspace, machine=machine, agent=agent, apps=uses)


def ticket(seen: Seen) -> Answer:
    if not seen.results:
        return call("helpdesk__find_ticket", words="printer")
    return finish("The printer is on fire.")


def test_a_run_calls_an_app_and_its_row_says_when(
    machine: Machine, assistant: Agent, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    fake.script = ticket
    run = fire_once(using(machine, assistant, helpdesk), "k")
    assert (run.status, run.headline) == ("done_changed", "The printer is on fire.")
    step = run.steps.get(kind=StepKind.CALLED)
    assert step.content == served.answer
    assert served.done == [("find_ticket", "printer")]
    assert run.snapshot["apps"] == [{"app": "helpdesk", "required": True}]
    helpdesk.refresh_from_db()
    assert helpdesk.called_at is not None
    assert SECRET not in str(run.snapshot) + str(list(Connector.objects.values()))


def test_only_the_chosen_apps_are_offered(
    machine: Machine, assistant: Agent, fake: FakeProvider, helpdesk: Connector
) -> None:
    make_app(machine.workspace, "Billing")
    fake.script = lambda seen: finish("Looked.")
    fire_once(using(machine, assistant, helpdesk), "k")
    fire_once(make_routine(machine.workspace, machine=machine, agent=assistant), "k")
    names = [[tool["function"]["name"] for tool in seen.body["tools"]] for seen in fake.seen]
    assert "helpdesk__find_ticket" in names[0]
    assert not any(name.startswith("billing") for name in names[0])
    assert not any("__" in name for name in names[1])


def test_a_required_app_that_is_gone_ends_the_run_before_any_model_request(
    machine: Machine, assistant: Agent, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    fake.script = ticket
    routine = using(machine, assistant, helpdesk)
    served.stop()
    run = fire_once(routine, "k")
    assert (run.status, run.spent, run.effects_begun_at, fake.seen) == (
        "skip_connector",
        0,
        None,
        [],
    )
    assert run.facts["reason"] == "Helpdesk"
    assert run.facts["variant"] == "No connection to it could be made."
    helpdesk.refresh_from_db()
    assert helpdesk.state == "silent"


def test_a_refused_sign_in_ends_the_run_and_the_next_one_is_not_even_started(
    machine: Machine, assistant: Agent, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    fake.script = ticket
    Connector.objects.update(sealed=b"")
    routine = using(machine, assistant, helpdesk)
    first = fire_once(routine, "one")
    assert (first.status, fake.seen) == ("skip_connector", [])
    assert first.facts["variant"] == "It refused the sign-in."
    asked = len(served.asked)
    second = fire_once(routine, "two")
    assert (second.status, second.waking_at) == ("skip_connector", None)
    assert len(served.asked) == asked


def test_a_required_app_that_turns_us_away_in_the_middle_ends_the_run_and_what_was_made_is_kept(
    machine: Machine, assistant: Agent, fake: FakeProvider, helpdesk: Connector, served: McpApp,
    client: Client,
) -> None:  # fmt: skip
    def script(seen: Seen) -> Answer:
        match len(seen.results):
            case 0:
                return call("helpdesk__find_ticket", words="printer")
            case 1:
                served.takes = "Bearer another"
                return call("write_file", path="ticket.md", text="on fire")
            case _:
                return call("helpdesk__close_ticket", number=7)

    fake.script = script
    routine = using(machine, assistant, helpdesk)
    run = fire_once(routine, "one")
    assert (run.status, run.cause, len(fake.seen)) == ("fail_tool", "theirs", 3)
    assert run.facts["files_changed"] == 1
    assert fake.meter.billed <= run.spent
    helpdesk.refresh_from_db()
    assert helpdesk.state == "refused"
    client.force_login(owner_of(machine.workspace))
    address = f"/w/{machine.workspace.slug}/routines/{routine.slug}/runs/{run.number}/"
    page = client.get(address).content.decode()
    assert "Helpdesk refused: it doesn’t take our sign-in any more." in page
    assert "What it had made was kept." in page and ">Connect it</a>" in page
    assert fire_once(routine, "two").status == "skip_connector"


def test_one_that_is_not_required_stops_nothing(
    machine: Machine, assistant: Agent, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    fake.script = ticket
    served.stop()
    run = fire_once(using(machine, assistant, helpdesk, required=False), "k")
    assert run.status == "done_changed"
    assert "No connection to it could be made." in fake.seen[-1].results[-1]


def test_a_script_calls_no_apps_and_misses_none(machine: Machine, helpdesk: Connector) -> None:
    Connector.objects.update(state="refused")
    script = make_agent(machine.workspace, "Script")
    assert fire_once(using(machine, script, helpdesk), "k").status == "done_changed"


def test_stop_ends_a_slow_call_of_an_app_within_two_seconds(
    machine: Machine, assistant: Agent, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    fake.script = lambda seen: call("helpdesk__wait")
    routine = using(machine, assistant, helpdesk)
    now = clock.now()
    request_fires([FireRequest(routine.pk, "timer", "k", now, scheduled=True)], now)
    run = Run.objects.get(routine=routine)

    def take() -> None:
        take_fire(run.fire_id)
        connection.close()

    thread = threading.Thread(target=take)
    thread.start()
    until = time.monotonic() + 30
    while not served.done and time.monotonic() < until:
        time.sleep(0.05)
    Run.objects.filter(pk=run.pk).update(
        stop_asked_at=clock.now(), stop_asked_by=owner_of(machine.workspace)
    )
    pressed = time.monotonic()
    thread.join(timeout=20)
    assert time.monotonic() - pressed < 2.5  # the lease looks once in half a second
    run.refresh_from_db()
    assert run.status == "stop_person"


def test_asking_again_keeps_what_a_person_said_of_a_tool(
    helpdesk: Connector, served: McpApp
) -> None:
    set_changes(helpdesk, {"find_ticket": True, "wait": False})
    ask_connector(helpdesk.pk)
    helpdesk.refresh_from_db()
    changes = {tool["name"]: tool["changes"] for tool in helpdesk.tools}
    assert changes == {"close_ticket": True, "find_ticket": True, "wait": False}
    served.stop()
    ask_connector(helpdesk.pk)
    helpdesk.refresh_from_db()
    assert (helpdesk.state, len(helpdesk.tools)) == ("silent", 3)


def test_what_answered_an_older_sign_in_is_not_kept(
    helpdesk: Connector, served: McpApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_connector(helpdesk.pk)
    asking = ask_connector_module._tools_of

    def signed_in_anew(row: Connector) -> Any:
        found = asking(row)
        assert not sign_in_again(helpdesk, f"Authorization: {SECRET}")
        return found

    served.takes = "Bearer another"
    monkeypatch.setattr(ask_connector_module, "_tools_of", signed_in_anew)
    ask_connector(helpdesk.pk)
    helpdesk.refresh_from_db()
    assert (helpdesk.state, helpdesk.trouble) == ("new", "")
    monkeypatch.undo()
    ask_connector(helpdesk.pk)
    helpdesk.refresh_from_db()
    assert helpdesk.state == "refused"
