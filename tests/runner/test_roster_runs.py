"""A run by each agent of the roster, over each wire format; and one that names nobody."""

from typing import Any

import pytest

from accounts.models import Workspace
from machines import access
from machines.providers.memory import Answer as Ran
from machines.providers.memory import MemoryProvider
from routines_app.configure.agents import configure_agent, content_of_agent
from routines_app.models import Agent, ModelWord, Run
from routines_app.rules.roster import THE_SEVEN
from tests.factories import make_routine, owner_of
from tests.fakes.model_provider import Answer, Fail, FakeProvider, Meter, Move, finish
from tests.fakes.model_wire import Seen
from tests.runner.conftest import connect, fire_once

pytestmark = [pytest.mark.django_db(transaction=True)]

THINKING = [member for member in THE_SEVEN if member.tier]
FORMATS = ("anthropic", "openai", "google")


def run_of(workspace: Workspace, agent: Agent | None, key: str = "k", **fields: Any) -> Run:
    return fire_once(make_routine(workspace, agent=agent, **fields), key)


def dear() -> Meter:
    """Bills as dear as the dearest of the three providers' models here."""
    return Meter(bytes_per_token=2.5)


@pytest.mark.parametrize("provider", FORMATS)
def test_each_agent_of_the_roster_runs_with_its_own_model_tools_and_instructions(
    harbour: Workspace, settings: Any, provider: str
) -> None:
    with FakeProvider(lambda seen: finish(f"Done by {seen.model}."), dear()) as fake:
        connect(harbour, fake, settings, provider)
        models = set()
        for member in THINKING:
            agent = harbour.agents.get(slug=member.slug)
            run = run_of(harbour, agent, member.slug)
            assert (run.status, run.facts.get("reason")) == ("done_changed", None)
            seen = fake.seen[-1]
            assert member.persona in seen.text
            assert set(seen.tools) == {*member.tools, "finish"}
            assert run.snapshot["agent"] == member.name
            assert run.snapshot["agent_version"] == 1
            assert run.snapshot["model"] == f"{provider}/{seen.model}"
            assert 0 < run.spent <= run.snapshot["cap"]
            models.add((member.tier, seen.model))
        assert fake.problems == []
    assert len(models) == len({model for _, model in models}) == 3  # a word, a model


def test_the_script_of_the_roster_runs_its_command_without_a_model(harbour: Workspace) -> None:
    memory = access.provider_named("memory")
    assert isinstance(memory, MemoryProvider)
    memory.answer(["bash", ".routine/run.sh"], Ran(out=b"report: done\n"))
    run = run_of(harbour, harbour.agents.get(slug="script"), instructions="echo report: done")
    assert (run.status, run.spent, run.snapshot["agent"]) == ("done_changed", 0, "Script")


def routed(answer: Move) -> Any:
    def script(seen: Seen) -> Move:
        return finish("Added up.") if seen.tools else answer

    return script


@pytest.mark.parametrize("provider", FORMATS)
def test_a_routine_that_names_nobody_goes_to_whom_assistant_picks(
    harbour: Workspace, settings: Any, provider: str
) -> None:
    harbour.agents.filter(slug="analyst").update(version=2)
    analyst = harbour.agents.get(slug="analyst")
    analyst.versions.create(number=2, persona="Count twice.", tier="fast", tools=["read_file"])
    with FakeProvider(routed(Answer(text="Analyst: it’s about numbers")), dear()) as fake:
        connect(harbour, fake, settings, provider)
        run = run_of(harbour, None, instructions="Add up the week.")
        assert fake.problems == []
    assert run.status == "done_changed"
    asked, worked = fake.seen
    assert (asked.tools, set(worked.tools)) == ((), {"read_file", "finish"})
    assert "Count twice." in worked.text and asked.model != worked.model
    step = run.steps.get(title="Assistant picked Analyst: it’s about numbers")
    assert step.cost > 0
    assert sum(run.steps.values_list("cost", flat=True)) == run.spent
    assert run.requests == 2
    snapshot = run.snapshot
    assert (snapshot["agent"], snapshot["agent_version"]) == ("Analyst", 2)
    assert (snapshot["picked_by"], snapshot["picked_because"]) == (
        "Assistant",
        "it’s about numbers",
    )


