"""What an agent may use of the apps: kept in its versions, held against its routines."""

from dataclasses import replace

import pytest

from accounts.models import Workspace
from routines_app.configure.agents import (
    AgentContent,
    AgentSaved,
    WouldStop,
    configure_agent,
    content_of_agent,
    content_of_version,
    is_as_it_came,
    put_back,
)
from routines_app.configure.candidates import what_keeps_it
from routines_app.configure.connectors import remove_app
from routines_app.configure.content import AppUse, Refused, RoutineContent, content_of
from routines_app.configure.routine import (
    Configured,
    configure_routine,
    create_routine,
    turn_off,
    turn_on,
)
from routines_app.configure.workspace import furnish
from routines_app.models import Agent, AgentVersion, Connector, Routine
from routines_app.rules.allowed import Allowed, AllowedApp
from routines_app.rules.schedule import Schedule, ScheduleKind
from tests.factories import make_app, make_routine, make_workspace, owner_of

pytestmark = pytest.mark.django_db

FIND = AllowedApp("helpdesk", ("find_ticket",))
BOTH = AllowedApp("helpdesk", ("close_ticket", "find_ticket"))
BILLING = AllowedApp("billing", ("find_ticket",))
MUST, MAY = AppUse("helpdesk", True), AppUse("helpdesk", False)


@pytest.fixture
def harbour() -> Workspace:
    """A furnished workspace with two apps."""
    workspace = make_workspace()
    furnish(workspace, owner_of(workspace))
    make_app(workspace)
    make_app(workspace, "Billing")
    return workspace


def agent_of(workspace: Workspace, slug: str = "writer") -> Agent:
    return workspace.agents.get(slug=slug)


def allow(workspace: Workspace, allowed: Allowed, slug: str = "writer") -> Agent:
    """Set what an agent may use, whatever that stops."""
    agent = agent_of(workspace, slug)
    edited = replace(content_of_agent(agent), apps=allowed)
    slugs = list(Routine.objects.values_list("slug", flat=True))
    saved = configure_agent(agent, owner_of(workspace), agent.version, edited, stopping=slugs)
    assert isinstance(saved, AgentSaved)
    return saved.agent


def limit_all(workspace: Workspace, allowed: Allowed) -> None:
    for slug in workspace.agents.filter(runtime="model").values_list("slug", flat=True):
        allow(workspace, allowed, slug)


def routine_content(workspace: Workspace, slug: str | None, *apps: AppUse) -> RoutineContent:
    return RoutineContent(
        name="Sweep",
        instructions="Sweep the tickets.",
        agent_id=agent_of(workspace, slug).pk if slug else None,
        machine_id=workspace.machines.get().pk,
        schedule=Schedule(ScheduleKind.DAILY, {"times": ["8:00"]}, "Europe/London"),
        apps=apps,
    )


def test_all_that_is_here_may_use_whatever_its_routine_gives_it(harbour: Workspace) -> None:
    assert set(AgentVersion.objects.values_list("apps", flat=True)) == {None}
    assert content_of_agent(agent_of(harbour)).apps is None


@pytest.mark.parametrize(
    ("steps", "note"),
    [
        ([(FIND,)], "May use Helpdesk at most"),
        ([(FIND, BILLING)], "May use Billing and Helpdesk at most"),
        ([()], "May use no app"),
        ([(FIND,), (FIND, BILLING)], "May use Billing"),
        ([(FIND, BILLING), (FIND,)], "May no longer use Billing"),
        ([(FIND,), (BOTH,)], "Other tools of Helpdesk"),
        ([(FIND,), None], "May use any app of its routines"),
    ],
)
def test_each_edit_is_a_version_that_says_what_it_allows(
    harbour: Workspace, steps: list[Allowed], note: str
) -> None:
    for allowed in steps:
        agent = allow(harbour, allowed)
    assert agent.version == len(steps) + 1
    versions = {version.number: version for version in agent.versions.all()}
    assert versions[agent.version].note == note
    kept = [content_of_version(versions[number + 2]).apps for number in range(len(steps))]
    assert [set(each or ()) for each in kept] == [set(each or ()) for each in steps]
    assert content_of_version(versions[1]).apps is None


def test_what_is_chosen_is_kept_in_one_order_and_an_app_without_tools_is_none(
    harbour: Workspace,
) -> None:
    mixed = (AllowedApp("helpdesk", ("find_ticket", "close_ticket")), AllowedApp("billing", ()))
    agent = allow(harbour, mixed)
    assert agent.versions.get(number=2).apps == [
        {"app": "helpdesk", "tools": ["close_ticket", "find_ticket"]}
    ]
    again = configure_agent(
        agent, owner_of(harbour), 2, replace(content_of_agent(agent), apps=mixed)
    )
    assert isinstance(again, AgentSaved) and not again.changed


