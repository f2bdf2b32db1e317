"""The bell: what rang, what needs someone, and who has read it."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Role, User, Workspace
from foundation import clock
from routines_app.delivery import deliver_waiting, tell
from routines_app.delivery.attention import how_many_need_someone
from routines_app.models import Notice, Routine, Run
from routines_app.rules.status import RunStatus
from tests.factories import make_member, make_routine, make_run, make_workspace

pytestmark = pytest.mark.django_db


def ring(routine: Routine, status: RunStatus, minutes: int = 5, **fields: Any) -> Run:
    """A run that ended so many minutes ago, told as the recording of it tells it."""
    at = clock.now() - timedelta(minutes=minutes)
    run = make_run(routine, status, at=at, **fields)
    tell(run, routine)
    deliver_waiting()
    return run


def section(page: str, heading: str) -> str:
    """What stands beneath this heading, up to the next one."""
    return page.split(f"<h3>{heading}</h3>")[1].split("<h3>")[0]


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    return make_routine(harbour, name="Competitor prices", agent=harbour.agents.get(slug="script"))


def test_an_empty_bell_says_what_would_ring(browser_of_owner: Client) -> None:
    page = browser_of_owner.get("/w/harbour/bell/").content.decode()
    assert "Quiet. Failures always ring here." in page
    assert "Mark all read" not in page


def test_what_needs_someone_stands_first_in_its_own_words_with_one_act(
    browser_of_owner: Client, harbour: Workspace, routine: Routine
) -> None:
    ring(make_routine(harbour, name="Morning brief"), RunStatus.DONE_CHANGED, headline="Sent it.")
    ring(routine, RunStatus.FAIL_CHECK_MISSING, facts={"command": "gti", "exit_code": 127})
    page = browser_of_owner.get("/w/harbour/bell/").content.decode()
    assert "<h1>One unread ring needs someone</h1>" in page
    assert "Two rang in seven days." in page
    needs = section(page, "Needs someone")
    assert "Competitor prices" in needs
    assert "has no command called “gti”" in needs
    assert "Fix the check" in needs
    assert "Morning brief" not in needs
    assert "Sent it." in page
    assert 'aria-label="Notifications, 1 unread needs someone"' in page


def test_a_later_failure_of_the_same_routine_takes_the_place_of_the_earlier(
    harbour: Workspace, owner: User, routine: Routine
) -> None:
    for minutes in (30, 20, 10):
        ring(routine, RunStatus.FAIL_MODEL, minutes)
    ring(make_routine(harbour), RunStatus.SKIP_WAKE_TIMEOUT)
    assert how_many_need_someone(harbour, owner) == 2
    assert Notice.objects.filter(needs_someone=True, routine=routine).get().run.number == 3


@pytest.mark.parametrize(
    ("first", "turn", "then", "waiting"),
    [
        (RunStatus.FAIL_MODEL, True, RunStatus.DONE_UNCHANGED, 0),
        (RunStatus.FAIL_MODEL, True, RunStatus.NOTHING_TO_DO, 1),
        (RunStatus.FAIL_CHECK_MISSING, False, RunStatus.NOTHING_TO_DO, 0),
        (RunStatus.SKIP_WAKE_TIMEOUT, False, RunStatus.NOTHING_TO_DO, 0),
        (RunStatus.SKIP_WAKE_TIMEOUT, False, RunStatus.STOP_PERSON, 1),
    ],
)
def test_a_run_that_got_further_settles_what_rang_before(
    harbour: Workspace,
    owner: User,
    routine: Routine,
    first: RunStatus,
    turn: bool,
    then: RunStatus,
    waiting: int,
) -> None:
    ring(routine, first, 30, turn_at=clock.now() if turn else None)
    assert how_many_need_someone(harbour, owner) == 1
    ring(routine, then, 5)
    assert how_many_need_someone(harbour, owner) == waiting


def test_a_ring_that_is_late_knows_what_came_after(
    harbour: Workspace, owner: User, routine: Routine
) -> None:
    failed = make_run(routine, RunStatus.FAIL_MODEL)
    tell(failed, routine)
    tell(make_run(routine, RunStatus.DONE_UNCHANGED), routine)
    deliver_waiting()
    assert Notice.objects.filter(run=failed, needs_someone=False).exists()
    assert how_many_need_someone(harbour, owner) == 0


def test_opening_the_run_reads_it_for_that_person_alone(
    browser_of_owner: Client, harbour: Workspace, owner: User, routine: Routine
) -> None:
    run = ring(routine, RunStatus.FAIL_MODEL)
    other = make_member(harbour, Role.MEMBER)
    browser_of_owner.get(f"/w/harbour/routines/{routine.slug}/runs/{run.number}/")
    assert how_many_need_someone(harbour, owner) == 0
    assert how_many_need_someone(harbour, other) == 1
    page = browser_of_owner.get("/w/harbour/bell/").content.decode()
    assert "<h1>All read. One still needs someone.</h1>" in page
    assert "Competitor prices" in section(page, "Today")


def test_the_list_counts_routines_and_the_bell_unread_rings(
    browser_of_owner: Client, harbour: Workspace, routine: Routine
) -> None:
    """Each says what it counts, so that two different numbers on a page puzzle nobody."""
    ring(routine, RunStatus.FAIL_MODEL)
    for key in ("missed a", "missed b"):
        Notice.objects.create(
            workspace=harbour, key=key, needs_someone=True,
            facts={"routines": 1, "count": 2, "from": "2027-03-25T07:00:00+00:00",
                   "to": "2027-03-25T08:00:00+00:00", "embedded": False},
        )  # fmt: skip
    listed = browser_of_owner.get("/w/harbour/routines/").content.decode()
    assert "One routine needs you." in listed
    assert 'aria-label="Notifications, 3 unread need someone"' in listed
    more = browser_of_owner.get("/w/harbour/more/").content.decode()
    assert "Three unread rings need someone" in more
    bell = browser_of_owner.get("/w/harbour/bell/").content.decode()
    assert "<h1>Three unread rings need someone</h1>" in bell
    browser_of_owner.post("/w/harbour/bell/read/")
    bell = browser_of_owner.get("/w/harbour/bell/").content.decode()
    assert "<h1>All read. Three still need someone.</h1>" in bell


def test_mark_all_read_works_without_script_and_in_the_panel(
    browser_of_owner: Client, harbour: Workspace, owner: User, routine: Routine
) -> None:
    ring(routine, RunStatus.FAIL_MODEL)
    answer = browser_of_owner.post("/w/harbour/bell/read/", follow=True)
    assert "All is read." in answer.content.decode()
    assert 'class="new"' not in answer.content.decode()
    ring(routine, RunStatus.FAIL_MODEL)
    headers = {"HX-Request": "true"}
    panel = browser_of_owner.get("/w/harbour/bell/", headers=headers).content.decode()
    assert (
        "<html" not in panel
        and '<h2 id="bp" tabindex="-1">One unread ring needs someone</h2>' in panel
    )
    headers |= {"HX-Target": "bell-panel"}
    panel = browser_of_owner.post("/w/harbour/bell/read/", headers=headers).content.decode()
    assert "All read. One still needs someone." in panel
    assert 'id="bell-top"' in panel and 'id="bell-line"' in panel
    assert how_many_need_someone(harbour, owner) == 0


def test_a_viewer_reads_their_own_bell_but_acts_on_nothing(
    client: Client, harbour: Workspace, owner: User, routine: Routine
) -> None:
    ring(routine, RunStatus.FAIL_MODEL)
    client.force_login(make_member(harbour, Role.VIEWER))
    page = client.get("/w/harbour/bell/").content.decode()
    assert "Competitor prices" in page
    assert "Run it now" not in page and "Mark all read" in page
    answer = client.post("/w/harbour/bell/read/", follow=True)
    assert answer.status_code == 200 and "All is read." in answer.content.decode()
    assert how_many_need_someone(harbour, owner) == 1


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (
            {"count": 3, "routines": 2, "embedded": True},
            '<b class="skip">Three runs of two routines were missed</b> while this computer was '
            "off or asleep from 7:52 to 8:11.",
        ),
        (
            {"count": 1, "routines": 1, "embedded": False},
            '<b class="skip">One run was missed</b> while our scheduler was down from 7:52 to '
            "8:11.",
        ),
    ],
)
def test_a_digest_is_one_sentence(
    browser_of_owner: Client, harbour: Workspace, facts: dict[str, object], said: str
) -> None:
    today = clock.now().astimezone(ZoneInfo("Europe/London")).replace(hour=7, minute=52)
    times = {
        "down_from": today.isoformat(),
        "down_to": today.replace(hour=8, minute=11).isoformat(),
    }
    Notice.objects.create(
        workspace=harbour, key="missed x", facts=facts | times, needs_someone=True
    )
    page = browser_of_owner.get("/w/harbour/bell/").content.decode()
    assert said in page
    assert "See the routines" in page
    assert "<h1>One unread ring needs someone</h1>" in page


def test_the_number_is_never_cut_short(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    Notice.objects.bulk_create(
        Notice(workspace=harbour, key=f"missed {n}", facts={"count": 1}, needs_someone=True)
        for n in range(140)
    )
    page = browser_of_owner.get("/w/harbour/bell/").content.decode()
    assert "<h1>140 unread rings need someone</h1>" in page
    assert '<b aria-hidden="true">140</b>' in page


def test_older_rings_are_a_page_away_and_none_is_lost(
    browser_of_owner: Client, harbour: Workspace, routine: Routine
) -> None:
    start = clock.now()
    for n in range(130):
        Notice.objects.create(
            workspace=harbour,
            key=f"missed {n}",
            facts={"count": n + 2, "routines": 1},
            rung_at=start - timedelta(minutes=n),
        )
    first = browser_of_owner.get("/w/harbour/bell/")
    older = first.context["bell_list"].older
    second = browser_of_owner.get("/w/harbour/bell/", {"before": older.isoformat()})
    seen = [
        item.sentence.lead
        for answer in (first, second)
        for group in answer.context["bell_list"].groups
        for item in group.items
    ]
    assert len(seen) == len(set(seen)) == 130
    assert second.context["bell_list"].older is None


def test_another_workspace_and_a_deleted_routine_ring_nowhere_here(
    browser_of_owner: Client, harbour: Workspace, owner: User, routine: Routine
) -> None:
    ring(make_routine(make_workspace(), name="Not ours"), RunStatus.FAIL_MODEL)
    ring(routine, RunStatus.FAIL_MODEL)
    Routine.objects.filter(pk=routine.pk).update(deleted_at=clock.now())
    page = browser_of_owner.get("/w/harbour/bell/").content.decode()
    assert "Not ours" not in page and "Competitor prices" not in page
    assert how_many_need_someone(harbour, owner) == 0


def test_the_list_takes_as_many_queries_for_one_ring_as_for_many(
    browser_of_owner: Client, harbour: Workspace, routine: Routine
) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as found:
            browser_of_owner.get("/w/harbour/bell/")
        return len(found)

    ring(routine, RunStatus.FAIL_MODEL)
    once = asked()
    for _ in range(5):
        ring(make_routine(harbour), RunStatus.FAIL_MODEL)
    assert asked() == once


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ([3, 3, 3, 3, 3], "Each stopped at the same place: the script ended with exit 3."),
        ([1, 2, 3, 3, 4], "The last: Failed. The script ended with exit 4."),
    ],
)
def test_a_routine_that_turned_itself_off_says_where_every_failure_stopped(
    browser_of_owner: Client, harbour: Workspace, routine: Routine, codes: list[int], said: str
) -> None:
    ring(routine, RunStatus.FAIL_SCRIPT, 90, facts={"exit_code": 9})
    for place, code in enumerate(codes):
        last = place == len(codes) - 1
        facts = {"exit_code": code} | ({"turned_off": True} if last else {})
        ring(routine, RunStatus.FAIL_SCRIPT, 60 - place, facts=facts)
    page = browser_of_owner.get("/w/harbour/bell/").content.decode()
    assert "<h1>One unread ring needs someone</h1>" in page
    needs = section(page, "Needs someone")
    assert "Turned itself off</b> after five failures in a row." in needs
    assert said in needs
    assert "See what failed" in needs
    Routine.objects.update(enabled=False, off_reason="failures", off_at=clock.now())
    about = browser_of_owner.get(f"/w/harbour/routines/{routine.slug}/").content.decode()
    stops = about.split('class="stops"')[1].split("</ul>")[0]
    assert [
        f"exit {code}." in row for code, row in zip(codes, stops.split("<li>")[1:], strict=True)
    ] == [True] * 5


def test_what_has_needed_someone_for_days_says_since_which(
    browser_of_owner: Client, owner: User, routine: Routine
) -> None:
    ring(routine, RunStatus.FAIL_MODEL)
    rung = clock.now() - timedelta(days=3)
    Notice.objects.update(rung_at=rung)
    local = rung.astimezone(ZoneInfo(owner.zone))
    page = browser_of_owner.get("/w/harbour/bell/").content.decode()
    needs = section(page, "Needs someone")
    assert f">{local.day} {local:%b}, {local.hour}:{local.minute:02d}</time>" in needs
