"""The list: its true headline, its groups, its heartbeats, and how many questions it asks."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Role, User, Workspace
from foundation import clock
from routines_app.configure.pause import pause_workspace
from routines_app.models import Routine
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.heartbeat import describe, heartbeat
from routines_app.web.routine_list import Headline, headline
from routines_app.web.routine_rows import typical_of
from tests.factories import make_member, make_routine, make_run

LIST = "/w/harbour/routines/"


@pytest.mark.parametrize(
    ("on", "needs", "off", "well", "needed"),
    [
        (5, 1, 1, "Five are keeping time.", "One routine needs you."),
        (6, 0, 0, "All six are keeping time.", ""),
        (2, 0, 0, "Both are keeping time.", ""),
        (6, 0, 1, "Six are keeping time.", ""),
        (1, 0, 0, "One is keeping time.", ""),
        (1, 2, 0, "One is keeping time.", "Two routines need you."),
        (0, 2, 0, "", "Two routines need you."),
        (0, 0, 3, "Everything is off.", ""),
        (40, 0, 0, "All 40 are keeping time.", ""),
    ],
)
def test_the_headline_is_true(on: int, needs: int, off: int, well: str, needed: str) -> None:
    assert headline(on, needs, off) == Headline(well, needed)


def test_the_headline_knows_pauses_and_routines_that_wait_to_be_asked() -> None:
    assert headline(3, 1, 1, paused=True) == Headline(
        "Everything is paused.", "One routine needs you."
    )
    assert headline(0, 0, 0, asked=1) == Headline("One waits to be asked.", "")
    assert headline(0, 1, 2, asked=2) == Headline("Two wait to be asked.", "One routine needs you.")
    assert headline(2, 0, 0, asked=1) == Headline("Two are keeping time.", "")


def test_only_when_asked_is_neither_on_nor_off(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    fields = {"schedule_kind": "when_asked", "schedule_values": {}, "expressions": []}
    routine = make_routine(
        harbour, enabled=False, off_reason="never_on", next_fire_at=None, **fields
    )
    page = browser_of_owner.get(LIST).content.decode()
    assert "One waits to be asked." in page and ">Only when asked <span>" in page
    assert "Not turned on yet" not in page and "Everything is off." not in page
    own = browser_of_owner.get(f"{LIST}{routine.slug}/").content.decode()
    assert "Not turned on yet" not in own and "its schedule doesn" not in own
    Routine.objects.update(off_reason="person")
    own = browser_of_owner.get(f"{LIST}{routine.slug}/").content.decode()
    assert "Run it now works all the same." in own and "its schedule doesn" not in own


def test_while_everything_is_paused_nothing_keeps_time(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    make_routine(harbour, next_fire_at=clock.now() + timedelta(minutes=10))
    assert "Next: " in browser_of_owner.get(LIST).content.decode()
    pause_workspace(harbour, owner)
    page = browser_of_owner.get(LIST).content.decode()
    assert "Everything is paused." in page
    assert "keeping time" not in page and "Next: " not in page


def test_a_heartbeat_is_one_image_in_words() -> None:
    shapes = [Shape.DONE] * 21 + [Shape.QUIET] * 6 + [Shape.POINT]
    said = "Last 28 runs: 21 done, 6 nothing to report, 1 failed. Latest: failed."
    assert describe(shapes) == said
    drawn = heartbeat(shapes, expects=True)
    assert drawn.count('role="img"') == 1 and f'aria-label="{said}"' in drawn
    assert drawn.count('class="done"') == 21 and drawn.count('class="next"') == 1


def test_a_heartbeat_keeps_the_newest() -> None:
    shapes = [Shape.POINT] * 3 + [Shape.DONE] * 28
    assert 'class="fail"' not in heartbeat(shapes, expects=False)


@pytest.mark.parametrize("shape", list(Shape))
def test_every_shape_is_drawn(shape: Shape) -> None:
    assert (
        heartbeat([shape], expects=False).count("<rect")
        + heartbeat([shape], expects=False).count("<circle")
        + heartbeat([shape], expects=False).count("<path")
        == 2
    )


def test_a_new_workspace_sees_the_starters(browser_of_owner: Client) -> None:
    page = browser_of_owner.get(LIST).content.decode()
    assert "What should already be done when you arrive?" in page
    assert "Tell me what changed in a folder since last time" in page


def test_routines_stand_in_their_groups(browser_of_owner: Client, harbour: Workspace) -> None:
    now = clock.now()
    make_run(make_routine(harbour, name="Good one"), at=now - timedelta(hours=1), headline="Fine")
    bad = make_routine(harbour, name="Bad one")
    make_run(bad, RunStatus.FAIL_AGENT, at=now - timedelta(hours=1), cause="theirs",
             facts={"reason": "no sign-in"})  # fmt: skip
    make_routine(harbour, name="Quiet one", enabled=False, off_reason="never_on")
    page = browser_of_owner.get(LIST).content.decode()
    assert "One is keeping time." in page and "One routine needs you." in page
    order = [page.index(f">{name} <span>") for name in ("Needs you", "On", "Off")]
    assert order == sorted(order)
    needs, on = page.index(">Needs you <span>"), page.index(">On <span>")
    assert needs < page.index(">Bad one<") < on < page.index(">Good one<")
    assert "It said it couldn’t finish: no sign-in." in page
    assert "Not turned on yet" in page


@pytest.mark.parametrize(
    ("status", "said"),
    [(RunStatus.RUNNING, "Running"), (RunStatus.FAIL_AGENT, "Failed")],
)
def test_a_routine_that_is_off_still_shows_its_run(
    browser_of_owner: Client, harbour: Workspace, status: RunStatus, said: str
) -> None:
    routine = make_routine(harbour, enabled=False, off_reason="never_on")
    make_run(routine, status, at=clock.now() - timedelta(minutes=1), cause="theirs")
    page = browser_of_owner.get(LIST).content.decode()
    last = page[page.index('<div class="last">') :]
    assert said in last[: last.index("Not turned on yet")]


def test_our_own_faults_need_nobody(browser_of_owner: Client, harbour: Workspace) -> None:
    routine = make_routine(harbour)
    make_run(routine, RunStatus.FAIL_RESTART, cause="ours")
    assert "needs you" not in browser_of_owner.get(LIST).content.decode()


def test_more_routines_and_runs_ask_no_more_questions(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    def fill(count: int) -> None:
        for _ in range(count):
            routine = make_routine(harbour)
            for _ in range(3):
                make_run(routine, turn_at=clock.now())

    fill(2)
    with CaptureQueriesContext(
        connection,
    ) as few:
        browser_of_owner.get(LIST)
    fill(10)
    with CaptureQueriesContext(connection) as many:
        browser_of_owner.get(LIST)
    assert len(many) == len(few)
    assert len(many) < 20  # the frame's own counts are among them


def test_a_short_run_has_its_tenths(browser_of_owner: Client, harbour: Workspace) -> None:
    make_run(make_routine(harbour), seconds=0.6)
    page = browser_of_owner.get(LIST).content.decode()
    assert "· 0.6s" in page and "· 0s" not in page


def test_typical_is_of_three_runs_that_were_done(harbour: Workspace) -> None:
    routine = make_routine(harbour)
    turn = clock.now()
    for seconds in (10, 20):
        make_run(routine, seconds=seconds, turn_at=turn)
    make_run(routine, RunStatus.FAIL_SCRIPT, seconds=900, turn_at=turn, cause="theirs")
    make_run(routine, RunStatus.STOP_PERSON, seconds=900, turn_at=turn)
    assert typical_of([routine.pk]) == {}
    third = make_run(routine, RunStatus.DONE_UNCHANGED, seconds=30, turn_at=turn)
    assert typical_of([routine.pk])[routine.pk].seconds == 20
    assert typical_of([routine.pk], but_not=third.pk) == {}


def test_turning_on_says_the_next_run(browser_of_owner: Client, harbour: Workspace) -> None:
    routine = make_routine(
        harbour, enabled=False, schedule_kind="daily", schedule_values={"times": ["8:00"]}
    )
    page = browser_of_owner.post(f"{LIST}{routine.slug}/on/", {"then": LIST}, follow=True)
    routine.refresh_from_db()
    assert routine.enabled and routine.next_fire_at
    assert re.search(r"is on\. Next run: \w+ at \d+:00\.", page.content.decode())
    browser_of_owner.post(f"{LIST}{routine.slug}/off/")
    routine.refresh_from_db()
    assert not routine.enabled and routine.off_reason == "person"


def test_a_switch_never_leads_elsewhere(browser_of_owner: Client, harbour: Workspace) -> None:
    routine = make_routine(harbour)
    for address in ("//evil.example/", "https://evil.example/", "/\\evil.example"):
        answer = browser_of_owner.post(f"{LIST}{routine.slug}/off/", {"then": address})
        assert answer["Location"] == f"{LIST}{routine.slug}/"


def test_a_viewer_reads_and_a_member_switches_their_own(client: Client, harbour: Workspace) -> None:
    routine = make_routine(harbour)
    client.force_login(make_member(harbour, Role.VIEWER))
    page = client.get(LIST).content.decode()
    assert routine.name in page and "New routine" not in page.replace('aria-label="New', "")
    assert client.post(f"{LIST}{routine.slug}/off/").status_code == 403
    client.force_login(make_member(harbour, Role.MEMBER))
    assert client.post(f"{LIST}{routine.slug}/off/").status_code == 403
    assert Routine.objects.get(pk=routine.pk).enabled


def test_single_keys_can_be_turned_off(browser_of_owner: Client, harbour: Workspace) -> None:
    make_routine(harbour)
    assert "js/keys.js" in browser_of_owner.get(LIST).content.decode()
    User.objects.update(single_keys=False)
    assert "js/keys.js" not in browser_of_owner.get(LIST).content.decode()


def test_pages_answer_head(browser_of_owner: Client, harbour: Workspace) -> None:
    routine = make_routine(harbour)
    make_run(routine)
    for path in (
        "",
        "new/",
        f"{routine.slug}/",
        f"{routine.slug}/edit/",
        f"{routine.slug}/runs/1/",
    ):
        assert browser_of_owner.head(LIST + path).status_code == 200, path


@pytest.mark.parametrize(
    ("status", "facts", "said"),
    [
        (RunStatus.DONE_UNCHANGED, {}, "Nothing to report</span> — nothing new"),
        (
            RunStatus.FAIL_AGENT,
            {"reason": "The page asks for a sign-in."},
            "Failed</span> — the page asks for a sign-in",
        ),
    ],
)
def test_a_row_says_the_last_result_briefly(
    browser_of_owner: Client,
    harbour: Workspace,
    status: RunStatus,
    facts: dict[str, Any],
    said: str,
) -> None:
    make_run(make_routine(harbour), status, facts=facts)
    assert said in browser_of_owner.get("/w/harbour/routines/").content.decode()
