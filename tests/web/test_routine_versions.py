"""Versions of a routine, what each changed, and deleting one."""

from dataclasses import replace

import pytest
from django.test import Client

from accounts.models import Role, User, Workspace
from foundation import clock
from machines.models import Machine
from routines_app.configure.content import RoutineContent, content_from_json
from routines_app.configure.routine import configure_routine, content_of, create_routine
from routines_app.models import Routine, Run
from routines_app.rules.schedule import Schedule, ScheduleKind
from routines_app.rules.status import RunStatus
from tests.factories import make_member, make_run

pytestmark = pytest.mark.django_db

HOME = "/w/harbour/routines/price-watch/"


@pytest.fixture
def routine(harbour: Workspace, owner: User) -> Routine:
    content = RoutineContent(
        name="Price watch",
        instructions="echo <b>done</b>",
        agent_id=harbour.agents.get(slug="script").pk,
        machine_id=harbour.machines.get().pk,
        schedule=Schedule(ScheduleKind.DAILY, {"times": ["8:00"]}, "Europe/London"),
    )
    made = create_routine(harbour, owner, content, turn_on=True)
    assert isinstance(made, Routine)
    return made


def test_a_version_comes_back_as_it_was_kept(routine: Routine) -> None:
    assert content_from_json(routine.versions.get().content) == content_of(routine)


def test_each_version_says_who_made_it_and_what_it_changed(
    browser_of_owner: Client, routine: Routine, owner: User
) -> None:
    other = Schedule(ScheduleKind.DAILY, {"times": ["9:30"]}, "Europe/London")
    configure_routine(routine, owner, 1, replace(content_of(routine), schedule=other))
    routine.refresh_from_db()
    configure_routine(routine, owner, 2, replace(content_of(routine), cap=900_000))
    page = browser_of_owner.get(f"{HOME}versions/").content.decode()
    assert "<h1>Three versions of Price watch</h1>" in page
    third, second, first = page.split('<section class="block"')[1:]
    assert "Version 3" in third and "what it is now" in third and str(owner) in third
    assert "$0.50" in third and "$0.90" in third and "When" not in third
    assert "half past nine in the morning" in second and "eight in the morning" in second
    assert "It was made." in first and "<table" not in first


def test_a_machine_that_is_gone_keeps_its_name_in_old_versions(
    browser_of_owner: Client, harbour: Workspace, routine: Routine, owner: User
) -> None:
    new = Machine.objects.create(workspace=harbour, name="quay-2", slug="quay-2", provider="memory")
    configure_routine(routine, owner, 1, replace(content_of(routine), machine_id=new.pk))
    harbour.machines.filter(slug="quay-1").update(deleted_at=clock.now())
    page = browser_of_owner.get(f"{HOME}versions/").content.decode()
    assert ">quay-1</td>" in page and ">quay-2</td>" in page


def test_a_run_leads_to_the_version_that_it_ran(browser_of_owner: Client, routine: Routine) -> None:
    run = make_run(routine, RunStatus.DONE_UNCHANGED, version=1)
    page = browser_of_owner.get(f"{HOME}runs/{run.number}/").content.decode()
    assert f'href="{HOME}versions/#v1">Version 1</a>' in page
    assert 'id="v1"' in browser_of_owner.get(f"{HOME}versions/").content.decode()
    assert f'href="{HOME}versions/"' in browser_of_owner.get(HOME).content.decode()


def test_deleting_says_what_is_kept_and_does_it_once_asked(
    browser_of_owner: Client, harbour: Workspace, routine: Routine
) -> None:
    make_run(routine, RunStatus.RUNNING)
    make_run(routine, RunStatus.QUEUED)
    page = browser_of_owner.get(f"{HOME}delete/").content.decode()
    assert "Run 1, going on now, is stopped." in page
    assert "One run that waits ends as “Didn’t run”." in page
    assert "The rows of its runs, what each cost, and the ledger." in page
    assert Routine.objects.present().count() == 1
    done = browser_of_owner.post(f"{HOME}delete/", follow=True)
    assert "Price watch is deleted." in done.content.decode()
    assert browser_of_owner.get(HOME).status_code == 404
    assert Run.objects.filter(routine=routine).count() == 2


def test_a_member_deletes_only_their_own(
    client: Client, harbour: Workspace, routine: Routine
) -> None:
    member = make_member(harbour, Role.MEMBER)
    client.force_login(member)
    assert client.post(f"{HOME}delete/").status_code == 403
    assert "delete/" not in client.get(HOME).content.decode()
    Routine.objects.update(owner=member)
    assert client.post(f"{HOME}delete/").status_code == 302
    assert not Routine.objects.present().exists()
