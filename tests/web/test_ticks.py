"""A page that stays open asks again: what it gets, how cheap it is when nothing has moved."""

from datetime import timedelta

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Role, User, Workspace
from foundation import clock, database_clock
from routines_app.fires.beats import beat
from routines_app.models import Notice, Routine, Run
from routines_app.rules.status import RunStatus
from routines_app.web import pulse
from tests.factories import NOON, make_member, make_routine, make_run

LIST, BELL = "/w/harbour/routines/", "/w/harbour/bell/"
BRIEF = f"{LIST}brief/"


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    return make_routine(harbour, name="Brief", slug="brief")


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time stands still, so that it alone changes nothing."""
    monkeypatch.setattr(clock, "now", lambda: NOON)


def tick(client: Client, path: str, known: str = "") -> HttpResponse:
    headers = {"HX-Request": "true", "HX-Trigger": "tick"}
    return client.get(path, headers=headers | ({"If-None-Match": known} if known else {}))


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (LIST, ["banner", "bell-top", "bell-line", "hero", "today", "groups", "routine-brief"]),
        (BRIEF, ["banner", "bell-line", "onoff", "said", "beats", "days", "next", "memory"]),
        (BELL, ["banner", "bell-line", "bell-head", "rings", "ring-brief-1"]),
    ],
)
def test_a_page_that_asks_again_gets_its_parts_and_then_304(
    browser_of_owner: Client, harbour: Workspace, routine: Routine, path: str, parts: list[str]
) -> None:
    run = make_run(routine, RunStatus.FAIL_MODEL)
    Notice.objects.create(
        workspace=harbour, routine=routine, run=run, needs_someone=True, rung_at=NOON
    )
    whole = browser_of_owner.get(path)
    first = tick(browser_of_owner, path)
    said = first.content.decode()
    assert "ETag" not in whole and "<html" not in said and "<main" not in said
    for part in parts:
        assert f'id="{part}"' in said, part
        assert f'id="{part}"' in whole.content.decode(), part
    with CaptureQueriesContext(connection) as asked:
        again = tick(browser_of_owner, path, first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    assert (again["ETag"], again["X-Tick"]) == (first["ETag"], "60")
    assert len(asked) <= 4  # the session, the person, the membership, and whether anything moved


@pytest.mark.parametrize("path", [LIST, BRIEF, BELL])
def test_what_moves_is_told(
    browser_of_owner: Client, harbour: Workspace, owner: User, routine: Routine, path: str
) -> None:
    known = tick(browser_of_owner, path)["ETag"]

    def moved() -> bool:
        nonlocal known
        answer = tick(browser_of_owner, path, known)
        known = answer["ETag"]
        return answer.status_code == 200

    run = make_run(routine, RunStatus.RUNNING, at=NOON)
    assert moved() and not moved()
    Run.objects.filter(pk=run.pk).update(spent=40_000)
    assert moved() and not moved()
    Run.objects.filter(pk=run.pk).update(status=RunStatus.FAIL_MODEL, finished_at=NOON)
    notice = Notice.objects.create(
        workspace=harbour, routine=routine, run=run, needs_someone=True, rung_at=NOON
    )
    assert moved() and not moved()
    notice.read_by.add(owner)
    assert moved() and not moved()
    Routine.objects.filter(pk=routine.pk).update(enabled=False, off_at=NOON)
    assert moved() and not moved()
    Workspace.objects.filter(pk=harbour.pk).update(paused_at=NOON)
    assert moved() and not moved()


def test_a_scheduler_that_falls_behind_is_told(
    browser_of_owner: Client, routine: Routine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "now", database_clock.now)
    beat("scan", database_clock.now())
    assert "The scheduler is" not in tick(browser_of_owner, LIST).content.decode()
    known = tick(browser_of_owner, LIST)["ETag"]
    beat_at = database_clock.now() - timedelta(minutes=4)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE routines_app_beat SET at = %s", [beat_at])
    late = tick(browser_of_owner, LIST, known)
    assert "The scheduler is 4 minutes behind." in late.content.decode()


def test_while_anything_is_open_it_asks_every_five_seconds(
    browser_of_owner: Client, harbour: Workspace, routine: Routine
) -> None:
    other = make_routine(harbour, slug="other")
    make_run(other, RunStatus.QUEUED, at=NOON)
    assert tick(browser_of_owner, LIST)["X-Tick"] == "5"
    assert tick(browser_of_owner, BELL)["X-Tick"] == "5"
    assert tick(browser_of_owner, f"{LIST}other/")["X-Tick"] == "5"
    assert tick(browser_of_owner, BRIEF)["X-Tick"] == "60"


def test_words_of_time_are_a_minute_old_at_most_and_ten_seconds_while_a_run_goes_on(
    browser_of_owner: Client, routine: Routine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def same_after(seconds: int) -> bool:
        monkeypatch.setattr(clock, "now", lambda: NOON)
        known = tick(browser_of_owner, LIST)["ETag"]
        monkeypatch.setattr(clock, "now", lambda: NOON + timedelta(seconds=seconds))
        return tick(browser_of_owner, LIST, known).status_code == 304

    assert same_after(59) and not same_after(60)
    make_run(routine, RunStatus.RUNNING, at=NOON)
    assert same_after(9) and not same_after(10)


def test_each_person_and_each_view_has_a_signature_of_its_own(
    browser_of_owner: Client, harbour: Workspace, routine: Routine
) -> None:
    mine = tick(browser_of_owner, BRIEF)["ETag"]
    assert tick(browser_of_owner, f"{BRIEF}?show=wrong", mine).status_code == 200
    viewer = Client()
    viewer.force_login(make_member(harbour, Role.VIEWER))
    assert tick(viewer, BRIEF, mine).status_code == 200


def test_the_same_page_isnt_rendered_again(
    browser_of_owner: Client, routine: Routine, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = tick(browser_of_owner, LIST)["ETag"]
    monkeypatch.setattr("routines_app.web.routine_list.list_rows", None)
    assert tick(browser_of_owner, LIST, known).status_code == 304


def test_somebody_signed_out_is_told_so(client: Client, harbour: Workspace) -> None:
    assert tick(client, LIST).status_code == 401


def test_the_waits_are_those_of_the_guide() -> None:
    assert (pulse.SOON, pulse.SELDOM) == (5, 60)
