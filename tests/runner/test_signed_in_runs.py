"""Runs that use an app which somebody signed in to with OAuth: from the fire to the row."""

from collections.abc import Iterator
from typing import Any

import pytest

from machines.models import Machine
from routines_app.agents.connectors import OpenApps
from routines_app.agents.mcp_session import MORE, AppTrouble
from routines_app.agents.turn import StepKind
from routines_app.configure.app_tokens import AGAIN
from routines_app.models import Agent, AppSignIn, Connector, Run
from routines_app.runner.apps import note_apps
from routines_app.runner.ask_connector import ask_connector
from tests.factories import make_app
from tests.fakes.mcp_app import McpApp
from tests.fakes.model_provider import Answer, FakeProvider, call, finish
from tests.fakes.model_wire import Seen
from tests.fakes.sign_in_server import CANARY as TOKEN
from tests.fakes.sign_in_server import SignInServer
from tests.fakes.signed_in import sign_in_to
from tests.runner.conftest import fire_once
from tests.runner.test_app_runs import ticket, using

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def server() -> Iterator[SignInServer]:
    with SignInServer() as running:
        yield running


@pytest.fixture
def signed_in(machine: Machine, server: SignInServer) -> Iterator[tuple[Connector, McpApp]]:
    """An app that somebody has signed in to, asked for its tools; and its server."""
    with McpApp(sign_in=server) as served:
        row = make_app(machine.workspace, address=served.address, tools=[], state="new")
        sign_in_to(row, server)
        ask_connector(row.pk)
        row.refresh_from_db()
        assert (row.state, row.trouble, len(row.tools)) == ("connected", "", 3)
        yield row, served


def test_a_token_that_ends_in_the_middle_of_a_run_is_renewed_there(
    machine: Machine,
    assistant: Agent,
    fake: FakeProvider,
    server: SignInServer,
    signed_in: tuple[Connector, McpApp],
    caplog: Any,
) -> None:
    helpdesk, served = signed_in

    def script(seen: Seen) -> Answer:
        if len(seen.results) == 2:
            return finish("The printer is on fire, still.")
        if seen.results:
            server.end_access()  # its hour is over
        served.answer = f"You sent {served.asked[-1]['authorization']}."
        return call("helpdesk__find_ticket", words=f"printer {len(seen.results)}")

    fake.script = script
    run = fire_once(using(machine, assistant, helpdesk), "k")
    assert (run.status, run.headline) == ("done_changed", "The printer is on fire, still.")
    assert served.done == [("find_ticket", "printer 0"), ("find_ticket", "printer 1")]
    sent = list(dict.fromkeys(asked["authorization"] for asked in served.asked))
    assert len(sent) == 2 and server.takes(sent[1]) and not server.takes(sent[0])
    assert [each["grant_type"] for each in server.asked_at("/token")] == ["refresh_token"]
    steps = list(run.steps.values())
    assert [step["content"] for step in steps if step["kind"] == StepKind.CALLED] == [
        "You sent Bearer •••."
    ] * 2
    told = str([seen.body for seen in fake.seen])
    assert TOKEN not in str(steps) + told + caplog.text
    assert TOKEN not in str([Run.objects.values(), list(Connector.objects.values())])


@pytest.mark.parametrize("required", [True, False])
def test_a_sign_in_that_was_taken_back_ends_the_run_before_any_model_request(
    machine: Machine,
    assistant: Agent,
    fake: FakeProvider,
    server: SignInServer,
    signed_in: tuple[Connector, McpApp],
    required: bool,
) -> None:
    helpdesk, served = signed_in
    fake.script = ticket
    server.take_back()
    routine = using(machine, assistant, helpdesk, required=required)
    first = fire_once(routine, "one")
    helpdesk.refresh_from_db()
    assert (helpdesk.state, helpdesk.trouble) == ("refused", AGAIN)
    if not required:
        assert first.status == "done_changed" and AGAIN in fake.seen[-1].results[-1]
        return
    assert (first.status, first.facts["variant"], fake.seen) == ("skip_connector", AGAIN, [])
    asked = len(served.asked)
    second = fire_once(routine, "two")
    assert (second.status, second.facts["variant"]) == ("skip_connector", AGAIN)
    assert (second.waking_at, len(served.asked)) == (None, asked)


def test_an_app_that_asks_for_more_is_asked_about_it_at_the_next_sign_in(
    machine: Machine, assistant: Agent, signed_in: tuple[Connector, McpApp]
) -> None:
    helpdesk, _ = signed_in
    said = 'Bearer error="insufficient_scope", scope="tickets:write"'
    with OpenApps(()) as apps:
        apps.troubles["helpdesk"] = AppTrouble(MORE, refused=True, challenge=said)
        note_apps(apps, machine.workspace_id)
    helpdesk.refresh_from_db()
    assert helpdesk.trouble == MORE
    assert AppSignIn.objects.get().offer["scopes"] == "tickets:read tickets:write"
    ask_connector(helpdesk.pk)
    assert AppSignIn.objects.get().offer["scopes"] == "tickets:read tickets:write"