def test_as_it_came_it_may_use_whatever_its_routine_gives_it(harbour: Workspace) -> None:
    agent = allow(harbour, ())
    assert not is_as_it_came(agent)
    back = put_back(agent, owner_of(harbour), 2)
    assert isinstance(back, AgentSaved) and is_as_it_came(back.agent)
    assert content_of_agent(back.agent).apps is None


@pytest.mark.parametrize(
    ("slug", "chosen", "says"),
    [
        ("writer", AllowedApp("absent", ("x",)), "No app here is called absent. Leave it out."),
        ("writer", AllowedApp("helpdesk", ("x",)), "Helpdesk has no tool called x. Leave it out."),
        ("script", FIND, "A script calls no apps. Leave them out."),
    ],
)
def test_only_what_is_there_can_be_chosen(
    harbour: Workspace, slug: str, chosen: AllowedApp, says: str
) -> None:
    agent = agent_of(harbour, slug)
    edited = replace(content_of_agent(agent), apps=(chosen,))
    refused = configure_agent(agent, owner_of(harbour), 1, edited)
    assert isinstance(refused, Refused)
    assert [error.sentence for error in refused.errors] == [says]


def test_what_went_away_since_it_was_chosen_may_stay(harbour: Workspace) -> None:
    allow(harbour, (FIND, BILLING))
    remove_app(Connector.objects.get(slug="billing"))
    Connector.objects.filter(slug="helpdesk").update(tools=[])
    agent = agent_of(harbour)
    kept: AgentContent = replace(content_of_agent(agent), purpose="Writes letters.")
    saved = configure_agent(agent, owner_of(harbour), 2, kept)
    assert isinstance(saved, AgentSaved)
    assert content_of_agent(saved.agent).apps == (BILLING, FIND)


@pytest.mark.parametrize(
    ("allowed", "slug", "use", "says"),
    [
        ((FIND,), "writer", MUST, None),
        ((BILLING,), "writer", MUST, "Writer may not use Helpdesk. Allow it on Writer’s page"),
        ((BILLING,), "writer", MAY, "Writer may not use Helpdesk. Allow it on Writer’s page"),
        ((), "analyst", MUST, None),  # another agent's limits are its own
        ((), "script", MUST, None),  # a script calls no apps, and misses none
        ((), None, MUST, None),  # others than Writer may be picked
    ],
)
def test_a_routine_is_not_given_what_its_agent_may_not_use(
    harbour: Workspace, allowed: Allowed, slug: str | None, use: AppUse, says: str | None
) -> None:
    allow(harbour, allowed)
    made = create_routine(
        harbour, owner_of(harbour), routine_content(harbour, slug, use), turn_on=True
    )
    if says is None:
        assert isinstance(made, Routine)
        assert what_keeps_it(made) is None
        return
    assert isinstance(made, Refused) and len(made.errors) == 1
    assert made.errors[0].field == "apps" and made.errors[0].sentence.startswith(says)


CLOSE = AppUse("helpdesk", True, ("close_ticket",))


@pytest.mark.parametrize(
    ("slug", "says"),
    [
        ("writer", "Writer may not use close_ticket of Helpdesk. Allow it on Writer’s page"),
        (None, "No agent here may use close_ticket of Helpdesk. Allow it on an agent’s page"),
    ],
)
def test_a_routine_is_given_no_choice_of_which_its_agent_may_use_nothing(
    harbour: Workspace, slug: str | None, says: str
) -> None:
    limit_all(harbour, (FIND,))
    person = owner_of(harbour)
    refused = create_routine(harbour, person, routine_content(harbour, slug, CLOSE), turn_on=True)
    assert isinstance(refused, Refused) and refused.errors[0].sentence.startswith(says)
    both = replace(CLOSE, tools=("close_ticket", "find_ticket"))
    content = routine_content(harbour, slug, both)
    routine = create_routine(harbour, person, content, turn_on=True)
    assert isinstance(routine, Routine) and what_keeps_it(routine) is None
    # what it had may stay, but isn't narrowed to what is never offered
    narrower = replace(content, apps=(replace(CLOSE, required=False),))
    assert isinstance(configure_routine(routine, person, 1, narrower), Refused)


def test_taking_the_one_chosen_tool_from_an_agent_stops_its_routine(harbour: Workspace) -> None:
    writer, person = agent_of(harbour), owner_of(harbour)
    content = routine_content(harbour, "writer", CLOSE)
    routine = create_routine(harbour, person, content, turn_on=True)
    assert isinstance(routine, Routine)
    edited = replace(content_of_agent(writer), apps=(FIND,))
    assert configure_agent(writer, person, 1, edited) == WouldStop([routine])
    allow(harbour, (FIND,))
    missing = what_keeps_it(Routine.objects.get())
    assert missing is not None
    assert (missing.name, missing.barred, missing.tools) == (
        "Helpdesk", "Writer may not", "close_ticket",
    )  # fmt: skip


