"""One way to make and change a routine."""

from dataclasses import replace
from datetime import timedelta

import pytest

from accounts.models import User, Workspace
from billing.models import Account
from foundation import database_clock
from routines_app.configure.content import AppUse
from routines_app.configure.routine import (
    ChangedMeanwhile,
    Configured,
    Refused,
    RoutineContent,
    RunIsLive,
    configure_routine,
    content_of,
    create_routine,
    turn_off,
    turn_on,
)
from routines_app.configure.validate import free_name
from routines_app.models import Routine, Run
from routines_app.rules.schedule import Schedule, ScheduleKind
from routines_app.rules.status import RunStatus
from tests.factories import make_agent, make_machine, make_run, make_workspace, owner_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace() -> Workspace:
    made = make_workspace()
    make_machine(made)
    make_agent(made)
    return made


@pytest.fixture
def person(workspace: Workspace) -> User:
    return owner_of(workspace)


def content(workspace: Workspace, **fields: object) -> RoutineContent:
    made = RoutineContent(
        name="Morning brief",
        instructions="echo 'report: done'",
        agent_id=workspace.agents.get().pk,
        machine_id=workspace.machines.get().pk,
        schedule=Schedule(ScheduleKind.DAILY, {"times": ["8:00"]}, "Europe/London"),
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def made(workspace: Workspace, **fields: object) -> Routine:
    person = owner_of(workspace)
    routine = create_routine(workspace, person, content(workspace, **fields), turn_on=True)
    assert isinstance(routine, Routine)
    return routine


def test_a_new_routine_knows_when_it_fires_next(workspace: Workspace) -> None:
    routine = made(workspace)
    assert routine.slug == "morning-brief"
    assert routine.expressions == ["0 8 * * *"]
    assert routine.next_fire_at and routine.next_fire_at > database_clock.now()
    assert routine.versions.get().number == 1


def test_one_saved_off_has_no_next_fire(workspace: Workspace, person: User) -> None:
    routine = create_routine(workspace, person, content(workspace), turn_on=False)
    assert isinstance(routine, Routine)
    assert (routine.enabled, routine.next_fire_at) == (False, None)


def test_a_name_is_one_routines_and_a_folder_nobody_elses_ever(
    workspace: Workspace, person: User
) -> None:
    first = made(workspace)
    again = content(workspace, name=" morning  BRIEF ")
    refused = create_routine(workspace, person, again, turn_on=True)
    assert isinstance(refused, Refused)
    assert [(error.field, error.sentence) for error in refused.errors] == [
        ("name", "Another routine here is called morning  BRIEF. Choose another name.")
    ]
    second = made(workspace, name=free_name(workspace, "Morning brief"))
    assert (second.name, second.slug) == ("Morning brief 2", "morning-brief-2")
    Routine.objects.filter(pk=first.pk).update(deleted_at=database_clock.now())
    assert made(workspace).slug == "morning-brief-3"  # the name is free, the folder isn't
    assert made(workspace, name="New").slug == "new-2"
    assert made(workspace, name="日本").slug == "routine"


def test_an_edit_may_keep_a_name_but_not_take_one(workspace: Workspace, person: User) -> None:
    first, second = made(workspace), made(workspace, name="Evening brief")
    taking = replace(content_of(second), name="Morning brief")
    refused = configure_routine(second, person, 1, taking)
    assert isinstance(refused, Refused) and [e.field for e in refused.errors] == ["name"]
    # two that share a name from before may each be changed, and keep it
    Routine.objects.filter(pk=second.pk).update(name="Morning brief")
    second.refresh_from_db()
    kept = configure_routine(second, person, 1, replace(content_of(second), step_limit=7))
    assert isinstance(kept, Configured) and kept.changed
    assert isinstance(
        configure_routine(first, person, 1, replace(content_of(first), name="Morning Brief")),
        Configured,
    )


@pytest.mark.parametrize(
    ("plan", "schedule", "field", "said"),
    [
        ("pro", ("every_minutes", {"every": 5}), "every", "Pro can run as often as every 15 min"),
        ("pro", ("cron", {"expressions": ["*/25 * * * *"]}), "expressions", "Choose 15 minutes"),
        ("max", ("cron", {"expressions": ["*/4 * * * *"]}), "expressions", "every 5 minutes"),
        ("free", ("daily", {"times": ["8:00", "17:30"]}), "times", "Free runs a routine once a"),
        ("free", ("hourly", {"minute": 0}), "every", "Choose one time a day, or change plan."),
    ],
)
def test_a_plan_says_how_often_before_it_is_saved(
    workspace: Workspace,
    person: User,
    plan: str,
    schedule: tuple[str, dict[str, object]],
    field: str,
    said: str,
) -> None:
    Account.objects.update_or_create(workspace=workspace, defaults={"plan": plan})
    often = Schedule(ScheduleKind(schedule[0]), schedule[1], "Europe/London")
    refused = create_routine(workspace, person, content(workspace, schedule=often), turn_on=True)
    assert isinstance(refused, Refused)
    assert [error.field for error in refused.errors] == [field]
    assert said in refused.errors[0].sentence


@pytest.mark.parametrize(
    ("plan", "schedule"),
    [
        ("free", ("daily", {"times": ["8:00"]})),  # 23 hours apart in spring, and fine
        ("free", ("when_asked", {})),
        ("pro", ("every_minutes", {"every": 15})),
        ("self-hosted", ("cron", {"expressions": ["* * * * *"]})),
    ],
)
def test_what_a_plan_allows_is_saved(
    workspace: Workspace, plan: str, schedule: tuple[str, dict[str, object]]
) -> None:
    Account.objects.update_or_create(workspace=workspace, defaults={"plan": plan})
    allowed = Schedule(ScheduleKind(schedule[0]), schedule[1], "Europe/London")
    assert made(workspace, schedule=allowed).pk


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"name": " "}, "name"),
        ({"instructions": ""}, "instructions"),
        ({"machine_id": None}, "machine"),
        ({"machine_id": 10**9}, "machine"),
        ({"agent_id": 10**9}, "agent"),
        ({"cap": -1}, "cap"),
        ({"time_limit": timedelta(0)}, "time_limit"),
        ({"folder": "/etc"}, "folder"),
        ({"notify": "never"}, "notify"),
    ],
)
def test_what_cant_be_saved_says_which_field_and_what_to_do(
    workspace: Workspace, person: User, fields: dict[str, object], wrong: str
) -> None:
    refused = create_routine(workspace, person, content(workspace, **fields), turn_on=True)
    assert isinstance(refused, Refused)
    assert [error.field for error in refused.errors] == [wrong]
    assert refused.errors[0].sentence.endswith(".")
    assert not Routine.objects.exists()


