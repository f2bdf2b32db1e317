"""The routine page: its sentence, its history by pages and folds, what comes next."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Workspace
from foundation import clock
from machines.providers.base import ProviderUnavailable
from routines_app.models import Conversation, ConversationTurn, Fire, OnSpan, Routine
from routines_app.rules.occurrence import occurrence_key
from routines_app.rules.schedule import to_json
from routines_app.rules.status import RunStatus
from routines_app.web import routine_memory, routine_page
from routines_app.web.history import FILTERS, PAGE, Filter, newest_and_of_kind, newest_runs
from tests.factories import make_routine, make_run, owner_of

ADDRESS = "/w/harbour/routines/brief/"


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    return make_routine(
        harbour,
        name="Brief",
        slug="brief",
        schedule_kind="weekdays",
        schedule_values={"times": ["8:00"]},
        zone="Europe/London",
        check_command="grep <x>",
        next_fire_at=clock.now() + timedelta(hours=3),
    )


def test_the_page_is_its_sentence(browser_of_owner: Client, routine: Routine) -> None:
    page = browser_of_owner.get(ADDRESS).content.decode()
    said = page[page.index('<p class="spoken"') :]
    said = said[: said.index("</p>")]
    words = " ".join(re.sub(r"<[^>]+>", "", said).split())
    assert words.startswith("Every weekday at 8:00, London time, ")
    assert f'<a href="{ADDRESS}edit/#times">8:00</a>' in said
    assert page.count("<li><b>") == 5  # the next five
    assert "<code>grep &lt;x&gt;</code>" in page
    assert "No runs yet. The first is " in page


def test_runs_stand_by_day_newest_first(browser_of_owner: Client, routine: Routine) -> None:
    now = clock.now()
    for days in (9, 8, 1):
        make_run(routine, at=now - timedelta(days=days), headline=f"{days} days ago")
    page = browser_of_owner.get(ADDRESS).content.decode()
    assert page.count('class="hb" aria-hidden="true"') == 4  # three runs and the expected one
    page = page[page.index(">History</h2>") :]
    assert page.index("1 days ago.") < page.index("8 days ago.") < page.index("9 days ago.")
    assert page.count("<h3>") == 3


def test_ten_quiet_checks_fold(browser_of_owner: Client, routine: Routine) -> None:
    start = clock.now().replace(hour=10, minute=0) - timedelta(days=3)
    for number in range(12):
        make_run(routine, RunStatus.NOTHING_TO_DO, at=start + timedelta(minutes=number))
    page = browser_of_owner.get(ADDRESS).content.decode()
    assert "12 checks found nothing, 10:00 to 10:11" in page
    assert page.count('<details class="fold"') == 1


def test_nine_quiet_checks_stay_apart(browser_of_owner: Client, routine: Routine) -> None:
    start = clock.now().replace(hour=10, minute=0) - timedelta(days=3)
    for number in range(9):
        make_run(routine, RunStatus.NOTHING_TO_DO, at=start + timedelta(minutes=number))
    assert "checks found nothing" not in browser_of_owner.get(ADDRESS).content.decode()


def test_history_pages_by_number(browser_of_owner: Client, routine: Routine) -> None:
    for _ in range(PAGE + 3):
        make_run(routine)
    first = browser_of_owner.get(ADDRESS).content.decode()
    assert f"?before={4}" in first and first.count('<li class="run"') == PAGE
    older = browser_of_owner.get(f"{ADDRESS}?before=4", headers={"HX-Request": "true"})
    part = older.content.decode()
    assert part.count('<li class="run"') == 3 and "<main" not in part and "before=" not in part
    whole = browser_of_owner.get(f"{ADDRESS}?before=4").content.decode()
    assert whole.count('<li class="run"') == 3 and "<main" in whole
    assert browser_of_owner.get(f"{ADDRESS}?before=x").status_code == 200


def test_more_history_asks_no_more_questions(browser_of_owner: Client, routine: Routine) -> None:
    counts = []
    for runs in (3, 30):
        for _ in range(runs):
            make_run(routine)
        with CaptureQueriesContext(connection) as asked:
            browser_of_owner.get(ADDRESS)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_a_continued_and_filtered_page_asks_no_more_than_others(
    browser_of_owner: Client, routine: Routine
) -> None:
    runs = [make_run(routine, status) for status in (RunStatus.DONE_CHANGED, RunStatus.FAIL_MODEL)]

    def asked(query: str) -> int:
        with CaptureQueriesContext(connection) as found:
            assert browser_of_owner.get(f"{ADDRESS}{query}").status_code == 200
        return len(found)

    plain = asked("")
    Routine.objects.filter(pk=routine.pk).update(conversation="continued")
    talk = Conversation.objects.create(routine=routine)
    for run in runs:
        ConversationTurn.objects.create(
            conversation=talk, run=run, number=run.number, talk="[]", size=4_000, reread=20_000
        )
    page = browser_of_owner.get(f"{ADDRESS}?show=wrong").content.decode()
    assert "2 runs, " in page and "about $0.02" in page
    for query in ("", "?show=wrong", "?show=asked&range=week", "?range=all"):
        assert asked(query) <= plain, query
    assert plain <= 13


@pytest.mark.parametrize("kind", FILTERS, ids=lambda each: each.code or "all")
def test_the_newest_and_those_of_a_kind_are_the_same_in_one_query_as_in_two(
    routine: Routine, kind: Filter
) -> None:
    person = owner_of(routine.workspace)
    statuses = (RunStatus.NOTHING_TO_DO, RunStatus.FAIL_MODEL, RunStatus.DONE_CHANGED)
    for number in range(12):
        asked_by = person if number % 4 == 0 else None
        make_run(routine, statuses[number % 3], requested_by=asked_by)
    both = newest_and_of_kind(routine, 4, kind, 3)
    assert both == (newest_runs(routine, 4), newest_runs(routine, 3, kind=kind))


def test_its_memory_is_shown_as_text(
    browser_of_owner: Client, routine: Routine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routine_page, "read_memory", lambda _: "tone: <b>short</b>")
    assert "tone: &lt;b&gt;short&lt;/b&gt;" in browser_of_owner.get(ADDRESS).content.decode()


def test_unreadable_memory_leaves_the_page(
    browser_of_owner: Client, routine: Routine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise ProviderUnavailable("The place where machines run can't be used.")

    assert routine.machine is not None
    routine.machine.ref = "made"
    routine.machine.save()
    monkeypatch.setattr(routine_memory, "provider_for", refuse)
    page = browser_of_owner.get(ADDRESS)
    assert page.status_code == 200 and "What it remembers" not in page.content.decode()


def test_a_deleted_routine_isnt_there(browser_of_owner: Client, routine: Routine) -> None:
    Routine.objects.filter(pk=routine.pk).update(deleted_at=clock.now())
    assert browser_of_owner.get(ADDRESS).status_code == 404
    assert browser_of_owner.post(f"{ADDRESS}run/").status_code == 404


def test_the_page_says_how_many_occurrences_have_their_row(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    routine = make_routine(harbour, slug="tides", next_fire_at=clock.now() + timedelta(days=1))
    today = clock.now().replace(hour=8, minute=0, second=0, microsecond=0)
    OnSpan.objects.create(
        routine=routine,
        started_at=today - timedelta(days=4, hours=1),
        ended_at=today - timedelta(days=1, hours=1),
        schedule=to_json(routine.schedule),
    )
    for days in (4, 3):
        run = make_run(routine, at=today - timedelta(days=days))
        Fire.objects.filter(pk=run.fire_id).update(dedup_key=occurrence_key(run.fire.due_at))
    page = browser_of_owner.get("/w/harbour/routines/tides/").content.decode()
    assert "2 of 3 occurrences accounted for in six weeks." in page