def test_a_model_alone_is_limited_by_nobody(harbour: Workspace) -> None:
    limit_all(harbour, ())
    content = replace(routine_content(harbour, None, MUST), model="openai/gpt-5-mini")
    assert isinstance(create_routine(harbour, owner_of(harbour), content, turn_on=True), Routine)


@pytest.mark.parametrize("uses", [(MUST,), (MAY,), (MUST, AppUse("billing", True))])
def test_where_nobody_is_named_somebody_has_to_be_allowed(
    harbour: Workspace, uses: tuple[AppUse, ...]
) -> None:
    limit_all(harbour, (BILLING,))
    content = routine_content(harbour, None, *uses)
    refused = create_routine(harbour, owner_of(harbour), content, turn_on=True)
    assert isinstance(refused, Refused)
    assert refused.errors[0].sentence.startswith("No agent here may use Helpdesk")
    allow(harbour, (FIND, BILLING))
    assert isinstance(create_routine(harbour, owner_of(harbour), content, turn_on=True), Routine)


def test_what_its_agent_lost_later_may_stay_unless_it_is_required(harbour: Workspace) -> None:
    person = owner_of(harbour)
    content = routine_content(harbour, "writer", MAY)
    made = create_routine(harbour, person, content, turn_on=True)
    assert isinstance(made, Routine)
    allow(harbour, ())
    saved = configure_routine(made, person, 1, replace(content, name="Sweep up"))
    assert isinstance(saved, Configured) and content_of(saved.routine).apps == (MAY,)
    turn_off(made, person)
    assert isinstance(turn_on(made, person), Routine)
    for changed in (
        replace(content, apps=(MUST,)),
        replace(content, apps=(MAY, AppUse("billing", False))),
    ):
        assert isinstance(configure_routine(made, person, 2, changed), Refused)
    Routine.objects.filter(pk=made.pk).update(apps=[{"app": "helpdesk", "required": True}])
    turn_off(made, person)
    refused = turn_on(made, person)
    assert isinstance(refused, Refused)
    assert refused.errors[0].sentence.startswith("Writer may not use Helpdesk. Allow it on")


def requires(workspace: Workspace, name: str, agent: Agent | None, **fields: object) -> Routine:
    apps = [{"app": "helpdesk", "required": True}]
    return make_routine(workspace, name=name, agent=agent, apps=apps, **fields)


def test_saving_an_agent_names_the_routines_that_it_would_stop(harbour: Workspace) -> None:
    writer, person = agent_of(harbour), owner_of(harbour)
    one = requires(harbour, "Answer letters", writer)
    two = requires(harbour, "Sort letters", writer)
    requires(harbour, "Gone", writer, deleted_at=one.created_at)
    requires(harbour, "Analysed", agent_of(harbour, "analyst"))
    requires(harbour, "Whoever", None)
    requires(harbour, "A model", None, model="openai/gpt-5-mini")
    optional = [{"app": "helpdesk", "required": False}]
    make_routine(harbour, name="Optional", agent=writer, apps=optional)
    edited = replace(content_of_agent(writer), apps=(BILLING,))
    told = configure_agent(writer, person, 1, edited)
    assert told == WouldStop([one, two])
    assert isinstance(configure_agent(writer, person, 1, edited, stopping=[one.slug]), WouldStop)
    assert agent_of(harbour).version == 1
    slugs = [one.slug, two.slug]
    saved = configure_agent(writer, person, 1, edited, stopping=slugs)
    assert isinstance(saved, AgentSaved) and saved.changed
    missing = what_keeps_it(Routine.objects.get(pk=one.pk))
    assert missing is not None
    said = (missing.name, missing.barred, missing.barred_slug)
    assert said == ("Helpdesk", "Writer may not", "writer")
    # they are stopped already, so the next edit warns of nothing
    again = replace(edited, purpose="Writes letters.")
    assert isinstance(configure_agent(writer, person, 2, again), AgentSaved)


def test_the_last_one_who_may_is_warned_about_for_routines_that_name_nobody(
    harbour: Workspace,
) -> None:
    limit_all(harbour, (BILLING,))
    writer = allow(harbour, (FIND,))
    routine = requires(harbour, "Whoever", None)
    edited = replace(content_of_agent(writer), apps=())
    assert configure_agent(writer, owner_of(harbour), writer.version, edited) == WouldStop(
        [routine]
    )
    allow(harbour, (BOTH,), "analyst")
    saved = configure_agent(writer, owner_of(harbour), writer.version, edited)
    assert isinstance(saved, AgentSaved)
