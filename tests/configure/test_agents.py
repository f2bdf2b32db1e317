"""Making, changing, putting back and deleting agents; what the words choose."""

from dataclasses import replace
from typing import Any

import pytest

from accounts.models import Role, User, Workspace
from foundation.crypto import encrypt
from routines_app.agents.offered import FINISH, TOOLS
from routines_app.configure.agents import (
    AgentChangedMeanwhile,
    AgentContent,
    AgentSaved,
    StaysHere,
    configure_agent,
    content_of_agent,
    delete_agent,
    is_as_it_came,
    make_agent,
    may_change,
    put_back,
)
from routines_app.configure.content import Refused
from routines_app.configure.model_words import meanings_of, set_words
from routines_app.configure.models import Unusable, UsableModel, model_of_agent, named_model
from routines_app.configure.workspace import furnish
from routines_app.models import Agent, ModelKey, Routine
from routines_app.rules.roster import ALL_TOOLS, THE_SEVEN, Tier, tools_of
from tests.factories import make_member, make_routine, make_workspace, owner_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def harbour() -> Workspace:
    workspace = make_workspace()
    furnish(workspace, owner_of(workspace))
    return workspace


@pytest.fixture
def ada(harbour: Workspace) -> User:
    return owner_of(harbour)


def connect(workspace: Workspace, settings: Any, provider: str, model: str) -> ModelKey:
    sealed = encrypt(settings.ENCRYPTION_KEY, str(workspace.key), "sk-nothing")
    return ModelKey.objects.create(
        workspace=workspace, provider=provider, model=model, sealed=sealed
    )


GARDENER = AgentContent(
    "Gardener", "Waters what is dry.", "Never twice a day.", "fast", tools=tools_of("web", "read")
)


def test_a_workspace_comes_with_seven_each_with_a_purpose_tools_and_a_way_to_think(
    harbour: Workspace,
) -> None:
    agents = list(harbour.agents.order_by("pk"))
    assert [agent.name for agent in agents] == [
        "Assistant",
        "Researcher",
        "Developer",
        "Analyst",
        "Writer",
        "Operator",
        "Script",
    ]
    for agent, member in zip(agents, THE_SEVEN, strict=True):
        content = content_of_agent(agent)
        assert content.purpose == agent.purpose and content.tools == member.tools
        assert (content.tier == "") == (agent.runtime == "script") == (content.persona == "")
        assert is_as_it_came(agent)
    furnish(harbour, owner_of(harbour))
    assert harbour.agents.count() == 7


def test_an_edit_is_a_version_that_says_what_changed(harbour: Workspace, ada: User) -> None:
    writer = harbour.agents.get(slug="writer")
    content = content_of_agent(writer)
    edited = replace(content, tier="deep", persona="Rhyme.", tools=(*content.tools, "fetch_url"))
    saved = configure_agent(writer, ada, 1, edited)
    assert isinstance(saved, AgentSaved) and saved.changed
    assert saved.agent.version == 2
    note = saved.agent.versions.get(number=2).note
    assert note == "Deep, was Balanced; may fetch web pages; other instructions"
    assert content_of_agent(saved.agent).persona == "Rhyme."
    assert saved.agent.versions.get(number=1).persona == content.persona
    again = configure_agent(saved.agent, ada, 2, edited)
    assert isinstance(again, AgentSaved) and not again.changed
    assert writer.versions.count() == 2


def test_who_saves_second_sees_both(harbour: Workspace, ada: User) -> None:
    writer = harbour.agents.get(slug="writer")
    content = content_of_agent(writer)
    configure_agent(writer, ada, 1, replace(content, purpose="Writes letters."))
    answer = configure_agent(writer, ada, 1, replace(content, purpose="Writes songs."))
    assert isinstance(answer, AgentChangedMeanwhile)
    assert (answer.by, answer.theirs.purpose, answer.version) == (str(ada), "Writes letters.", 2)
    assert content_of_agent(Agent.objects.get(pk=writer.pk)).purpose == "Writes letters."


def test_as_it_came_puts_one_of_the_seven_back_as_a_new_version(
    harbour: Workspace, ada: User
) -> None:
    writer = harbour.agents.get(slug="writer")
    before = content_of_agent(writer)
    configure_agent(writer, ada, 1, replace(before, purpose="Sings.", persona="", tools=()))
    writer.refresh_from_db()
    assert not is_as_it_came(writer)
    back = put_back(writer, ada, 2)
    assert isinstance(back, AgentSaved)
    assert (content_of_agent(back.agent), back.agent.version) == (before, 3)
    assert is_as_it_came(back.agent)
    own = make_agent(harbour, ada, GARDENER)
    assert isinstance(own, Agent)
    assert isinstance(put_back(own, ada, 1), Refused)