def test_another_workspaces_machine_and_agent_arent_there(
    workspace: Workspace, person: User
) -> None:
    other = make_workspace()
    machine, agent = make_machine(other), make_agent(other)
    refused = create_routine(
        workspace,
        person,
        content(workspace, machine_id=machine.pk, agent_id=agent.pk),
        turn_on=True,
    )
    assert isinstance(refused, Refused)
    assert {error.field for error in refused.errors} == {"machine", "agent"}


def test_an_edit_is_a_version_and_moves_the_schedule(workspace: Workspace, person: User) -> None:
    routine = made(workspace)
    later = replace(
        content_of(routine),
        schedule=Schedule(ScheduleKind.DAILY, {"times": ["9:30"]}, "Europe/London"),
    )
    saved = configure_routine(routine, person, 1, later)
    assert isinstance(saved, Configured) and saved.changed
    assert (saved.routine.version, saved.routine.schedule_version) == (2, 2)
    assert saved.routine.expressions == ["30 9 * * *"]
    assert [version.number for version in routine.versions.order_by("number")] == [1, 2]


def test_saving_the_same_again_makes_no_version(workspace: Workspace, person: User) -> None:
    routine = made(workspace)
    saved = configure_routine(routine, person, 1, content_of(routine))
    assert isinstance(saved, Configured) and not saved.changed
    assert saved.routine.version == 1


def test_an_edit_of_what_somebody_else_changed_shows_theirs(
    workspace: Workspace, person: User
) -> None:
    routine = made(workspace)
    configure_routine(routine, person, 1, replace(content_of(routine), name="Theirs"))
    mine = configure_routine(routine, person, 1, replace(content_of(routine), name="Mine"))
    assert isinstance(mine, ChangedMeanwhile)
    assert (mine.theirs.name, mine.by, mine.version) == ("Theirs", str(person), 2)
    routine.refresh_from_db()
    assert routine.name == "Theirs"


def test_nothing_is_changed_under_a_live_run(workspace: Workspace, person: User) -> None:
    routine = made(workspace)
    run = make_run(routine, RunStatus.RUNNING)
    answer = configure_routine(routine, person, 1, replace(content_of(routine), name="x"))
    assert isinstance(answer, RunIsLive) and answer.run == run
    Run.objects.filter(pk=run.pk).update(status="done_changed", finished_at=run.queued_at)
    assert isinstance(
        configure_routine(routine, person, 1, replace(content_of(routine), name="x")), Configured
    )


def test_off_and_on_again_makes_nothing_up(workspace: Workspace, person: User) -> None:
    routine = made(workspace)
    off = turn_off(routine, person)
    assert (off.enabled, off.off_reason, off.off_by, off.next_fire_at) == (
        False, "person", person, None,
    )  # fmt: skip
    on = turn_on(routine, person)
    assert isinstance(on, Routine)
    assert on.enabled and on.off_reason == ""
    assert on.next_fire_at and on.next_fire_at > database_clock.now()


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "a\0b"},
        {"instructions": "a\0b"},
        {"check_command": "a\0b"},
        {"folder": "~/a\0b"},
        {"model": "openai/a\0b", "agent_id": None},
        {"apps": (AppUse("a\0b", False),)},
        {"schedule": Schedule(ScheduleKind.DAILY, {"times": ["8:00"]}, "Europe/\0London")},
        {"schedule": Schedule(ScheduleKind.DAILY, {"times": ["8:00\0"]}, "Europe/London")},
    ],
)
def test_what_the_database_can_t_hold_is_refused_in_words(
    workspace: Workspace, person: User, fields: dict[str, object]
) -> None:
    answer = create_routine(workspace, person, content(workspace, **fields), turn_on=True)
    assert isinstance(answer, Refused)
    assert all(error.sentence for error in answer.errors)
