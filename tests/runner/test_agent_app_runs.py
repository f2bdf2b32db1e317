"""Runs within what their agent may use of the apps: named, picked, or refused. The models are
behind real HTTP and the app is a real MCP server; the machine is in memory."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from accounts.models import Workspace
from foundation import clock
from foundation.crypto import encrypt
from routines_app.configure.agents import AgentSaved, configure_agent, content_of_agent
from routines_app.configure.content import AppUse, apps_json
from routines_app.models import Agent, Connector, Routine, Run
from routines_app.rules.allowed import Allowed, AllowedApp
from routines_app.runner.ask_connector import ask_connector
from routines_app.web.run_words import sentence_for
from tests.factories import make_app, make_routine, owner_of
from tests.fakes.mcp_app import SECRET, McpApp
from tests.fakes.model_provider import Answer, FakeProvider, Meter, Move, call, finish
from tests.fakes.model_wire import Seen
from tests.runner.conftest import connect, fire_once

pytestmark = [pytest.mark.django_db(transaction=True)]

FIND = AllowedApp("helpdesk", ("find_ticket",))
ALL = ["helpdesk__close_ticket", "helpdesk__find_ticket", "helpdesk__wait"]


@pytest.fixture
def served() -> Iterator[McpApp]:
    with McpApp() as running:
        yield running


@pytest.fixture
def helpdesk(harbour: Workspace, served: McpApp, settings: Any) -> Connector:
    """The app as its row has it, connected and asked for its tools."""
    headers = json.dumps([["Authorization", SECRET]])
    row = make_app(
        harbour,
        address=served.address,
        sealed=encrypt(settings.ENCRYPTION_KEY, str(harbour.key), headers),
        tools=[],
        state="new",
    )
    ask_connector(row.pk)
    row.refresh_from_db()
    return row


@pytest.fixture
def fake(harbour: Workspace, settings: Any) -> Iterator[FakeProvider]:
    """A provider whose answers end the run, but for the question who is needed."""
    with FakeProvider((), Meter(bytes_per_token=2.5)) as running:
        connect(harbour, running, settings, "openai-compatible")
        running.script = answering(Answer(text="Analyst: it is about numbers"))
        yield running


def answering(pick: Move, *calls: Answer) -> Any:
    """Answers the question who is needed with `pick`, then makes the calls, then ends."""

    def script(seen: Seen) -> Move:
        if not seen.tools:
            return pick
        made = len(seen.results)
        return calls[made] if made < len(calls) else finish("Swept.")

    return script


def allow(workspace: Workspace, slug: str, allowed: Allowed) -> Agent:
    agent = workspace.agents.get(slug=slug)
    edited = replace(content_of_agent(agent), apps=allowed)
    slugs = list(Routine.objects.values_list("slug", flat=True))
    saved = configure_agent(agent, owner_of(workspace), agent.version, edited, stopping=slugs)
    assert isinstance(saved, AgentSaved)
    return saved.agent


def sweep(workspace: Workspace, slug: str | None, *tools: str, required: bool = True) -> Routine:
    """A routine that uses the app, or these tools of it; `slug` its agent's, None when it names
    nobody."""
    agent = workspace.agents.get(slug=slug) if slug else None
    uses = apps_json([AppUse("helpdesk", required, tools or None)])
    return make_routine(workspace, agent=agent, apps=uses)


def again(routine: Routine, key: str) -> Run:
    return fire_once(Routine.objects.get(pk=routine.pk), key)


def of_apps(seen: Seen) -> list[str]:
    """The apps' tools that one request offered."""
    return [name for name in seen.tools if "__" in name]


