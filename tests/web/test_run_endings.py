"""Every way in which a run can end: its page says so, and what it offers does what it says."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Role, Workspace
from billing.models import LedgerEntry
from foundation import clock
from machines.lifecycle import MachineState
from machines.models import Machine
from routines_app.agents.turn import StepKind
from routines_app.configure.content import content_of
from routines_app.delivery import deliver
from routines_app.models import Delivery, Fire, Notice, Routine, RoutineVersion, Run
from routines_app.rules.status import FINAL_STATUSES, OPEN_STATUSES, RunStatus, Shape
from routines_app.web.acts_now import act_now
from routines_app.web.run_words import sentence_for
from tests.factories import NOON, make_member, make_routine, make_run, make_step
from tests.web.test_run_page import page_of, plain

ADDRESS = "/w/harbour/routines/brief/"


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    return make_routine(
        harbour, name="Brief", slug="brief", check_command="git log | grep .", cap=500_000
    )


@dataclass(frozen=True)
class Offered:
    """One act as the page offers it."""

    words: str
    href: str
    posts: bool


def offered(page: str) -> list[Offered]:
    """The acts of the ending and of the title."""
    parts = re.findall(
        r'<section class="ending".*?</section>|<div class="title">.*?(?=<section)', page, re.S
    )
    found = []
    for part in parts:
        for href, form in re.findall(
            r'<form method="post" action="([^"]*)">(.*?)</form>', part, re.S
        ):
            found.append(Offered(plain(form), href, True))
        for href, words in re.findall(
            r'<a class="btn[^"]*" href="([^"]*)"[^>]*>(.*?)</a>', part, re.S
        ):
            found.append(Offered(plain(words), href, False))
    return found


Check = Callable[[str, Routine], bool]
LEADS_TO: dict[str, Check] = {
    "Run it now": lambda page, routine: routine.runs.count() == 3 and "Brief, today" in page,
    "Turn it on": lambda page, routine: routine.enabled,
    "Turn everything back on": lambda page, routine: routine.workspace.paused_at is None,
    "Restore it": lambda page, routine: routine.machine.state == MachineState.RESTORING,  # type: ignore[union-attr]
    "Fix the check": lambda page, routine: 'id="check_command"' in page,
    "Raise the cap": lambda page, routine: 'id="cap"' in page,
    "Allow longer": lambda page, routine: 'id="time_limit"' in page,
    "Raise the budget": lambda page, routine: 'id="budget"' in page,
    "Change what it does": lambda page, routine: 'id="instructions"' in page,
    "Change its script": lambda page, routine: 'id="instructions"' in page,
    "Choose another machine": lambda page, routine: 'id="machine"' in page,
    "Change plan": lambda page, routine: "Plan" in page,
    "Connect it": lambda page, routine: "Connect an app" in page,
    "Connect a model": lambda page, routine: "Connect it" in page,
    "See the output": lambda page, routine: 'id="how"' in page and "it said so" in page,
    "See what failed": lambda page, routine: "<h1" in page and "Brief" in page,
    "See quay-1": lambda page, routine: "quay-1" in page,
    "See that run": lambda page, routine: "Run 1." in plain(page),
    "See the newer one": lambda page, routine: "Run 1." in plain(page),
    "See what was running": lambda page, routine: "Run 1." in plain(page),
}
OFFERS_NOTHING = {  # nothing to put right, or nothing here to put it right with
    RunStatus.FAIL_NO_GRANT,
    RunStatus.STOP_DELETED,
}


def arrange(routine: Routine, status: RunStatus) -> Run:
    """A run that ended so, and its reason still there."""
    make_run(routine, turn_at=NOON, snapshot={"check": "old"})
    now = clock.now()
    match status:
        case RunStatus.SKIP_OFF | RunStatus.SKIP_AUTO_OFF:
            why = "person" if status is RunStatus.SKIP_OFF else "failures"
            Routine.objects.update(enabled=False, off_reason=why, off_at=now, off_by=routine.owner)
        case RunStatus.SKIP_PAUSED:
            Workspace.objects.update(paused_at=now, paused_by=routine.owner)
        case RunStatus.SKIP_COLD:
            stored = {"since": now.isoformat(), "size": 9_000_000_000}
            Machine.objects.update(state=MachineState.ARCHIVED, archive=stored)
        case RunStatus.SKIP_MACHINE_GONE:
            Machine.objects.update(deleted_at=now)
        case _:
            pass
    facts = {
        "exit_code": 3, "reason": "it was shut", "other_number": 1, "last_line": "it said so",
        "other_at": NOON.isoformat(), "person": "Ada Byron",
    }  # fmt: skip
    routine.refresh_from_db()
    run = make_run(routine, status, facts=facts, turn_at=None if status.refused else NOON)
    make_step(run, StepKind.RAN, "make", content="it said so")
    return run


@pytest.mark.parametrize("status", FINAL_STATUSES)
def test_every_ending_offers_only_what_works(
    browser_of_owner: Client, routine: Routine, status: RunStatus
) -> None:
    run = arrange(routine, status)
    page = page_of(browser_of_owner, run)
    ending = re.search(r'<section class="ending".*?</section>', page, re.S)
    assert ending is not None
    said = sentence_for(run, zone="Europe/London", now=clock.now())
    assert said.lead in plain(ending[0]) and said.rest in plain(ending[0])
    acts = offered(page)
    assert len(offered(ending[0])) <= 2
    assert acts or status in OFFERS_NOTHING
    assert 'class="chip' not in page
    for act in acts:
        words = next(words for words in LEADS_TO if act.words.startswith(words))
        if act.posts:
            key = {"key": "a-key", "then": ADDRESS} if words == "Run it now" else {"then": ADDRESS}
            answer = browser_of_owner.post(act.href, key, follow=True)
        else:
            answer = browser_of_owner.get(act.href.split("#")[0])
        assert answer.status_code == 200, act
        there = Routine.objects.select_related("machine", "workspace").get(pk=routine.pk)
        assert LEADS_TO[words](answer.content.decode(), there), act


@pytest.mark.parametrize(
    ("variant", "offers"), [("said no", "See the model"), ("broke off", "Run it now")]
)
def test_the_bell_and_the_page_offer_the_same_after_a_models_trouble(
    browser_of_owner: Client, routine: Routine, variant: str, offers: str
) -> None:
    run = make_run(routine, RunStatus.FAIL_MODEL, facts={"variant": variant}, turn_at=NOON)
    act = act_now(sentence_for(run, zone="UTC", now=clock.now()).act, run)  # as the bell does
    said = {each.words: each for each in offered(page_of(browser_of_owner, run))}
    assert act is not None and act.words == offers
    assert said[offers].href == act.href
    assert ("See the model" in said) == (offers == "See the model")


@pytest.mark.parametrize(
    ("what", "by", "act"),
    [
        ("sign_in", "Helpdesk", '/w/harbour/agents/apps/">Connect it'),
        ("app", "Helpdesk", '/w/harbour/agents/apps/">Open Helpdesk'),
        ("command", "The command", '/runs/2/#how">See the output'),
        ("machine", "quay-1", '/machines/quay-1/">See quay-1'),
        ("other", "example.org", '/edit/#instructions">Change what it does'),
    ],
)
def test_what_a_tool_refused_is_said_with_an_action_named_for_it(
    browser_of_owner: Client, routine: Routine, what: str, by: str, act: str
) -> None:
    run = arrange(routine, RunStatus.FAIL_TOOL)
    Run.objects.filter(pk=run.pk).update(
        facts={"what": what, "variant": by, "reason": "there is no <b>such</b> ticket"}
    )
    page = page_of(browser_of_owner, run)
    assert f"{by} refused: there is no &lt;b&gt;such&lt;/b&gt; ticket." in page
    assert act in page.replace(' class="btn"', "").replace(' class="btn ink"', "")


@pytest.mark.parametrize("status", OPEN_STATUSES)
def test_every_run_that_goes_on_has_a_chip_and_can_be_stopped(
    browser_of_owner: Client, routine: Routine, status: RunStatus
) -> None:
    run = make_run(routine, status, at=clock.now())
    if status.live:
        held = {"claim_token": run.key, "lease_until": clock.now() + timedelta(minutes=1)}
        Fire.objects.update(**held)
    page = page_of(browser_of_owner, run)
    assert 'class="ending"' not in page and 'class="chip live"' in page
    stopped = browser_of_owner.post(f"{ADDRESS}runs/1/stop/", follow=True).content.decode()
    lead = "Stopping. Ada Byron asked it to." if status.live else "Stopped by Ada Byron"
    assert lead in plain(stopped)


def test_what_keeps_it_from_running_takes_run_it_now_away(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = arrange(routine, RunStatus.SKIP_COLD)
    page = plain(page_of(browser_of_owner, run))
    assert (
        "Restore it, about four minutes" in page and "Run it now" not in page.split("This run")[0]
    )
    Machine.objects.update(state=MachineState.ASLEEP)
    page = plain(page_of(browser_of_owner, run))
    assert "See quay-1" in page and "Run it now" in page.split("Didn’t run.")[0]


def broken_check(routine: Routine) -> Run:
    """The check is broken by its owner, and the next run says so."""
    kept = content_of(routine).as_json()
    make_run(routine, turn_at=NOON, snapshot={"check": "git log | grep ."}, version=1)
    for number, check in ((1, "git log | grep ."), (2, "gti log")):
        RoutineVersion.objects.create(
            routine=routine, number=number, content={**kept, "check_command": check},
            changed_by=routine.owner, changed_at=NOON,
        )  # fmt: skip
    Routine.objects.update(check_command="gti log", version=2)
    broken = {"check": "gti log"}
    return make_run(routine, RunStatus.FAIL_CHECK_MISSING, snapshot=broken, version=2)


def test_the_earlier_check_can_be_put_back_and_that_undone(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = broken_check(routine)
    address = f"{ADDRESS}runs/{run.number}/"
    assert "Go back to the earlier check" in page_of(browser_of_owner, run)
    after = browser_of_owner.post(f"{address}check/", follow=True).content.decode()
    routine.refresh_from_db()
    assert routine.check_command == "git log | grep ."
    assert routine.versions.get(number=3).changed_by == routine.owner
    assert "The earlier check is back." in after and ">Undo</button>" in after
    browser_of_owner.post(f"{address}check/", {"undo": "yes"})
    routine.refresh_from_db()
    assert (routine.check_command, routine.version) == ("gti log", 4)


def test_a_check_that_was_changed_since_is_left_alone(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = broken_check(routine)
    Routine.objects.update(check_command="true")
    answer = browser_of_owner.post(f"{ADDRESS}runs/{run.number}/check/", follow=True)
    assert "The check has been changed since. Nothing was done." in answer.content.decode()
    routine.refresh_from_db()
    assert (routine.check_command, routine.version) == ("true", 2)


def test_only_who_may_change_the_routine_may_put_its_check_back(
    client: Client, routine: Routine
) -> None:
    run = broken_check(routine)
    client.force_login(make_member(routine.workspace, Role.MEMBER))
    assert client.post(f"{ADDRESS}runs/{run.number}/check/").status_code == 403
    assert "Go back to the earlier check" not in page_of(client, run)


def test_how_near_it_was_to_turning_itself_off(browser_of_owner: Client, routine: Routine) -> None:
    make_run(routine, turn_at=NOON)
    first = make_run(routine, RunStatus.FAIL_SCRIPT, cause="theirs")
    make_run(routine, RunStatus.FAIL_RESTART, cause="ours")
    second = make_run(routine, RunStatus.STOP_COST, cause="theirs")
    make_run(routine, turn_at=NOON)
    assert "One failure in a row. Five would turn it off." in page_of(browser_of_owner, first)
    assert "Two failures in a row. Five would turn it off." in page_of(browser_of_owner, second)
    assert "The five in a row: 2 of 5" in page_of(browser_of_owner, second)


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (None, "After ten times in a row with nothing useful it is shown under Needs you, once."),
        (0, "Quiet is right for this one: that alone never puts it under Needs you."),
        (14, "After 14 days with nothing useful it is shown under Needs you, once."),
    ],
)
def test_a_quiet_check_says_how_long_it_may_be_quiet(
    browser_of_owner: Client, routine: Routine, days: int | None, said: str
) -> None:
    Routine.objects.filter(pk=routine.pk).update(quiet_days=days)
    page = page_of(browser_of_owner, make_run(routine, RunStatus.NOTHING_TO_DO))
    assert said in page and f"{ADDRESS}edit/#quiet_days" in page
    assert "Too quiet?" not in page_of(browser_of_owner, make_run(routine))


@pytest.mark.parametrize(("already", "label"), [(False, "<b>Woke "), (True, " was awake</b>")])
def test_the_track_and_the_steps_agree_about_how_the_machine_was_found(
    browser_of_owner: Client, routine: Routine, already: bool, label: str
) -> None:
    soon = NOON + timedelta(seconds=0.4)
    run = make_run(routine, waking_at=NOON, awake_at=soon, turn_at=soon)
    make_step(run, StepKind.WOKE, "harbour-1", facts={"already": already})
    page = page_of(browser_of_owner, run)
    assert label in page
    assert ("from sleep" in page) is not already


def test_a_programs_lines_stay_lines(browser_of_owner: Client, routine: Routine) -> None:
    body = "hall 18.3\nloft 16.2\n"
    assert "hall 18.3\nloft" in page_of(browser_of_owner, make_run(routine, body=body))
    run = make_run(routine, body=body, snapshot={"runtime": "script"})
    assert "hall 18.3<br>\nloft" in page_of(browser_of_owner, run)


@pytest.mark.parametrize(
    ("status", "heading"),
    [(RunStatus.FAIL_EMPTY, "What it said"), (RunStatus.DONE_CHANGED, "What it made")],
)
def test_a_refusal_is_what_it_said_and_no_work_to_take_along(
    browser_of_owner: Client, routine: Routine, status: RunStatus, heading: str
) -> None:
    run = make_run(routine, status, body="I can’t help with that.", facts={"variant": "refused"})
    page = plain(page_of(browser_of_owner, run))
    assert f"{heading} " in page and "I can’t help with that." in page
    assert ("Copy as Markdown" in page) == (status is RunStatus.DONE_CHANGED)


def test_a_run_that_was_broken_off_says_what_is_certain(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = make_run(routine, RunStatus.FAIL_RESTART, turn_at=NOON, spent=70_000, cause="ours")
    make_step(run, StepKind.RAN, "./file-ticket", facts={"exit_code": 0})
    make_step(run, StepKind.WROTE, "notes.md")
    make_step(run, StepKind.WROTE, "state.md", facts={"outcome": "unknown"})
    for kind, amount in (("run", -70_000), ("refund", 70_000)):
        LedgerEntry.objects.create(
            workspace=routine.workspace, kind=kind, amount=amount, run_key=run.key
        )
    page = page_of(browser_of_owner, run)
    said = plain(page)
    assert "You pay $0.00 $0.07 spent, $0.07 refunded" in said
    assert "Certain notes.md was written. “./file-ticket” ran, once." in said
    assert "Not certain Whether state.md was written." in said
    assert "Writing state.md outcome not known" in said and "1 file written" in said
    assert "Model, run 1 −$0.07 Refund, interrupted by us +$0.07" in said
    assert "Interrupted our servers restarted" in said


def test_a_capped_run_shows_where_the_money_went_and_what_was_kept(
    browser_of_owner: Client, routine: Routine
) -> None:
    facts = {"doing": "reading a contract", "next_worst": 90_000}
    snapshot = {"cap": 500_000, "folder": "~/routines/brief"}
    run = make_run(
        routine, RunStatus.STOP_COST, turn_at=NOON, spent=470_000, facts=facts, snapshot=snapshot
    )
    make_step(run, StepKind.READ, "contract.pdf", cost=240_000)
    make_step(run, StepKind.WROTE, "draft.md", cost=10_000)
    page = page_of(browser_of_owner, run)
    said = plain(page)
    assert "The next request could have cost $0.09, and $0.03 was left, so it wasn’t sent." in said
    assert "Where the money went" in said and "Read contract.pdf $0.24" in said
    assert "What was kept" in said
    assert 'href="/w/harbour/files/quay-1/routines/brief/draft.md"' in page
    assert "$0.75 a run" in said and "$1.00 a run" in said


def test_who_was_told_and_telling_them_again(browser_of_owner: Client, routine: Routine) -> None:
    before = clock.now() - timedelta(days=1)
    run = make_run(routine, turn_at=NOON, headline="Fine")
    page = plain(page_of(browser_of_owner, run))
    assert "Not asked for: the bell said it once already." in page and "Send again" not in page
    told = Delivery.objects.create(
        workspace=routine.workspace, run=run, channel="bell", state="taken", ended_at=NOON, tries=1
    )
    notice = Notice.objects.create(
        workspace=routine.workspace, routine=routine, run=run, rung_at=before
    )
    page = plain(page_of(browser_of_owner, run))
    assert "The bell 12:00 Read by Ada Byron" in page and "Send again" in page
    again = browser_of_owner.post(f"{ADDRESS}runs/1/tell/", follow=True).content.decode()
    assert "It rings again." in again and "Waiting." in again
    deliver(told.pk)
    told.refresh_from_db()
    notice.refresh_from_db()
    assert (told.state, told.tries) == ("taken", 2)
    assert notice.rung_at > before and not notice.read_by.exists()
    Delivery.objects.update(state="given_up", answer="the channel was archived")
    assert "Given up: the channel was archived" in plain(page_of(browser_of_owner, run))


def test_a_long_step_is_cut_and_whole_a_click_away(
    browser_of_owner: Client, routine: Routine
) -> None:
    run = make_run(routine, turn_at=NOON, body="# Hello <b>\n")
    long = "\n".join(f"line {number}" for number in range(6_000))
    for _ in range(30):
        make_step(run, StepKind.RAN, "seq", content=long)
    page = page_of(browser_of_owner, run)
    assert len(page) < 120_000 and "more characters" in page
    whole = browser_of_owner.get(f"{ADDRESS}runs/1/steps/1/")
    assert whole.content.decode() == long and whole["Content-Type"] == "text/plain; charset=utf-8"
    body = browser_of_owner.get(f"{ADDRESS}runs/1/body/")
    assert body.content.decode() == "# Hello <b>\n" and body["X-Content-Type-Options"] == "nosniff"
    assert browser_of_owner.get(f"{ADDRESS}runs/1/steps/99/").status_code == 404


def test_no_shape_is_told_by_colour_alone(browser_of_owner: Client, routine: Routine) -> None:
    for status in (RunStatus.DONE_UNCHANGED, RunStatus.NOTHING_TO_DO, RunStatus.SKIP_MISSED):
        page = page_of(browser_of_owner, make_run(routine, status))
        assert status.shape in (Shape.QUIET, Shape.STUB, Shape.RING)
        assert re.search(r'<p class="say"><b>', page), status


@pytest.mark.parametrize(
    "status",
    [
        RunStatus.DONE_CHANGED,
        RunStatus.NOTHING_TO_DO,
        RunStatus.STOP_COST,
        RunStatus.FAIL_SCRIPT,
        RunStatus.SKIP_OVERLAP,
    ],
)
def test_a_page_asks_few_questions_however_much_came_before(
    browser_of_owner: Client, routine: Routine, status: RunStatus
) -> None:
    counts = []
    for more in (3, 30):
        for _ in range(more):
            make_run(routine, RunStatus.NOTHING_TO_DO, turn_at=NOON)
        routine.refresh_from_db()
        run = make_run(routine, status, turn_at=NOON, version=1)
        for _ in range(more):
            make_step(run, StepKind.RAN, "make")
        told = {"workspace": routine.workspace, "run": run}
        Delivery.objects.create(**told, channel="bell", state="taken", ended_at=NOON)
        Notice.objects.create(**told, routine=routine)
        page_of(browser_of_owner, run)  # its first reading is written down
        with CaptureQueriesContext(connection) as asked:
            page_of(browser_of_owner, run)
        counts.append(len(asked))
    assert counts[0] == counts[1] < 15


def test_what_was_counted_without_an_answer_is_said_to_be_the_most(
    browser_of_owner: Client, routine: Routine
) -> None:
    kept = {"snapshot": {"model": "openai/gpt"}, "spent": 440_000, "input_tokens": 0}
    for requests, words in ((3, "3 requests"), (1, "a request")):
        run = make_run(routine, RunStatus.FAIL_MODEL, requests=requests, output_tokens=0, **kept)
        said = plain(page_of(browser_of_owner, run))
        most = f"openai/gpt, $0.44 at most, for {words} without an answer: nobody said what was"
        assert most in said and "tokens read" not in said
    refused = make_run(routine, RunStatus.FAIL_MODEL, requests=1, **kept | {"spent": 0})
    assert "$0.00 for 0 tokens read" in plain(page_of(browser_of_owner, refused))