@pytest.mark.parametrize("answer", [Answer(text="Somebody good with numbers."), Fail(529)])
def test_a_pick_that_cannot_be_read_is_done_by_assistant_and_said(
    harbour: Workspace, settings: Any, answer: Move
) -> None:
    with FakeProvider(routed(answer), dear()) as fake:
        connect(harbour, fake, settings, "openai-compatible")
        run = run_of(harbour, None)
    assert (run.status, run.snapshot["agent"]) == ("done_changed", "Assistant")
    assert run.steps.filter(title__startswith="Assistant does it itself: ").count() == 1


@pytest.mark.parametrize("cap", [1, 5_000, 9_000, 12_000, 20_000, 40_000])
def test_asking_who_is_needed_is_within_the_cap(
    harbour: Workspace, settings: Any, cap: int
) -> None:
    def script(seen: Seen) -> Move:
        if not seen.tools:
            return Answer(text="Writer: " + "it is about words, " * 400)
        return Answer(text="And so on. " * 80, calls=(("list_files", {}),))

    with FakeProvider(script, dear()) as fake:
        connect(harbour, fake, settings, "openai-compatible")
        run = run_of(harbour, None, cap=cap, step_limit=60)
    assert run.status == "stop_cost"
    assert fake.meter.billed <= run.spent <= cap


def test_whoever_has_no_model_now_is_not_offered(harbour: Workspace, settings: Any) -> None:
    ModelWord.objects.create(workspace=harbour, word="deep", model="anthropic/claude-opus-5")
    with FakeProvider(routed(Answer(text="Developer: it’s code")), dear()) as fake:
        connect(harbour, fake, settings, "openai-compatible")
        run = run_of(harbour, None)
    assert "- Developer:" not in fake.seen[0].text
    assert (run.status, run.snapshot["agent"]) == ("done_changed", "Assistant")


def test_an_agents_own_model_is_never_replaced(harbour: Workspace, settings: Any) -> None:
    writer = harbour.agents.get(slug="writer")
    with FakeProvider((), dear()) as fake:
        connect(harbour, fake, settings, "openai-compatible")
        writer.versions.update(model="anthropic/claude-opus-5")
        run = run_of(harbour, writer)
    assert (run.status, run.spent, fake.seen) == ("skip_no_model", 0, [])
    assert run.facts == {"agent": "Writer", "reason": "anthropic/claude-opus-5 isn’t connected"}


def test_a_model_can_be_asked_without_an_agent(harbour: Workspace, settings: Any) -> None:
    with FakeProvider((), dear()) as fake:
        connect(harbour, fake, settings, "openai-compatible")
        run = run_of(harbour, None, model="openai-compatible/local-model")
        gone = run_of(harbour, None, "gone", model="openai-compatible/other")
    assert (run.status, len(fake.seen), run.snapshot["agent"]) == ("done_changed", 1, "")
    assert (gone.status, gone.spent) == ("skip_no_model", 0)


def test_a_run_says_which_version_of_its_agent_it_used(harbour: Workspace, settings: Any) -> None:
    writer = harbour.agents.get(slug="writer")
    with FakeProvider(lambda seen: finish("Written."), dear()) as fake:
        connect(harbour, fake, settings, "openai-compatible")
        first = run_of(harbour, writer, "one")
        content = content_of_agent(writer)
        edited = type(content)(**{**vars(content), "persona": "Write in rhyme."})
        configure_agent(writer, owner_of(harbour), 1, edited)
        second = run_of(harbour, writer, "two")
    assert (first.snapshot["agent_version"], second.snapshot["agent_version"]) == (1, 2)
    assert "Write in rhyme." in fake.seen[1].text
    assert "Write in rhyme." not in fake.seen[0].text