def test_a_run_is_offered_what_both_its_routine_and_its_agent_allow(
    harbour: Workspace, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    fake.script = answering(
        Answer(text=""),
        call("helpdesk__find_ticket", words="printer"),
        call("helpdesk__close_ticket", number=7),
    )
    routine = sweep(harbour, "writer")
    before = again(routine, "before")
    offered = [of_apps(seen) for seen in fake.seen]
    assert offered == [ALL] * len(offered)
    assert served.done == [("find_ticket", "printer"), ("close_ticket", "7")]
    assert before.snapshot["offered"] == [{"name": "Helpdesk", "tools": 3, "of": 3, "there": True}]
    fake.seen.clear()
    served.done.clear()
    allow(harbour, "writer", (FIND,))
    run = again(routine, "after")
    assert (run.status, run.snapshot["agent_version"]) == ("done_changed", 2)
    assert [of_apps(seen) for seen in fake.seen] == [["helpdesk__find_ticket"]] * 3
    assert served.done == [("find_ticket", "printer")]  # what wasn't offered isn't called either
    assert run.snapshot["offered"] == [{"name": "Helpdesk", "tools": 1, "of": 3, "there": True}]
    assert run.agent == harbour.agents.get(slug="writer")


def test_exactly_the_chosen_tools_are_offered_and_another_is_refused(
    harbour: Workspace, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    fake.script = answering(
        Answer(text=""),
        call("helpdesk__close_ticket", number=7),
        call("helpdesk__find_ticket", words="printer"),
    )
    routine = sweep(harbour, "writer", "find_ticket", "wait", "old")
    run = again(routine, "chosen")
    assert run.status == "done_changed"
    offered = ["helpdesk__find_ticket", "helpdesk__wait"]
    assert [of_apps(seen) for seen in fake.seen] == [offered] * 3
    assert served.done == [("find_ticket", "printer")]
    assert "There is no tool called helpdesk__close_ticket." in fake.seen[-1].results[0]
    kept = {"name": "Helpdesk", "tools": 2, "of": 3, "there": True, "gone": ["old"]}
    assert run.snapshot["offered"] == [kept]
    assert run.snapshot["apps"] == routine.apps
    fake.seen.clear()
    fake.script = answering(Answer(text="Analyst: it is about numbers"))
    open_one = again(sweep(harbour, None, "wait", required=False), "picked")
    assert open_one.snapshot["agent"] == "Analyst"
    assert [of_apps(seen) for seen in fake.seen] == [[], ["helpdesk__wait"]]
    assert open_one.snapshot["offered"] == [
        {"name": "Helpdesk", "tools": 1, "of": 3, "there": True}
    ]


def test_a_required_app_without_any_chosen_tool_ends_the_run_before_anything(
    harbour: Workspace, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    asked = len(served.asked)
    run = again(sweep(harbour, "writer", "old", "older"), "gone")
    assert (run.status, run.waking_at, run.spent, fake.seen) == ("skip_connector", None, 0, [])
    sentence = sentence_for(run, zone="UTC", now=clock.now())
    said = "Helpdesk no longer has old or older, and nothing else of it was chosen."
    assert sentence.text == f"Didn’t run. {said}"
    assert sentence.act is not None and sentence.act.code == "edit_apps"
    allow(harbour, "writer", (FIND,))
    barred = again(sweep(harbour, "writer", "wait"), "barred")
    assert (barred.status, fake.seen, len(served.asked)) == ("skip_connector", [], asked)
    sentence = sentence_for(barred, zone="UTC", now=clock.now())
    assert sentence.text == "Didn’t run. Writer may not use wait of Helpdesk."
    assert (
        again(sweep(harbour, "writer", "old", required=False), "without").status == "done_changed"
    )
    assert [of_apps(seen) for seen in fake.seen] == [[]]


def test_a_required_app_that_its_agent_lost_ends_the_run_before_anything(
    harbour: Workspace, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    routine = sweep(harbour, "writer")
    allow(harbour, "writer", ())
    asked = len(served.asked)
    run = again(routine, "k")
    assert (run.status, run.waking_at, run.spent, fake.seen) == ("skip_connector", None, 0, [])
    assert len(served.asked) == asked
    sentence = sentence_for(run, zone="UTC", now=clock.now())
    assert sentence.text == "Didn’t run. Writer may not use Helpdesk."
    assert sentence.act is not None and sentence.act.words == "Allow Helpdesk"
    assert run.facts["barred_slug"] == "writer"
    allow(harbour, "writer", (FIND,))
    assert again(routine, "allowed").status == "done_changed"


def test_one_that_is_not_required_is_just_not_offered(
    harbour: Workspace, fake: FakeProvider, helpdesk: Connector, served: McpApp
) -> None:
    routine = sweep(harbour, "writer", required=False)
    allow(harbour, "writer", ())
    asked = len(served.asked)
    run = again(routine, "k")
    assert run.status == "done_changed"
    assert [of_apps(seen) for seen in fake.seen] == [[]]
    assert run.snapshot["offered"] == [{"name": "Helpdesk", "tools": 0, "of": 3, "there": True}]
    assert len(served.asked) == asked


@pytest.mark.parametrize(
    ("allowed", "offered"), [(None, ALL), ((FIND,), ["helpdesk__find_ticket"])]
)
def test_whom_assistant_picks_is_offered_the_routines_apps_within_its_own_limits(
    harbour: Workspace,
    fake: FakeProvider,
    helpdesk: Connector,
    served: McpApp,
    allowed: Allowed,
    offered: list[str],
) -> None:
    if allowed is not None:
        allow(harbour, "analyst", allowed)
    allow(harbour, "writer", ())
    fake.script = answering(
        Answer(text="Analyst: it is about numbers"), call("helpdesk__find_ticket", words="printer")
    )
    run = again(sweep(harbour, None), "k")
    assert (run.status, run.snapshot["agent"]) == ("done_changed", "Analyst")
    asked, *worked = fake.seen
    assert asked.tools == () and "- Analyst" in asked.text and "- Assistant" in asked.text
    assert "- Writer" not in asked.text  # it may not use what is required
    assert [of_apps(seen) for seen in worked] == [offered] * 2
    assert served.done == [("find_ticket", "printer")]
    assert run.snapshot["offered"][0]["tools"] == len(offered)
    assert run.agent == harbour.agents.get(slug="analyst")


def test_an_agent_picked_for_what_is_not_required_works_without_it(
    harbour: Workspace, fake: FakeProvider, helpdesk: Connector
) -> None:
    allow(harbour, "analyst", ())
    run = again(sweep(harbour, None, required=False), "k")
    assert (run.status, run.snapshot["agent"]) == ("done_changed", "Analyst")
    assert [of_apps(seen) for seen in fake.seen] == [[], []]


def only(workspace: Workspace, *slugs: str) -> None:
    """Only these agents may use the app."""
    for slug in workspace.agents.filter(runtime="model").values_list("slug", flat=True):
        if slug not in slugs:
            allow(workspace, slug, ())


def test_where_one_alone_may_use_what_is_required_it_is_picked_without_a_request(
    harbour: Workspace, fake: FakeProvider, helpdesk: Connector
) -> None:
    only(harbour, "researcher")
    routine = sweep(harbour, None)
    run = again(routine, "k")
    assert (run.status, run.requests, run.agent.slug) == ("done_changed", 1, "researcher")  # type: ignore[union-attr]
    assert [of_apps(seen) for seen in fake.seen] == [ALL]
    title = "Assistant picked Researcher: only it may use Helpdesk"
    assert run.steps.filter(title=title).count() == 1
    assert run.snapshot["picked_because"] == "only it may use Helpdesk"
    fake.seen.clear()
    only(harbour)
    refused = again(routine, "nobody")
    assert (refused.status, refused.spent, fake.seen) == ("skip_connector", 0, [])
    sentence = sentence_for(refused, zone="UTC", now=clock.now())
    assert sentence.text == "Didn’t run. No agent may use Helpdesk."
