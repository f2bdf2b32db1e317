"""The run page: every status as its sentence, live while it lasts, and nothing runs in it."""

import re
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Role, Workspace
from foundation import clock
from routines_app.agents.turn import StepKind
from routines_app.configure.content import content_of
from routines_app.delivery import deliver
from routines_app.delivery.attention import how_many_need_someone
from routines_app.models import Delivery, Fire, Notice, Routine, RoutineVersion, Run, Step
from routines_app.rules.sentences import RunFacts, sentence_of
from routines_app.rules.status import RunStatus
from routines_app.web.progress import track
from routines_app.web.run_words import sentence_for
from routines_app.web.transcript import transcript
from tests.factories import NOON, make_member, make_routine, make_run, make_step, owner_of

LIVE = {"HX-Request": "true"}


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    return make_routine(
        harbour, name="Brief", slug="brief", schedule_kind="daily",
        schedule_values={"times": ["8:00"]},
    )  # fmt: skip


def page_of(browser: Client, run: Run) -> str:
    answer = browser.get(f"/w/harbour/routines/brief/runs/{run.number}/")
    assert answer.status_code == 200
    return answer.content.decode()


def plain(page: str) -> str:
    """The page's text, for sentences that markup cuts."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.mark.parametrize("status", list(RunStatus))
def test_every_status_has_its_sentence_on_its_page_and_its_row(
    browser_of_owner: Client, routine: Routine, status: RunStatus
) -> None:
    run = make_run(routine, status, facts={"exit_code": 3, "reason": "it was shut"})
    said = sentence_for(run, zone="Europe/London").lead
    page = plain(page_of(browser_of_owner, run))
    assert said in page
    history = plain(browser_of_owner.get("/w/harbour/routines/brief/").content.decode())
    assert said in history
    listed = plain(browser_of_owner.get("/w/harbour/routines/").content.decode())
    assert said.removesuffix(".") in listed


def test_the_facts_reach_the_sentence(routine: Routine) -> None:
    run = make_run(
        routine,
        RunStatus.STOP_COST,
        spent=470_000,
        facts={"doing": "reading a contract"},
        snapshot={"cap": 500_000},
    )
    assert sentence_for(run).rest == "Stopped at $0.47 of $0.50 while reading a contract."
    overlap = make_run(
        routine, RunStatus.SKIP_OVERLAP, facts={"other_at": (NOON - timedelta(hours=3)).isoformat()}
    )
    assert sentence_for(overlap, zone="UTC").rest == "The 9:00 run was still going."


def test_facts_of_another_type_leave_a_sentence(routine: Routine) -> None:
    odd: dict[str, object] = {name: [1] for name in vars(RunFacts())}
    for status in RunStatus:
        if status.final:
            run = make_run(routine, status, facts=odd)
            assert sentence_for(run).lead == sentence_of(status, RunFacts()).lead or run.pk


def test_a_finished_run_shows_what_it_made_and_learnt(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = make_run(
        routine,
        body="# Risks\n\n- [their page](https://evil.example/x)\n\n<script>alert(1)</script>",
        headline="Two <b>risks</b>",
        state_before="seen: 1\n",
        state_after="seen: <2>\n",
        turn_at=NOON - timedelta(hours=4),
    )
    make_step(run, StepKind.SAID, "hi", content="I <script>alert(2)</script> think")
    make_step(run, StepKind.RAN, "cat <x>", content="</pre><script>alert(3)</script>")
    Delivery.objects.create(workspace=routine.workspace, run=run, channel="bell", state="taken")
    page = page_of(browser_of_owner, run)
    scripts = re.findall(r"<script[^>]*>", page)
    assert all(" src=" in tag for tag in scripts)
    assert "Two &lt;b&gt;risks&lt;/b&gt;." in page
    assert "<small>evil.example</small>" in page
    assert "<del>seen: 1</del>" in page and "<ins>seen: &lt;2&gt;</ins>" in page
    assert "The bell" in page
    assert 'id="poll"' not in page


def test_a_step_that_was_stopped_says_so_and_shows_what_it_had_printed(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = make_run(routine, RunStatus.STOP_PERSON)
    facts = {"interrupted": True, "lines": 2}
    make_step(run, StepKind.CHECK, "git fetch", content="fetching", seconds=1.0, facts=facts)
    make_step(run, StepKind.RAN, "make test", content="started", seconds=2.5, facts=facts)
    checked, ran = transcript(run.steps.order_by("number"), run.queued_at)
    assert (checked.note, ran.note) == ("$0.00 · stopped", "2 lines · stopped")
    assert checked.open and ran.open
    page = plain(page_of(browser_of_owner, run))
    assert "2 lines · stopped" in page and "started" in page


def test_a_live_page_asks_for_what_came_after_its_last_step(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = make_run(routine, RunStatus.RUNNING, turn_at=clock.now(), at=clock.now())
    make_step(run, StepKind.WOKE, "harbour-1 from sleep")
    page = page_of(browser_of_owner, run)
    assert 'id="poll" hx-get="/w/harbour/routines/brief/runs/1/"' in page
    assert 'name="after" value="1"' in page
    make_step(run, StepKind.RAN, "make test")
    answer = browser_of_owner.get("/w/harbour/routines/brief/runs/1/?after=1", headers=LIVE)
    part = answer.content.decode()
    assert answer.status_code == 200
    assert 'hx-swap-oob="beforeend:#steps"' in part
    assert 'id="step-2"' in part and 'id="step-1"' not in part
    assert 'name="after" value="2"' in part
    for moving in ("chip", "now", "track", "meters", "at-now", "this-run", "after"):
        assert re.search(rf'id="{moving}"[^>]* hx-swap-oob="true"', part), moving
    address = "/w/harbour/routines/brief/runs/1/?after=2"
    assert "beforeend" not in browser_of_owner.get(address, headers=LIVE).content.decode()


def test_the_end_stops_the_asking_and_brings_the_whole_page(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = make_run(routine, headline="All well")
    make_step(run, StepKind.RAN, "make test")
    answer = browser_of_owner.get("/w/harbour/routines/brief/runs/1/?after=0", headers=LIVE)
    part = answer.content.decode()
    assert answer.status_code == 286
    assert answer["HX-Retarget"] == "#run-page" and answer["HX-Reswap"] == "outerHTML"
    assert part.strip().startswith('<div id="run-page">')
    assert "All well." in part and 'id="step-1"' in part and 'id="poll"' not in part


def test_a_live_page_asks_few_questions(browser_of_owner: Client, routine: Routine) -> None:
    run = make_run(routine, RunStatus.RUNNING, turn_at=clock.now())
    counts = []
    for steps in (2, 40):
        for _ in range(steps):
            make_step(run, StepKind.RAN, "ls")
        with CaptureQueriesContext(connection) as asked:
            browser_of_owner.get("/w/harbour/routines/brief/runs/1/?after=1", headers=LIVE)
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 12


def test_stop_asks_the_run_to_stop(browser_of_owner: Client, routine: Routine) -> None:
    run = make_run(routine, RunStatus.RUNNING, turn_at=clock.now())
    Fire.objects.update(claim_token=uuid.uuid4(), lease_until=clock.now() + timedelta(minutes=1))
    address = "/w/harbour/routines/brief/runs/1/"
    assert "Stop this run?" in page_of(browser_of_owner, run)
    asked = browser_of_owner.get(f"{address}stop/").content.decode()  # where no dialog opens
    assert "Stop run 1 of Brief?" in asked and "Keep running" in asked
    assert browser_of_owner.post(f"{address}stop/")["Location"] == address
    run.refresh_from_db()
    assert run.stop_asked_at is not None
    assert "Stop this run?" not in page_of(browser_of_owner, run)


def test_a_viewer_may_not_stop_or_run(client: Client, routine: Routine) -> None:
    make_run(routine, RunStatus.RUNNING, turn_at=clock.now())
    client.force_login(make_member(routine.workspace, Role.VIEWER))
    assert client.post("/w/harbour/routines/brief/runs/1/stop/").status_code == 403
    assert client.post("/w/harbour/routines/brief/run/").status_code == 403
    assert "Stop this run" not in page_of(client, Run.objects.get())


def test_a_double_click_is_one_run(browser_of_owner: Client, routine: Routine) -> None:
    key = str(uuid.uuid4())
    first = browser_of_owner.post("/w/harbour/routines/brief/run/", {"key": key})
    second = browser_of_owner.post("/w/harbour/routines/brief/run/", {"key": key})
    assert first["Location"] == second["Location"] == "/w/harbour/routines/brief/runs/1/"
    assert Run.objects.count() == 1


def test_the_track_shows_where_it_is(routine: Routine) -> None:
    def states(run: Run) -> list[str]:
        return [stage.state for stage in track(run, [], None, NOON, "UTC")]

    assert states(make_run(routine, RunStatus.QUEUED)) == ["now", "todo", "todo", "todo", "todo"]
    assert states(make_run(routine, RunStatus.SKIP_COLD)) == ["done", "skip", "off", "off", "off"]
    quiet = make_run(routine, RunStatus.NOTHING_TO_DO, snapshot={"check": "grep ."})
    assert states(quiet) == ["done", "done", "done", "off", "off"]
    missing = make_run(routine, RunStatus.FAIL_CHECK_MISSING, snapshot={"check": "gti"})
    assert states(missing) == ["done", "done", "fail", "off", "off"]
    capped = make_run(routine, RunStatus.STOP_COST, turn_at=NOON)
    assert states(capped) == ["done", "done", "done", "stop", "off"]


def test_after_a_first_good_run_it_can_be_kept(browser_of_owner: Client, routine: Routine) -> None:
    Routine.objects.filter(pk=routine.pk).update(enabled=False, off_reason="never_on")
    page = page_of(browser_of_owner, make_run(routine, headline="Fine"))
    assert "Keep it? Every day at 8:00, UTC." in plain(page) and "Turn it on" in page
    assert "Change the sentence" in page and "Not now" in page


def test_another_workspaces_run_isnt_there(browser_of_owner: Client, routine: Routine) -> None:
    assert browser_of_owner.get("/w/harbour/routines/brief/runs/9/").status_code == 404
    assert browser_of_owner.get("/w/harbour/routines/briefs/runs/1/").status_code == 404


def test_steps_of_unknown_kinds_are_shown(browser_of_owner: Client, routine: Routine) -> None:
    run = make_run(routine)
    Step.objects.create(run=run, number=1, kind="dreamt", title="of <sheep>")
    assert "of &lt;sheep&gt;" in page_of(browser_of_owner, run)


def test_what_stands_beside_an_ended_run(browser_of_owner: Client, routine: Routine) -> None:
    Routine.objects.filter(pk=routine.pk).update(cap=500_000)
    worked = make_run(routine, turn_at=NOON - timedelta(hours=4), headline="Fine")
    quiet = [make_run(routine, RunStatus.NOTHING_TO_DO) for _ in range(3)][-1]
    capped = make_run(routine, RunStatus.STOP_COST, spent=470_000)
    page = plain(page_of(browser_of_owner, quiet))
    assert "Three checks in a row found nothing. $0.00. The last time a model was called" in page
    later = make_run(routine)
    beside = plain(page_of(browser_of_owner, capped))
    assert "After this one" in beside and f"/runs/{later.number}/" in page_of(
        browser_of_owner, capped
    )
    assert "$0.75 a run" in plain(page_of(browser_of_owner, capped))
    assert "Lately" not in plain(page_of(browser_of_owner, worked))


def test_a_broken_check_shows_what_became_of_it(browser_of_owner: Client, routine: Routine) -> None:
    make_run(routine, turn_at=NOON, snapshot={"check": "git log | grep ."}, version=1)
    broken = {"check": "gti log | grep <.>"}
    run = make_run(routine, RunStatus.FAIL_CHECK_MISSING, snapshot=broken, version=2)
    kept = content_of(routine).as_json()
    for number, snapshot in ((1, {"check": "git log | grep ."}), (2, broken)):
        content = {**kept, "check_command": snapshot["check"]}
        RoutineVersion.objects.create(
            routine=routine,
            number=number,
            content=content,
            changed_by=routine.owner,
            changed_at=NOON,
        )
    page = page_of(browser_of_owner, run)
    assert "What changed since it last worked" in page
    assert "Ada Byron edited the check" in page
    assert "<ins>gti log | grep &lt;.&gt;</ins>" in page
    assert "Go back to the earlier check" not in page  # the routine's check is neither of them
    same = make_run(routine, RunStatus.FAIL_CHECK_CRASH, snapshot={"check": "git log | grep ."})
    assert "What changed since" not in page_of(browser_of_owner, same)


def test_what_is_our_fault_costs_nothing(browser_of_owner: Client, routine: Routine) -> None:
    run = make_run(routine, RunStatus.FAIL_RESTART, spent=70_000, cause="ours", turn_at=NOON)
    page = plain(page_of(browser_of_owner, run))
    assert "You pay $0.00 $0.07 spent, $0.07 refunded" in page
    assert "$0.07" not in plain(browser_of_owner.get("/w/harbour/routines/").content.decode())


def test_a_member_is_offered_only_what_they_may_do(client: Client, routine: Routine) -> None:
    Routine.objects.filter(pk=routine.pk).update(enabled=False, off_reason="never_on")
    capped = make_run(routine, RunStatus.STOP_COST)
    restarted = make_run(routine, RunStatus.FAIL_RESTART, cause="ours")
    good = make_run(routine)
    client.force_login(make_member(routine.workspace, Role.MEMBER))
    assert "Raise the cap" not in page_of(client, capped)
    assert "Keep it?" not in page_of(client, good)
    assert 'class="btn ink" data-once' in page_of(client, restarted)
    assert 'class="btn ink" data-once' not in page_of(client, good)
    history = client.get("/w/harbour/routines/brief/").content.decode()
    assert "Raise the cap" not in history and 'role="switch"' not in history
    assert 'role="switch"' not in client.get("/w/harbour/routines/").content.decode()
    client.force_login(make_member(routine.workspace, Role.ADMIN))
    assert "Raise the cap" in page_of(client, capped)
    assert 'role="switch"' in client.get("/w/harbour/routines/").content.decode()


def test_a_waking_machine_is_told_against_its_own_usual_time(
    browser_of_owner: Client, routine: Routine
) -> None:
    for length in (18, 20, 0, 25):  # once it was awake already
        at = NOON - timedelta(hours=length + 1)
        awake = at + timedelta(seconds=length)
        make_run(routine, at=at, awake_at=awake)
    began = clock.now() - timedelta(seconds=12)
    waking = {"effects_begun_at": None, "status": RunStatus.WAKING, "at": began}
    run = make_run(routine, **waking)  # type: ignore[arg-type]
    page = plain(page_of(browser_of_owner, run))
    assert "Waking quay-1. Usually about 20 seconds." in page
    assert "Waking quay-1 12s so far" in page or "Waking quay-1 13s so far" in page
    Run.objects.filter(pk=run.pk).update(waking_at=clock.now() - timedelta(seconds=41))
    assert "Slower than usual. We’ll give up at 3 minutes." in plain(page_of(browser_of_owner, run))


def test_a_run_that_waits_says_its_place(browser_of_owner: Client, routine: Routine) -> None:
    other = make_routine(routine.workspace, machine=routine.machine)
    make_run(other, RunStatus.QUEUED, at=NOON - timedelta(hours=1))
    run = make_run(routine, RunStatus.QUEUED, at=NOON)
    page = page_of(browser_of_owner, run)
    assert "Waiting. Second in line for quay-1." in plain(page)
    assert 'data-say="Waiting. Second in line for quay-1."' in page  # what a screen reader is told


@pytest.mark.parametrize(
    ("doing", "shown"),
    [
        ({"kind": "said", "title": "Four", "text": "Four <b>herons</b>"}, "Four &lt;b&gt;herons"),
        ({"kind": "note", "title": "Asking the model"}, "Asking the model."),
        ({"kind": "fetched", "title": "https://example.org/"}, "Fetching https://example.org/"),
        ({"kind": "waited", "title": "90 seconds"}, "Waiting 90 seconds."),
        ({"kind": "edited", "title": "a.md"}, "Editing a.md."),
        ({"kind": "searched", "title": "heron in ."}, "Searching for heron in"),
        (
            {"kind": "ran", "title": "make", "text": "<i>\x1b[1mfour"},
            '<pre class="tail">&lt;i&gt;four',
        ),
        ({"kind": "check", "title": "make", "text": "a", "before": 1_200}, "1,200 characters came"),
    ],
)
def test_what_it_is_at_and_what_it_is_saying_show_while_it_runs(
    browser_of_owner: Client, routine: Routine, doing: dict[str, object], shown: str
) -> None:
    run = make_run(routine, RunStatus.RUNNING, doing=doing)
    address = f"/w/harbour/routines/brief/runs/{run.number}/"
    for answer in (
        browser_of_owner.get(address),
        browser_of_owner.get(address, {"after": 0}, headers=LIVE),
    ):
        assert shown in answer.content.decode()


def test_what_an_agent_did_beside_files_and_commands_is_named(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = make_run(routine, turn_at=NOON)
    make_step(run, StepKind.FETCHED, "https://example.org/", facts={"status": 404, "lines": 2})
    make_step(run, StepKind.SEARCHED, "heron in .", facts={"lines": 1})
    make_step(run, StepKind.EDITED, "a.md", facts={"bytes": 12, "line": 2})
    make_step(run, StepKind.WAITED, "90 seconds", seconds=90.0)
    page = plain(page_of(browser_of_owner, run))
    assert "Fetched https://example.org/ HTTP 404 · 2 lines" in page
    assert "Searched heron in . 1 line" in page
    assert "Edited a.md 12" in page
    assert "Waited 90 seconds" in page


def test_whoever_follows_a_run_to_its_end_has_read_it(
    browser_of_owner: Client, routine: Routine, harbour: Workspace
) -> None:
    """The bell rings a moment after the end is shown: not for whoever has just seen it."""
    person, other = owner_of(harbour), make_member(harbour, Role.MEMBER)
    run = make_run(routine, RunStatus.FAIL_MODEL, at=clock.now(), turn_at=clock.now())
    waiting = Delivery.objects.create(workspace=harbour, run=run, channel="bell")
    live = f"/w/harbour/routines/brief/runs/{run.number}/?after=0"
    page = browser_of_owner.get(live, headers=LIVE)
    assert page.status_code == 286 and "The bell, at" in plain(page.content.decode())
    assert how_many_need_someone(harbour, person) == 0
    assert how_many_need_someone(harbour, other) == 1  # it rang for the others
    deliver(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.tries) == ("taken", 1)
    assert how_many_need_someone(harbour, person) == 0


def test_what_is_still_going_on_is_read_by_nobody(
    browser_of_owner: Client, routine: Routine, harbour: Workspace
) -> None:
    run = make_run(routine, RunStatus.RUNNING, at=clock.now(), turn_at=clock.now())
    address = f"/w/harbour/routines/brief/runs/{run.number}/"
    browser_of_owner.get(address)
    browser_of_owner.get(f"{address}?after=0", headers=LIVE)
    Run.objects.filter(pk=run.pk).update(status=RunStatus.FAIL_MODEL, finished_at=clock.now())
    Notice.objects.create(workspace=harbour, routine=routine, run=run, needs_someone=True)
    assert how_many_need_someone(harbour, owner_of(harbour)) == 1
    browser_of_owner.get(f"{address}?after=0", headers=LIVE)
    assert how_many_need_someone(harbour, owner_of(harbour)) == 0


def test_what_was_refused_is_not_told_as_done(browser_of_owner: Client, routine: Routine) -> None:
    run = make_run(routine, RunStatus.DONE_CHANGED, headline="Wrote a draft.")
    refused = {"refused": True}
    wrongly = {**refused, "told": "wrongly"}
    make_step(run, StepKind.WROTE, "draft.md", content="Give text as a text.", facts=wrongly)
    make_step(run, StepKind.WROTE, "draft.md", facts={"bytes": 40})
    make_step(run, StepKind.CALLED, "helpdesk__find", content="No such ticket.", facts=refused)
    first, second, third = transcript(run.steps.order_by("number"), run.queued_at)
    assert (first.label, first.note, first.open) == ("Didn’t write", "refused", True)
    assert (second.label, second.note) == ("Wrote", "40 B")
    assert (third.label, third.note, third.open) == ("Called", "refused", True)
    page = plain(page_of(browser_of_owner, run))
    assert "1 file written, 1 app called" in page
    assert "The agent called this tool wrongly, and was told: Give text as a text." in page
