"""A deleted routine never runs again, and what it did stays readable."""

from datetime import timedelta

import pytest
from django.test import Client

from accounts.models import Role, Workspace
from routines_app.configure.delete import delete_routine
from routines_app.models import Routine
from routines_app.rules.status import RunStatus
from tests.factories import NOON, make_member, make_person, make_routine, make_run, make_workspace
from tests.web.test_run_page import page_of, plain


@pytest.fixture
def deleted(harbour: Workspace) -> Routine:
    routine = make_routine(harbour, name="Old watch", slug="brief")
    make_run(routine, turn_at=NOON, headline="All well", spent=20_000)
    make_run(routine, RunStatus.STOP_COST, turn_at=NOON)
    return delete_routine(routine, routine.owner)


def test_its_runs_are_readable_and_offer_nothing(
    browser_of_owner: Client, deleted: Routine
) -> None:
    for run in deleted.runs.all():
        page = page_of(browser_of_owner, run)
        said = plain(page)
        assert "Old watch was deleted by Ada Byron" in said
        assert "Run it now" not in said and "Raise the cap" not in said
        assert "<form" not in page.split('id="main"')[1].split("</main>")[0]
        assert 'href="/w/harbour/deleted/brief/"' in page
        assert 'href="/w/harbour/routines/brief/"' not in page


def test_they_are_listed_with_what_they_came_to(browser_of_owner: Client, deleted: Routine) -> None:
    page = browser_of_owner.get("/w/harbour/deleted/").content.decode()
    assert "One routine was deleted." in page and "Ada Byron" in page
    history = browser_of_owner.get("/w/harbour/deleted/brief/").content.decode()
    assert "Old watch was deleted by Ada Byron" in plain(history)
    assert "All well." in history and "/w/harbour/routines/brief/runs/1/" in history
    assert browser_of_owner.get("/w/harbour/deleted/nothing/").status_code == 404


def test_older_runs_are_a_page_further(browser_of_owner: Client, deleted: Routine) -> None:
    for day in range(60):
        make_run(deleted, at=NOON - timedelta(days=day), headline=f"Day {day}")
    first = browser_of_owner.get("/w/harbour/deleted/brief/").content.decode()
    assert "?before=" in first and "All well." not in first
    before = first.split("?before=")[1].split('"')[0]
    assert (
        "All well."
        in browser_of_owner.get(f"/w/harbour/deleted/brief/?before={before}").content.decode()
    )


def test_without_any_the_page_says_so(browser_of_owner: Client, harbour: Workspace) -> None:
    assert "Nothing was deleted." in browser_of_owner.get("/w/harbour/deleted/").content.decode()


def test_a_viewer_may_read_and_a_stranger_may_not(client: Client, deleted: Routine) -> None:
    addresses = (
        "deleted/",
        "deleted/brief/",
        "routines/brief/runs/1/",
        "routines/brief/runs/1/body/",
    )
    client.force_login(make_member(deleted.workspace, Role.VIEWER))
    assert {client.get(f"/w/harbour/{each}").status_code for each in addresses} == {200}
    stranger = make_person()
    make_workspace(stranger)
    client.force_login(stranger)
    assert {client.get(f"/w/harbour/{each}").status_code for each in addresses} == {404}


def test_nothing_can_be_done_with_its_runs(browser_of_owner: Client, deleted: Routine) -> None:
    for act in ("tell", "check"):
        answer = browser_of_owner.post(f"/w/harbour/routines/brief/runs/2/{act}/")
        assert answer.status_code == 404
    assert browser_of_owner.post("/w/harbour/routines/brief/run/").status_code == 404


def test_its_old_address_says_where_it_is(browser_of_owner: Client, deleted: Routine) -> None:
    answer = browser_of_owner.get("/w/harbour/routines/brief/")
    assert answer.status_code == 404
    assert 'href="/w/harbour/deleted/brief/">See what Old watch did<' in answer.content.decode()
