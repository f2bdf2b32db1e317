"""What a page says when it can't be shown: where to go, who can help, and never more than that."""

import re

import pytest
from django.db import DatabaseError
from django.test import Client, override_settings

from accounts.models import Role, Workspace
from routines_app.models import Routine
from routines_app.web import routine_list
from tests.factories import make_member, make_person, make_routine, make_workspace
from tests.web.test_run_page import plain

LIVE = {"HX-Request": "true"}


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    return make_routine(harbour, name="Morning brief", slug="morning-brief")


def test_a_near_miss_leads_to_what_was_meant(browser_of_owner: Client, routine: Routine) -> None:
    for path in ("mornin-brief/", "morning-brief/runs/99/", "morning-brif/edit/"):
        answer = browser_of_owner.get(f"/w/harbour/routines/{path}")
        page = answer.content.decode()
        assert answer.status_code == 404 and "There is nothing at this address." in page
        assert 'href="/w/harbour/routines/morning-brief/">Go to Morning brief<' in page
    far = browser_of_owner.get("/w/harbour/routines/tide-tables/").content.decode()
    assert "Morning brief<" not in far and "Go to Routines" in far


def test_a_stranger_is_told_the_same_as_of_an_address_that_isnt_there(
    client: Client, routine: Routine
) -> None:
    stranger = make_person()
    make_workspace(stranger)
    client.force_login(stranger)
    there = client.get("/w/harbour/routines/mornin-brief/")
    nowhere = client.get("/w/nowhere/routines/mornin-brief/")
    assert there.status_code == nowhere.status_code == 404
    token = re.compile(r'"X-CSRFToken": "\w+"')
    assert token.sub("", there.content.decode()) == token.sub("", nowhere.content.decode())


def test_a_viewer_is_told_who_can_help(client: Client, routine: Routine) -> None:
    client.force_login(make_member(routine.workspace, Role.VIEWER, email="viewer@example.org"))
    answer = client.get("/w/harbour/routines/morning-brief/edit/")
    page = plain(answer.content.decode())
    assert answer.status_code == 403
    assert "You may read this, not change it. You are a viewer in Harbour." in page
    assert "Ada Byron can give you that role. Read Morning brief Ask Ada Byron" in page
    assert 'href="mailto:person' in answer.content.decode()
    placed = client.get("/w/harbour/routines/morning-brief/edit/", headers=LIVE)
    assert placed.status_code == 403
    assert placed.content.decode().startswith('<p class="err" role="alert">You are a viewer')


def test_a_member_is_told_whose_routine_it_takes(client: Client, routine: Routine) -> None:
    client.force_login(make_member(routine.workspace, Role.MEMBER))
    page = plain(client.get("/w/harbour/routines/morning-brief/edit/").content.decode())
    assert "This takes an admin." in page
    assert "Changing a routine takes a member who owns it, or an admin." in page


@override_settings(DEBUG=False)
def test_what_broke_is_said_by_a_code_and_never_by_a_trace(
    browser_of_owner: Client, routine: Routine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise DatabaseError("the secret of the house")

    monkeypatch.setattr(routine_list, "list_rows", broken)
    browser_of_owner.raise_request_exception = False
    answer = browser_of_owner.get("/w/harbour/routines/")
    page = answer.content.decode()
    assert answer.status_code == 500
    assert "Something broke on our side." in page and "secret of the house" not in page
    assert re.search(r"<code>[0-9a-f]{4}-[0-9a-f]{4}</code>", page)
    assert '<a class="btn ink" href="">Try again</a>' in page
    assert "Ada Byron" not in page and "<script" not in page


def test_an_htmx_request_without_a_session_is_sent_to_sign_in(
    client: Client, harbour: Workspace
) -> None:
    here = "http://testserver/w/harbour/routines/"
    answer = client.get("/w/harbour/bell/", headers={**LIVE, "HX-Current-URL": here})
    assert answer.status_code == 401
    assert answer["HX-Redirect"] == "/accounts/login/?next=%2Fw%2Fharbour%2Froutines%2F"