def test_a_workspace_makes_its_own(harbour: Workspace, ada: User) -> None:
    made = make_agent(harbour, ada, GARDENER)
    assert isinstance(made, Agent)
    assert (made.slug, made.made_by, made.came_as) == ("gardener", ada, "")
    assert set(content_of_agent(made).tools) == {"read_file", "list_files", "fetch_url"}
    named = make_agent(harbour, ada, replace(GARDENER, name="Models"))
    assert isinstance(named, Agent) and named.slug == "models-2"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "WRITER"}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"purpose": ""}, "purpose"),
        ({"purpose": "x" * 201}, "purpose"),
        ({"persona": "x" * 20_001}, "persona"),
        ({"persona": "a\x00b"}, "persona"),
        ({"tier": "clever"}, "tier"),
        ({"model": "anthropic/claude-opus-5"}, "model"),
    ],
)
def test_what_cannot_be_saved_says_what_to_do(
    harbour: Workspace, ada: User, changes: dict[str, str], field: str
) -> None:
    answer = make_agent(harbour, ada, replace(GARDENER, **changes))
    assert isinstance(answer, Refused)
    assert [error.field for error in answer.errors] == [field]
    assert harbour.agents.count() == 7


def test_deleting_one_in_use_names_its_routines(harbour: Workspace, ada: User) -> None:
    made = make_agent(harbour, ada, GARDENER)
    assert isinstance(made, Agent)
    routine = make_routine(harbour, agent=made, name="Water the beds")
    refused = delete_agent(made)
    assert isinstance(refused, StaysHere) and refused.routines == [routine]
    assert refused.sentence.startswith("Water the beds asks for Gardener.")
    Routine.objects.filter(pk=routine.pk).update(agent=None)
    assert isinstance(delete_agent(made), Agent)
    assert Agent.objects.get(pk=made.pk).deleted_at is not None
    assert isinstance(delete_agent(harbour.agents.get(slug="writer")), StaysHere)


def test_members_change_their_own_and_admins_all(harbour: Workspace, ada: User) -> None:
    member, viewer = make_member(harbour, Role.MEMBER), make_member(harbour, Role.VIEWER)
    theirs = make_agent(harbour, member, GARDENER)
    assert isinstance(theirs, Agent)
    writer = harbour.agents.get(slug="writer")
    allowed = {
        person: [
            may_change(harbour.memberships.get(user=person), each) for each in (theirs, writer)
        ]
        for person in (ada, member, viewer)
    }
    assert allowed == {ada: [True, True], member: [True, False], viewer: [False, False]}


def test_a_word_means_a_model_by_connection_or_what_the_workspace_says(
    harbour: Workspace, ada: User, settings: Any
) -> None:
    assert all(isinstance(each.model, Unusable) for each in meanings_of(harbour))
    connect(harbour, settings, "anthropic", "claude-sonnet-4-6")
    names = [each.model.name for each in meanings_of(harbour)]  # type: ignore[union-attr]
    assert names[1] == "claude-sonnet-4-6"
    assert "haiku" in names[0] and "opus" in names[2]
    assert set_words(harbour, ada, {Tier.FAST: "openai/gpt-5-mini"}) == {
        "fast": "Openai/gpt-5-mini isn’t connected. Choose a model that is connected and has a "
        "price."
    }
    assert set_words(harbour, ada, {Tier.FAST: "anthropic/claude-haiku-4-5"}) == {}
    operator = model_of_agent(harbour.agents.get(slug="operator"))
    assert isinstance(operator, UsableModel) and operator.name == "claude-haiku-4-5"
    set_words(harbour, ada, {Tier.FAST: ""})
    assert [each.said for each in meanings_of(harbour)] == ["", "", ""]


def test_a_word_whose_model_is_gone_is_not_replaced(
    harbour: Workspace, ada: User, settings: Any
) -> None:
    key = connect(harbour, settings, "anthropic", "claude-sonnet-4-6")
    connect(harbour, settings, "openai", "gpt-5-mini")
    set_words(harbour, ada, {Tier.FAST: "anthropic/claude-haiku-4-5"})
    key.delete()
    fast, balanced, _ = meanings_of(harbour)
    assert fast.model == Unusable("anthropic/claude-haiku-4-5 isn’t connected")
    assert isinstance(balanced.model, UsableModel) and balanced.model.name == "gpt-5-mini"


def test_a_particular_model_needs_its_connection_and_a_price(
    harbour: Workspace, settings: Any
) -> None:
    connect(harbour, settings, "anthropic", "claude-sonnet-4-6")
    assert isinstance(named_model(harbour, "anthropic/claude-opus-4-5"), UsableModel)
    assert named_model(harbour, "anthropic/no-such-thing") == Unusable(
        "no-such-thing has no price, so no cap could be kept"
    )
    assert named_model(harbour, "google/gemini-2.5-flash") == Unusable(
        "google/gemini-2.5-flash isn’t connected"
    )


def test_every_tool_that_a_model_has_is_in_one_group() -> None:
    assert len(set(ALL_TOOLS)) == len(ALL_TOOLS)
    assert {tool.name for tool in TOOLS} == {*ALL_TOOLS, FINISH}
