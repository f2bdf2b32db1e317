"""What was just done is told, and what can be taken back has an Undo; a refusal is no toast."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from accounts.models import Role, User, Workspace
from foundation import clock
from routines_app.delivery.attention import how_many_need_someone, rings_of, unread
from routines_app.models import Notice, Routine
from routines_app.rules.status import RunStatus
from tests.factories import make_member, make_routine, make_run

LIST = "/w/harbour/routines/"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    return make_routine(harbour, name="Brief", slug="brief")


def toasts(page: str) -> str:
    found = re.search(r'id="toasts" role="status">(.*?)<p class="offline"', page, re.S)
    assert found
    return found.group(1)


def test_turning_off_is_told_with_an_undo_that_turns_it_on_again(
    browser_of_owner: Client, routine: Routine
) -> None:
    page = browser_of_owner.post(f"{LIST}brief/off/", {"then": LIST}, follow=True)
    said = toasts(page.content.decode())
    assert "Brief is off." in said and "Undo" in said
    where = re.search(r'action="([^"]+)"', said)
    then = re.search(r'name="then" value="([^"]+)"', said)
    assert where and then and then.group(1) == LIST
    back = browser_of_owner.post(where.group(1), {"then": then.group(1)}, follow=True)
    routine.refresh_from_db()
    assert routine.enabled
    assert "Brief is on. Next run: " in toasts(back.content.decode())
    assert "Undo" not in toasts(back.content.decode())


def test_turning_off_what_is_off_has_nothing_to_undo(
    browser_of_owner: Client, routine: Routine
) -> None:
    browser_of_owner.post(f"{LIST}brief/off/")
    again = browser_of_owner.post(f"{LIST}brief/off/", {"then": LIST}, follow=True)
    assert toasts(again.content.decode()).count("Undo") == 1  # the first one's, shown now


def test_in_place_the_switch_comes_back_with_its_toast(
    browser_of_owner: Client, routine: Routine
) -> None:
    answer = browser_of_owner.post(f"{LIST}brief/off/", {"then": LIST}, headers=HTMX)
    part = answer.content.decode()
    assert "refresh" in answer["HX-Trigger"] and "<html" not in part
    assert f'action="{LIST}brief/on/"' in part and 'aria-checked="false"' in part
    assert 'hx-swap-oob="beforeend:#toasts"' in part and ">Undo<" in part
    assert f'name="then" value="{LIST}"' in part
    # told once: the next page doesn't say it again
    assert "Brief is off." not in browser_of_owner.get(LIST).content.decode()


def test_what_stands_against_turning_on_is_said_beside_the_switch(
    browser_of_owner: Client, routine: Routine
) -> None:
    Routine.objects.update(enabled=False, instructions="")
    answer = browser_of_owner.post(f"{LIST}brief/on/", {"then": LIST}, headers=HTMX)
    assert answer.status_code == 422
    assert answer["HX-Retarget"] == "form:has(> #switch-brief)"
    assert answer["HX-Reswap"] == "afterend"
    assert "Write what it should do." in answer.content.decode()
    assert "toast" not in answer.content.decode()
    page = browser_of_owner.post(f"{LIST}brief/on/", {"then": LIST}, follow=True).content.decode()
    assert "Write what it should do." not in toasts(page)
    summary = page[page.index('<div class="errsum"') : page.index('id="hero"')]
    assert "Write what it should do." in summary and 'role="alert"' in summary


def test_marking_all_read_can_be_undone_and_only_that(
    browser_of_owner: Client, harbour: Workspace, owner: User, routine: Routine
) -> None:
    other = make_member(harbour, Role.MEMBER)
    start = clock.now()
    for number in range(3):
        run = make_run(routine, RunStatus.FAIL_MODEL)
        notice = Notice.objects.create(
            workspace=harbour,
            routine=routine,
            run=run,
            needs_someone=number == 2,
            rung_at=start - timedelta(hours=number),
        )
        if number == 0:
            notice.read_by.add(owner)
        notice.read_by.add(other)
    page = browser_of_owner.post("/w/harbour/bell/read/", follow=True).content.decode()
    assert how_many_need_someone(harbour, owner) == 0
    assert "All is read." in toasts(page)
    assert 'action="/w/harbour/bell/unread/"' in toasts(page)
    back = browser_of_owner.post("/w/harbour/bell/unread/", follow=True).content.decode()
    assert "Unread again." in toasts(back)
    assert how_many_need_someone(harbour, owner) == 1
    assert unread(rings_of(harbour), owner).count() == 2
    assert unread(rings_of(harbour), other).count() == 0
    twice = browser_of_owner.post("/w/harbour/bell/unread/", follow=True).content.decode()
    assert "There was nothing to undo." in toasts(twice)


def test_in_the_panel_the_undo_stands_beside_the_list(
    browser_of_owner: Client, harbour: Workspace, owner: User, routine: Routine
) -> None:
    run = make_run(routine, RunStatus.FAIL_MODEL)
    Notice.objects.create(workspace=harbour, routine=routine, run=run, needs_someone=True)
    headers = HTMX | {"HX-Target": "bell-panel"}
    panel = browser_of_owner.post("/w/harbour/bell/read/", headers=headers).content.decode()
    assert "All read. One still needs someone." in panel and "All is read." in panel
    assert 'hx-post="/w/harbour/bell/unread/"' in panel
    back = browser_of_owner.post("/w/harbour/bell/unread/", headers=headers).content.decode()
    assert "One unread ring needs someone<" in back and 'class="new"' in back
    assert how_many_need_someone(harbour, owner) == 1


def test_an_undo_in_one_workspace_touches_no_other(
    browser_of_owner: Client, harbour: Workspace, owner: User, routine: Routine
) -> None:
    run = make_run(routine, RunStatus.FAIL_MODEL)
    Notice.objects.create(workspace=harbour, routine=routine, run=run, needs_someone=True)
    browser_of_owner.post("/w/harbour/bell/read/")
    session = browser_of_owner.session
    session["bell_read"] |= {"workspace": harbour.pk + 1}
    session.save()
    browser_of_owner.post("/w/harbour/bell/unread/")
    assert how_many_need_someone(harbour, owner) == 0
