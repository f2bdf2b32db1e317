"""The routine page's past: its ranges, its filter, older days, and that it is well again; and the
list's words for what is late and for what turned itself off."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User, Workspace
from foundation import clock
from machines.lifecycle import MachineState
from routines_app.models import Notice, Routine, RoutineTotals, Run
from routines_app.rules.status import LIVE_STATUSES, RunStatus
from routines_app.web.history import PAGE
from tests.factories import make_member, make_routine, make_run

LIST = "/w/harbour/routines/"
BRIEF = f"{LIST}brief/"
DAY = timedelta(days=1)


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    return make_routine(
        harbour, name="Brief", slug="brief", next_fire_at=clock.now() + timedelta(hours=3)
    )


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


def row_of(page: str, run: Run) -> str:
    found = re.search(rf'<li class="run" id="run-{run.number}">(.*?)</li>', page, re.S)
    assert found, run.status
    return found.group(1)


def test_a_range_counts_its_own_runs_and_all_counts_all(
    browser_of_owner: Client, routine: Routine
) -> None:
    now = clock.now()
    for days, status, spent in (
        (60, RunStatus.DONE_CHANGED, 500_000),
        (20, RunStatus.DONE_CHANGED, 300_000),
        (3, RunStatus.SKIP_OVERLAP, 0),
        (2, RunStatus.FAIL_RESTART, 70_000),
        (1, RunStatus.DONE_CHANGED, 100_000),
    ):
        cause = "ours" if status is RunStatus.FAIL_RESTART else ""
        make_run(routine, status, at=now - days * DAY, spent=spent, cause=cause)
    RoutineTotals.objects.create(routine=routine, runs=4, refusals=1, failures=1, spent=900_000)
    said = {}
    for code in ("week", "weeks", "all"):
        page = browser_of_owner.get(BRIEF, {"range": code}).content.decode()
        panel = page[page.index('id="beats"') : page.index('id="history"')]
        said[code] = text(panel[panel.index("<p>") : panel.index("</p>")])
        assert panel.count('aria-current="true"') == 1
        said[f"{code} ticks"] = str(panel.count("<li>") - 1)  # without the expected one
    assert said == {
        "week": "2 runs · $0.10 · typically 30s · 1 didn’t run",
        "week ticks": "3",
        "weeks": "3 runs · $0.40 · typically 30s · 1 didn’t run",
        "weeks ticks": "4",
        "all": "4 runs · $0.90 · typically 30s · 1 didn’t run",
        "all ticks": "5",
    }
    assert browser_of_owner.get(BRIEF, {"range": "x"}).status_code == 200


def test_more_runs_than_are_drawn_are_said_to_be_so(
    browser_of_owner: Client, routine: Routine
) -> None:
    for _ in range(62):
        make_run(routine)
    page = browser_of_owner.get(f"{BRIEF}?range=all").content.decode()
    assert "Drawn: the newest 60." in page


def test_the_filter_shows_a_kind_alone_and_goes_on_in_older_pages(
    browser_of_owner: Client, routine: Routine, owner: User
) -> None:
    now = clock.now()
    for _ in range(PAGE + 1):
        make_run(routine, RunStatus.FAIL_SCRIPT, at=now - DAY, cause="theirs")
    asked = make_run(routine, at=now, source="manual", requested_by=owner)
    wrong = browser_of_owner.get(f"{BRIEF}?show=wrong").content.decode()
    assert wrong.count('<li class="run"') == PAGE and "Filter: Went wrong" in wrong
    assert f'id="run-{asked.number}"' not in wrong
    assert f"{BRIEF}?show=wrong&amp;before=2" in wrong
    older = browser_of_owner.get(
        f"{BRIEF}?show=wrong&before=2", headers={"HX-Request": "true"}
    ).content.decode()
    assert older.count('<li class="run"') == 1
    by_person = browser_of_owner.get(f"{BRIEF}?show=asked").content.decode()
    assert re.findall(r'id="run-(\d+)"', by_person) == [str(asked.number)]
    none = browser_of_owner.get(f"{BRIEF}?show=skipped").content.decode()
    assert "No run of this kind: didn’t run." in none


def test_a_day_that_goes_on_in_older_runs_has_one_heading(
    browser_of_owner: Client, routine: Routine
) -> None:
    noon = clock.now().replace(hour=12, minute=0) - 3 * DAY
    for number in range(PAGE + 3):
        make_run(routine, at=noon + timedelta(minutes=number) - (DAY if number == 0 else 0 * DAY))
    first = browser_of_owner.get(BRIEF).content.decode()
    assert first.count("<h3>") == 1
    older = browser_of_owner.get(f"{BRIEF}?before=4", headers={"HX-Request": "true"})
    part = older.content.decode()
    assert part.count('<li class="run"') == 3 and part.count("<h3>") == 1
    assert part.index('id="run-2"') < part.index("<h3>") < part.index('id="run-1"')


def test_a_good_run_after_five_failures_says_so_in_history_and_list(
    browser_of_owner: Client, routine: Routine
) -> None:
    now = clock.now()
    make_run(routine, at=now - 8 * DAY)
    for days in range(7, 2, -1):
        make_run(routine, RunStatus.FAIL_SCRIPT, at=now - days * DAY, cause="theirs")
    make_run(routine, RunStatus.FAIL_RESTART, at=now - 2 * DAY, cause="ours")
    good = make_run(routine, at=now - DAY, headline="Prices read")
    said = "Back in time. First good run after five failures."
    page = browser_of_owner.get(BRIEF).content.decode()
    assert said in row_of(page, good) and page.count(said) == 1
    assert said in browser_of_owner.get(LIST).content.decode()
    make_run(routine, at=now)
    assert said not in browser_of_owner.get(LIST).content.decode()
    assert said in row_of(browser_of_owner.get(BRIEF).content.decode(), good)


def test_the_first_tick_draws_itself_only_while_it_is_new(
    browser_of_owner: Client, routine: Routine
) -> None:
    first = make_run(routine, at=clock.now() - timedelta(seconds=40), seconds=30)
    assert browser_of_owner.get(BRIEF).content.decode().count('class="draws"') == 1
    Run.objects.filter(pk=first.pk).update(finished_at=clock.now() - timedelta(minutes=3))
    assert 'class="draws"' not in browser_of_owner.get(BRIEF).content.decode()
    make_run(routine, at=clock.now() - timedelta(seconds=40), seconds=30)
    assert 'class="draws"' not in browser_of_owner.get(BRIEF).content.decode()


def test_what_is_late_is_said_to_wait(browser_of_owner: Client, routine: Routine) -> None:
    due = clock.now() - timedelta(minutes=3)
    Routine.objects.update(next_fire_at=due, name="Weekly numbers", zone="Europe/London")
    page = browser_of_owner.get(LIST).content.decode()
    row = page[page.index('id="routine-brief"') :]
    assert re.search(r"Waiting</span> — due at \d+:\d\d", row)
    assert "starts as soon as we’ve caught up" in row
    assert "Waiting: Weekly numbers, due at " in page
    assert page.count('class="next wait"') == 2  # in its heartbeat and on the ribbon
    assert "1 waiting" in page
    Workspace.objects.update(paused_at=clock.now())
    assert "Waiting" not in browser_of_owner.get(LIST).content.decode()


def test_one_that_turned_itself_off_says_where_it_stopped_in_as_many_questions(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    now = clock.now()

    def fail(slug: str) -> None:
        routine = make_routine(
            harbour, slug=slug, enabled=False, off_reason="failures", off_at=now, next_fire_at=None
        )
        make_run(routine, RunStatus.FAIL_SCRIPT, at=now - 6 * DAY, cause="theirs",
                 facts={"exit_code": 9})  # fmt: skip
        for days in range(5, 0, -1):
            facts = {"exit_code": 3} | ({"turned_off": True} if days == 1 else {})
            run = make_run(
                routine, RunStatus.FAIL_SCRIPT, at=now - days * DAY, cause="theirs", facts=facts
            )
        Notice.objects.create(workspace=harbour, routine=routine, run=run, needs_someone=True)

    def asked(path: str) -> int:
        with CaptureQueriesContext(connection) as found:
            page = browser_of_owner.get(path).content.decode()
        assert "exit 3" in page
        return len(found)

    fail("one")
    paths = (LIST, f"{LIST}one/", f"{LIST}one/?show=wrong&range=week", "/w/harbour/bell/")
    few = [asked(path) for path in paths]
    page = browser_of_owner.get(LIST).content.decode()
    assert "Each stopped at the same place: the script ended with exit 3. Nothing more" in page
    for number in range(4):
        fail(f"more-{number}")
    assert [asked(path) for path in paths] == few
    assert max(few) < 15, few


RUN_NOW, TURN_ON = "Run it now", "Turn it on"


def facts_of(status: RunStatus) -> dict[str, object]:
    """Facts with which each sentence is whole."""
    return {"other_number": 1, "other_at": "2027-03-25T09:00:00+00:00", "exit_code": 3}


@pytest.mark.parametrize("troubled", [False, True])
def test_every_action_in_history_leads_where_it_says(
    browser_of_owner: Client, harbour: Workspace, routine: Routine, troubled: bool
) -> None:
    runs = {
        status: make_run(routine, status, facts=facts_of(status), cause="theirs")
        for status in RunStatus
        if status not in LIVE_STATUSES
    }
    if troubled:
        Routine.objects.update(enabled=False, off_reason="failures", off_at=clock.now())
        harbour.machines.update(state=MachineState.ARCHIVED)
        Workspace.objects.update(paused_at=clock.now())
    page = browser_of_owner.get(BRIEF).content.decode()
    links, posts = {}, {}
    for status, run in runs.items():
        second = row_of(page, run).split('class="do">')[-1]
        for href, words in re.findall(r'<a class="link" href="([^"]+)">([^<]+)</a>', second):
            links[status] = (href, words)
        for form in re.findall(r'action="([^"]+)"', second):
            posts[status] = form
    for status, (href, words) in links.items():
        address, _, anchor = href.partition("#")
        answer = browser_of_owner.get(address)
        assert answer.status_code == 200, (status, href, words)
        if anchor:
            assert f'id="{anchor}"' in answer.content.decode(), (status, href)
    for status, href in posts.items():
        answer = browser_of_owner.post(href, {"then": BRIEF, "key": status.value})
        assert answer.status_code == 302, (status, href)
        assert browser_of_owner.get(answer["Location"]).status_code == 200, status
    run_now = reverse("run_now", args=["harbour", "brief"])
    assert posts[RunStatus.FAIL_MODEL] == run_now
    assert links[RunStatus.STOP_COST][0].endswith("edit/#cap")
    undone = {RunStatus.SKIP_OFF, RunStatus.SKIP_COLD}
    assert undone <= {*links, *posts} if troubled else not undone & {*links, *posts}


def test_a_row_offers_only_what_its_reader_may_do(
    client: Client, harbour: Workspace, routine: Routine
) -> None:
    capped = make_run(routine, RunStatus.STOP_COST, cause="theirs")
    failed = make_run(routine, RunStatus.FAIL_MODEL, cause="theirs")
    client.force_login(make_member(harbour, "viewer"))
    page = client.get(BRIEF).content.decode()
    assert "Raise the cap" not in row_of(page, capped) and RUN_NOW not in row_of(page, failed)
    client.force_login(make_member(harbour, "member"))
    page = client.get(BRIEF).content.decode()
    assert "Raise the cap" not in row_of(page, capped) and RUN_NOW in row_of(page, failed)


def test_a_run_that_waits_says_its_place(browser_of_owner: Client, harbour: Workspace) -> None:
    now = clock.now()
    first = make_routine(harbour, slug="first", machine=harbour.machines.get())
    second = make_routine(harbour, slug="second", machine=harbour.machines.get())
    make_run(first, RunStatus.QUEUED, at=now - timedelta(minutes=2))
    waits = make_run(second, RunStatus.QUEUED, at=now - timedelta(minutes=1))
    row = row_of(browser_of_owner.get(f"{LIST}second/").content.decode(), waits)
    assert "Second in line for" in row
