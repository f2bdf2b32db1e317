"""Apps in a turn: a real MCP server on loopback, called by a model over real HTTP."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from routines_app.agents import connectors, mcp_session
from routines_app.agents.connectors import App, OpenApps, name_of
from routines_app.agents.mcp_session import SIGN_IN, AppAnswer, AppServer, AppTrouble, ListedTool
from routines_app.agents.model import ModelRuntime
from routines_app.agents.offered import TOOLS
from routines_app.agents.tools import TOLD
from routines_app.agents.turn import StepKind, TurnInterrupted, TurnOutcome
from routines_app.rules.said import RunFacts
from routines_app.rules.sentences import sentence_of
from tests.agents.support import PROVIDERS, KeptSteps, choice_of, request
from tests.agents.test_hostile import ATTACKS, CANARY, assert_data_alone
from tests.fakes.computer import FolderComputer
from tests.fakes.mcp_app import SECRET, McpApp
from tests.fakes.model_provider import Answer, FakeProvider, Script, call, finish
from tests.fakes.model_wire import Seen


def nothing() -> None:
    """No reason to stop."""


@pytest.fixture(scope="module", params=["newer", "older"])
def running(request: pytest.FixtureRequest) -> Iterator[McpApp]:
    with McpApp(older=request.param == "older") as app:
        yield app


@pytest.fixture
def helpdesk(running: McpApp) -> McpApp:
    """The app, as new."""
    running.asked.clear()
    running.methods.clear()
    running.done.clear()
    running.answer = "Ticket 7: the printer is on fire."
    running.takes = SECRET
    return running


def app_at(
    address: str,
    tools: tuple[ListedTool, ...] = (),
    *,
    secret: str = SECRET,
    nearby: bool = True,
    required: bool = True,
) -> App:
    headers = (("Authorization", secret),) if secret else ()
    return App("helpdesk", "Helpdesk", tools, AppServer(address, headers, nearby), required)


def listed(app: McpApp) -> tuple[ListedTool, ...]:
    with OpenApps((app_at(app.address),)) as apps:
        found = apps.list_tools(app_at(app.address), nothing)
    assert isinstance(found, tuple)
    return found


def take(
    tmp_path: Path, fake: FakeProvider, steps: KeptSteps, apps: OpenApps, **more: Any
) -> TurnOutcome:
    wanted = request(model=choice_of(fake, "anthropic"), apps=apps, **more)
    return ModelRuntime().take_turn(wanted, FolderComputer(tmp_path), steps)


def ticket(seen: Seen) -> Answer:
    if not seen.results:
        return call("helpdesk__find_ticket", words="printer")
    return finish("Found it.")


def test_its_tools_are_listed_with_what_they_change_and_its_headers_are_sent(
    helpdesk: McpApp,
) -> None:
    tools = listed(helpdesk)
    assert [(tool.name, tool.changes) for tool in tools] == [
        ("close_ticket", True),
        ("find_ticket", False),
        ("wait", False),
    ]
    assert tools[1].description == "Find a ticket by its words."
    assert tools[1].schema["required"] == ["words"]
    assert {each["authorization"] for each in helpdesk.asked} == {SECRET}


def test_a_model_calls_an_apps_tool_and_the_call_is_a_step(
    helpdesk: McpApp, tmp_path: Path
) -> None:
    tools = listed(helpdesk)

    def script(seen: Seen) -> Answer:
        if not seen.results:
            return call("helpdesk__find_ticket", words="printer")
        if len(seen.results) == 1:
            return call("helpdesk__close_ticket", number=7)
        return finish("Ticket 7 is closed.")

    steps = KeptSteps()
    with FakeProvider(script) as fake, OpenApps((app_at(helpdesk.address, tools),)) as apps:
        assert apps.open_required(nothing) is None
        outcome = take(tmp_path, fake, steps, apps)
    assert outcome.code == "done_changed"
    assert helpdesk.done == [("find_ticket", "printer"), ("close_ticket", "7")]
    assert steps.kinds == [StepKind.CALLED, StepKind.CALLED, StepKind.FINISHED]
    assert steps.steps[0].title == 'helpdesk__find_ticket {"words": "printer"}'
    assert steps.steps[0].content == "Ticket 7: the printer is on fire."
    assert apps.called == {"helpdesk"}
    offered = [tool["name"] for tool in fake.seen[0].body["tools"]]
    assert offered == [
        *(tool.name for tool in TOOLS),
        "helpdesk__close_ticket",
        "helpdesk__find_ticket",
        "helpdesk__wait",
    ]
    assert fake.seen[0].body["tools"] == fake.seen[2].body["tools"]


def test_only_a_tool_that_changes_things_counts_as_an_effect(
    helpdesk: McpApp, tmp_path: Path
) -> None:
    tools = listed(helpdesk)
    codes = []
    for name, arguments in (("find_ticket", {"words": "a"}), ("close_ticket", {"number": 1})):

        def script(seen: Seen, name: str = name, arguments: dict[str, Any] = arguments) -> Answer:
            if not seen.results:
                return call(f"helpdesk__{name}", **arguments)
            return call("finish", changed=True, headline="", body="")

        with FakeProvider(script) as fake, OpenApps((app_at(helpdesk.address, tools),)) as apps:
            codes.append(take(tmp_path, fake, KeptSteps(), apps).code)
    assert codes == ["fail_empty", "done_changed"]


def test_what_an_app_refuses_is_told_to_the_model_as_data(helpdesk: McpApp, tmp_path: Path) -> None:
    tools = listed(helpdesk)

    def script(seen: Seen) -> Answer:
        if not seen.results:
            return call("helpdesk__close_ticket", number=-1)
        return finish("It could not be closed.")

    steps = KeptSteps()
    with FakeProvider(script) as fake, OpenApps((app_at(helpdesk.address, tools),)) as apps:
        take(tmp_path, fake, steps, apps)
    told = fake.seen[-1].results[-1]
    assert "The app says that this call failed:\n<data" in told
    assert "There is no such ticket." in told
    assert steps.steps[0].facts["refused"] is True


def test_a_hostile_answer_is_data_and_bounded(helpdesk: McpApp, tmp_path: Path) -> None:
    tools = listed(helpdesk)
    helpdesk.answer = "\n".join(ATTACKS) + "\n" + "x" * 200_000

    def script(seen: Seen) -> Answer:
        return finish("Read it.") if seen.results else call("helpdesk__find_ticket", words="a")

    steps = KeptSteps()
    with FakeProvider(script) as fake, OpenApps((app_at(helpdesk.address, tools),)) as apps:
        take(tmp_path, fake, steps, apps)
    assert assert_data_alone(fake.seen[-1]) > 0
    assert len(fake.seen[-1].results[-1]) < TOLD + 500
    assert len(steps.steps[0].content) < 25_000
    assert CANARY in steps.steps[0].content


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_is_offered_the_tools_of_apps(
    helpdesk: McpApp, tmp_path: Path, provider: str
) -> None:
    with (
        FakeProvider(ticket) as fake,
        OpenApps((app_at(helpdesk.address, listed(helpdesk)),)) as apps,
    ):
        wanted = request(model=choice_of(fake, provider), apps=apps)
        outcome = ModelRuntime().take_turn(wanted, FolderComputer(tmp_path), KeptSteps())
    assert (outcome.code, fake.problems) == ("done_changed", [])
    assert helpdesk.done == [("find_ticket", "printer")]
    assert helpdesk.answer in fake.seen[-1].results[-1]


def test_a_sign_in_that_is_sent_back_is_not_passed_on(helpdesk: McpApp, tmp_path: Path) -> None:
    helpdesk.answer = f"You sent {SECRET}, that is {SECRET.removeprefix('Bearer ')}."
    steps = KeptSteps()
    with (
        FakeProvider(ticket) as fake,
        OpenApps((app_at(helpdesk.address, listed(helpdesk)),)) as apps,
    ):
        take(tmp_path, fake, steps, apps)
    assert steps.steps[0].content == "You sent •••, that is •••."
    assert "canary" not in str([seen.body for seen in fake.seen])


def test_an_answer_of_too_many_bytes_is_not_read_and_the_next_call_works(
    helpdesk: McpApp,
) -> None:
    tools = listed(helpdesk)
    with OpenApps((app_at(helpdesk.address, tools),)) as apps:
        helpdesk.answer = "x" * 2_000_000
        found = apps.call("helpdesk__find_ticket", {"words": "a"}, 20.0, nothing)
        assert isinstance(found, AppTrouble) and "more than 1 MB" in found.sentence
        helpdesk.answer = "small"
        assert apps.call("helpdesk__find_ticket", {"words": "a"}, 20.0, nothing) == AppAnswer(
            "small"
        )


def test_stop_ends_a_slow_call_within_two_seconds(helpdesk: McpApp, tmp_path: Path) -> None:
    tools = listed(helpdesk)
    pressed: list[float] = []

    def stop() -> bool:
        if helpdesk.done and not pressed:
            pressed.append(time.monotonic())
        return bool(pressed)

    fake = FakeProvider(lambda seen: call("helpdesk__wait"))
    with pytest.raises(TurnInterrupted), fake, OpenApps((app_at(helpdesk.address, tools),)) as apps:
        take(tmp_path, fake, KeptSteps(stop=stop), apps)
    assert time.monotonic() - pressed[0] < 2.0


def test_a_slow_call_ends_at_its_limit_and_the_session_goes_on(helpdesk: McpApp) -> None:
    with OpenApps((app_at(helpdesk.address, listed(helpdesk)),)) as apps:
        found = apps.call("helpdesk__wait", {}, 0.5, nothing)
        assert isinstance(found, AppTrouble) and "may have been done all the same" in found.sentence
        answer = apps.call("helpdesk__find_ticket", {"words": "a"}, 20.0, nothing)
        assert isinstance(answer, AppAnswer)


def test_a_session_is_closed_at_the_end(helpdesk: McpApp) -> None:
    with OpenApps((app_at(helpdesk.address),)) as apps:
        assert apps.open_required(nothing) is None
        assert "DELETE" not in helpdesk.methods
    assert ("DELETE" in helpdesk.methods) is helpdesk.older


def test_a_refused_sign_in_is_told_apart(helpdesk: McpApp) -> None:
    with OpenApps((app_at(helpdesk.address, secret="Bearer wrong"),)) as apps:
        found = apps.open_required(nothing)
    assert found is not None and found[1] == AppTrouble(SIGN_IN, refused=True)


@pytest.mark.parametrize(
    ("address", "nearby", "says"),
    [
        ("http://127.0.0.1:9/mcp", True, "No connection to it could be made."),
        ("http://127.0.0.1:9/mcp", False, "lies inside this place’s own network"),
        ("http://169.254.169.254/mcp", True, "no server on the internet"),
    ],
)
def test_where_it_may_not_or_can_not_go_is_said(address: str, nearby: bool, says: str) -> None:
    with OpenApps((app_at(address, nearby=nearby),)) as apps:
        found = apps.open_required(nothing)
    assert found is not None and says in found[1].sentence
    assert not found[1].refused


def test_one_that_is_not_required_is_called_without_being_opened_first(
    tmp_path: Path, helpdesk: McpApp
) -> None:
    gone = app_at("http://127.0.0.1:9/mcp", listed(helpdesk), required=False)

    def script(seen: Seen) -> Answer:
        if not seen.results:
            return call("helpdesk__find_ticket", words="printer")
        return finish("Went on without it.")

    with FakeProvider(script) as fake, OpenApps((gone,)) as apps:
        assert apps.open_required(nothing) is None
        outcome = take(tmp_path, fake, KeptSteps(), apps)
    assert outcome.code == "done_changed"
    assert "No connection to it could be made." in fake.seen[-1].results[-1]


def after_one_call(then: Callable[[], None], *, name: str = "find_ticket") -> Script:
    """Find a ticket, let something happen to the app, and call it again for ever."""

    def script(seen: Seen) -> Answer:
        if len(seen.results) == 1:
            then()
        if len(seen.results) > 2:
            return finish("Went on without it.")
        return call(f"helpdesk__{name if seen.results else 'find_ticket'}", words="printer")

    return script


def turned_away(app: McpApp) -> None:
    app.takes = "Bearer another"


@pytest.mark.parametrize("required", [True, False])
def test_a_required_app_that_turns_our_sign_in_away_ends_the_turn_at_once(
    helpdesk: McpApp, tmp_path: Path, required: bool
) -> None:
    app = app_at(helpdesk.address, listed(helpdesk), required=required)
    steps = KeptSteps()
    script = after_one_call(lambda: turned_away(helpdesk))
    with FakeProvider(script) as fake, OpenApps((app,)) as apps:
        outcome = take(tmp_path, fake, steps, apps)
    assert SECRET not in repr(outcome) + repr(steps.steps)
    if not required:
        assert outcome.code == "done_changed"
        return
    assert (outcome.code, len(fake.seen)) == ("fail_tool", 2)
    assert outcome.facts["what"] == "sign_in"
    assert steps.kinds == [StepKind.CALLED, StepKind.CALLED]
    assert steps.cost == outcome.spent > 0
    assert said(outcome) == (
        "Failed. Helpdesk refused: it doesn’t take our sign-in any more. "
        "What it had made was kept. [Connect it]"
    )
    assert apps.troubles["helpdesk"].refused


def test_a_required_app_that_leaves_two_calls_in_a_row_unanswered_ends_the_turn(
    helpdesk: McpApp, tmp_path: Path, monkeypatch: Any
) -> None:
    app = app_at(helpdesk.address, listed(helpdesk))
    script = after_one_call(lambda: monkeypatch.setattr(connectors, "CALLING", 0.3), name="wait")
    with FakeProvider(script) as fake, OpenApps((app,)) as apps:
        outcome = take(tmp_path, fake, KeptSteps(), apps)
    assert (outcome.code, len(fake.seen)) == ("fail_tool", 3)
    assert said(outcome) == (
        "Failed. Helpdesk refused: it didn’t answer within 0 seconds. "
        "What it had made was kept. [Open Helpdesk]"
    )


def test_a_required_app_may_be_slow_now_and_then(
    helpdesk: McpApp, tmp_path: Path, monkeypatch: Any
) -> None:
    def limit(seconds: float) -> None:
        monkeypatch.setattr(connectors, "CALLING", seconds)

    def script(seen: Seen) -> Answer:
        if len(seen.results) == 4:
            return finish("The printer is on fire.")
        slow = bool(len(seen.results) % 2)
        limit(0.3 if slow else 20.0)
        return call("helpdesk__wait") if slow else call("helpdesk__find_ticket", words="printer")

    app = app_at(helpdesk.address, listed(helpdesk))
    with FakeProvider(script) as fake, OpenApps((app,)) as apps:
        outcome = take(tmp_path, fake, KeptSteps(), apps)
    assert (outcome.code, len(fake.seen)) == ("done_changed", 5)
    assert sum("didn’t answer" in each for each in fake.seen[-1].results) == 2


def test_a_required_app_that_goes_away_ends_the_turn_at_once(tmp_path: Path) -> None:
    with McpApp() as served:
        app = app_at(served.address, listed(served))
        with FakeProvider(after_one_call(served.stop)) as fake, OpenApps((app,)) as apps:
            outcome = take(tmp_path, fake, KeptSteps(), apps)
    assert (outcome.code, len(fake.seen)) == ("fail_tool", 2)
    assert said(outcome).startswith("Failed. Helpdesk refused: no connection to it could be made.")


def test_a_turn_whose_time_is_up_while_it_waits_for_an_app_ran_out_of_time(
    helpdesk: McpApp, tmp_path: Path
) -> None:
    app = app_at(helpdesk.address, listed(helpdesk))
    with FakeProvider([call("helpdesk__wait")]) as fake, OpenApps((app,)) as apps:
        outcome = take(tmp_path, fake, KeptSteps(), apps, seconds=1.5)
    assert (outcome.code, outcome.facts["variant"]) == ("stop_time", "seconds")


@pytest.mark.parametrize("recovers", [True, False])
def test_an_apps_own_refusal_fails_a_turn_only_when_it_came_to_nothing(
    helpdesk: McpApp, tmp_path: Path, recovers: bool
) -> None:
    def script(seen: Seen) -> Answer:
        if not seen.results:
            return call("helpdesk__close_ticket", number=-1)
        if recovers and len(seen.results) == 1:
            return call("helpdesk__find_ticket", words="printer")
        return call("finish", changed=True, headline="", body="")

    app = app_at(helpdesk.address, listed(helpdesk))
    with FakeProvider(script) as fake, OpenApps((app,)) as apps:
        outcome = take(tmp_path, fake, KeptSteps(), apps)
    assert outcome.code == ("fail_empty" if recovers else "fail_tool")
    if not recovers:
        assert said(outcome).startswith("Failed. Helpdesk refused: ")
        assert "There is no such ticket." in said(outcome)
        assert said(outcome).endswith("[Open Helpdesk]")


def said(outcome: TurnOutcome) -> str:
    """The sentence of an outcome, with its second line and its action."""
    known = {key: value for key, value in outcome.facts.items() if isinstance(value, str)}
    made = sentence_of(outcome.code, RunFacts(**known))  # type: ignore[arg-type]
    act = f"[{made.act.words}]" if made.act else ""
    return " ".join(part for part in (made.text, made.second, act) if part)


def test_names_are_what_every_provider_takes_and_stay_apart() -> None:
    names = [name_of("helpdesk", each) for each in ("a.b", "a/b", "a_b", "x" * 100, "x" * 101)]
    assert len(set(names)) == 5
    assert all(len(name) <= 64 for name in names)
    assert names[2] == "helpdesk__a_b"


def test_a_tool_whose_schema_is_too_large_is_left_out(helpdesk: McpApp, monkeypatch: Any) -> None:
    schemas = {tool.name: len(json.dumps(tool.schema)) for tool in listed(helpdesk)}
    monkeypatch.setattr(mcp_session, "MOST_SCHEMA", min(schemas.values()))
    assert [tool.name for tool in listed(helpdesk)] == [min(schemas, key=lambda n: schemas[n])]
