"""The plan's pages: figures equal the ledger, and everybody sees what is theirs."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client

from accounts.models import Role, User, Workspace
from billing.holds import take_hold
from billing.ledger import charge_run, grant_credit, refund_run
from billing.models import Account, LedgerEntry
from billing.move_plan import move_plan
from routines_app.models import AgentRuntime, Run
from routines_app.rules.status import RunStatus
from tests.factories import NOON, make_agent, make_member, make_routine, make_run

pytestmark = pytest.mark.django_db


FORMULAS = ("=cmd()", "=1+cmd|'/C calc'!A0", "-1+cmd|'/C calc'!A0", "+44 1", "@sum(1)")


@pytest.fixture(autouse=True)
def _at_noon() -> object:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def spend(run: Run, micro: int, *, at: datetime | None = None, ours: bool = False) -> None:
    """Charge a run at its end, and give it back when it was our fault."""
    end = at or run.finished_at or NOON
    charge_run(run.workspace_id, run.key, micro, f"{run.routine.name}, run {run.number}", end)
    if ours:
        refund_run(run.workspace_id, run.key, micro, "Our fault, so we pay", end)


@pytest.fixture
def ledgered(harbour: Workspace) -> Workspace:
    """Two routines with runs in two months, one of them refunded."""
    move_plan(harbour, "pro")
    writer = make_agent(harbour, "Scribe", AgentRuntime.MODEL)
    triage = make_routine(harbour, name="Inbox triage", slug="triage", agent=writer)
    brief = make_routine(harbour, name="Morning brief", slug="brief", agent=writer)
    for days, micro in ((1, 1_234_567), (2, 40_001), (40, 5_000_000)):
        at = NOON - timedelta(days=days)
        spend(make_run(triage, at=at, snapshot={"agent": "Scribe"}), micro)
    spend(make_run(brief, snapshot={"agent": "Scribe"}), 300_000)
    spend(make_run(brief, RunStatus.FAIL_RESTART, snapshot={"agent": "Scribe"}), 70_000, ours=True)
    grant_credit(Account.objects.get(workspace=harbour), 20_000_000, NOON - timedelta(days=24))
    return harbour


def sum_by_sql(workspace: Workspace, since: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT -SUM(amount) FROM billing_ledgerentry"
            " WHERE workspace_id = %s AND kind <> 'credit' AND created_at >= %s",
            [workspace.pk, since],
        )
        return int(cursor.fetchone()[0])


def test_the_figures_are_the_ledgers(browser_of_owner: Client, ledgered: Workspace) -> None:
    page = browser_of_owner.get("/w/harbour/plan/")
    text = page.content.decode()
    spent = sum_by_sql(ledgered, datetime(2027, 3, 1, tzinfo=UTC))
    assert spent == 1_234_567 + 40_001 + 300_000
    assert page.context["stands"].spent == page.context["statement"].together == spent
    left = sum(LedgerEntry.objects.filter(workspace=ledgered).values_list("amount", flat=True))
    assert page.context["stands"].left == left
    assert "<h1>$1.57 in March. $13.43 is left.</h1>" in text
    assert "Pro: ten routines, as often as every 15 minutes, on two machines" in text


@pytest.mark.parametrize("by", ["routine", "agent", "day"])
def test_each_grouping_comes_to_the_same(
    browser_of_owner: Client, ledgered: Workspace, by: str
) -> None:
    page = browser_of_owner.get(f"/w/harbour/plan/?by={by}")
    found = page.context["statement"]
    assert (found.by, found.spent, found.refunded) == (by, 1_644_568, 70_000)
    assert "Refunded, interrupted by us" in page.content.decode()
    labels = {line.label for line in found.lines}
    expected = {
        "routine": {"Inbox triage", "Morning brief"},
        "agent": {"Scribe"},
        "day": {"2027-03-23", "2027-03-24", "2027-03-25"},
    }
    assert labels == expected[by]


def test_a_past_month_has_its_own_statement(browser_of_owner: Client, ledgered: Workspace) -> None:
    page = browser_of_owner.get("/w/harbour/plan/?month=2027-02")
    assert page.context["statement"].spent == 5_000_000
    assert "February by routine" in page.content.decode()
    for nonsense in ("2027-13", "9999-01", "x"):
        page = browser_of_owner.get(f"/w/harbour/plan/?month={nonsense}")
        assert page.context["month"].key == "2027-03"


def test_a_statement_as_a_file_is_exact(browser_of_owner: Client, ledgered: Workspace) -> None:
    for number, name in enumerate(FORMULAS):
        make_routine(ledgered, name=name, slug=f"formula-{number}")
    answer = browser_of_owner.get("/w/harbour/plan/statement.csv?by=routine&month=2027-03")
    rows = list(csv.reader(io.StringIO(answer.content.decode())))
    assert ["Inbox triage", "2", "1.274568"] in rows
    assert ["Refunded", "1", "-0.070000"] in rows
    assert rows[-1] == ["Together", "4", "1.574568"]
    assert {f"'{name}" for name in FORMULAS} <= {row[0] for row in rows}
    assert 'filename="harbour-2027-03-by-routine.csv"' in answer["Content-Disposition"]


def test_the_ledger_finds_a_routine_or_a_run(browser_of_owner: Client, ledgered: Workspace) -> None:
    asked = Run.objects.filter(workspace=ledgered).latest("pk").number
    page = browser_of_owner.get(f"/w/harbour/plan/ledger/?q={asked}").context["page"]
    assert page.entries and {each.run.number for each in page.entries} == {asked}
    page = browser_of_owner.get("/w/harbour/plan/ledger/?q=triage").context["page"]
    assert {each.run.routine.name for each in page.entries} == {"Inbox triage"}


def test_where_no_credit_is_kept_the_ledger_counts_what_was_spent(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    spend(make_run(make_routine(harbour)), 300_000)
    page = browser_of_owner.get("/w/harbour/plan/ledger/").content.decode()
    assert 'data-l="Spent so far">$0.30</td>' in page and "Left</th>" not in page


def test_each_entry_says_what_was_left_after_it(
    browser_of_owner: Client, ledgered: Workspace
) -> None:
    page = browser_of_owner.get("/w/harbour/plan/ledger/")
    entries = page.context["page"].entries
    running = 0
    for row in LedgerEntry.objects.filter(workspace=ledgered).order_by("created_at", "id"):
        running += row.amount
        assert next(e.left for e in entries if e.row.pk == row.pk) == running
    text = page.content.decode()
    assert "+$0.07" in text and ", interrupted by us" in text and "+$20.00" in text


def test_the_ledger_goes_on_by_key_and_loses_nothing(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            workspace=harbour,
            kind="credit",
            amount=1,
            key=f"k{number}",
            created_at=NOON - timedelta(minutes=number // 7),  # seven at each instant
        )
        for number in range(160)
    )
    seen, path = [], "/w/harbour/plan/ledger/"
    for _ in range(10):
        page = browser_of_owner.get(path)
        seen += [entry.row.pk for entry in page.context["page"].entries]
        assert [entry.left for entry in page.context["page"].entries]
        if not page.context["older"]:
            break
        path = f"/w/harbour/plan/ledger/?{page.context['older']}"
    assert len(seen) == len(set(seen)) == 160
    assert page.context["page"].entries[-1].left == 1


def test_what_a_live_run_holds_stands_on_top(browser_of_owner: Client, ledgered: Workspace) -> None:
    running = make_run(ledgered.routines.get(slug="triage"), RunStatus.RUNNING)
    assert take_hold(ledgered.pk, running.key, 600_000, NOON) is None
    text = browser_of_owner.get("/w/harbour/plan/ledger/").content.decode()
    assert "Held</span>" in text and ": its cap, until it ends" in text
    assert "$12.83 free" in text
    text = browser_of_owner.get("/w/harbour/plan/").content.decode()
    assert "$0.60 of it held for Inbox triage, running" in text


@pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
def test_others_see_only_their_own_rows_and_no_acts(
    client: Client, ledgered: Workspace, role: Role
) -> None:
    person = make_member(ledgered, role)
    own = make_routine(ledgered, owner=person, name="Own errand", slug="own")
    spend(make_run(own), 111_000)
    client.force_login(person)
    page = client.get("/w/harbour/plan/")
    text = page.content.decode()
    assert [line.label for line in page.context["statement"].lines] == ["Own errand"]
    assert page.context["statement"].together == 111_000
    assert "Inbox triage" not in text and ">Save</button>" not in text
    text = client.get("/w/harbour/plan/ledger/").content.decode()
    assert "Own errand" in text and "Inbox triage" not in text and "Left</th>" not in text
    rows = client.get("/w/harbour/plan/ledger.csv").content.decode()
    assert "Own errand" in rows and "Inbox triage" not in rows
    assert client.post("/w/harbour/plan/", {"budget": "1"}).status_code == 403
    assert Account.objects.get(workspace=ledgered).monthly_budget is None


def test_an_admin_sets_the_budget_under_their_name(
    browser_of_owner: Client, ledgered: Workspace, owner: User
) -> None:
    page = browser_of_owner.post("/w/harbour/plan/", {"budget": "2"}, follow=True)
    account = Account.objects.get(workspace=ledgered)
    assert (account.monthly_budget, account.budget_by, account.budget_at) == (
        2_000_000,
        owner,
        NOON,
    )
    text = page.content.decode()
    assert "<h1>$1.57 in March. $0.43 of the budget is left.</h1>" in text
    assert f"Last set by {owner}" in text and "78% spent" in text
    for typed, said in (("lots", "Write an amount in dollars"), ("-1", "Write an amount from $0")):
        page = browser_of_owner.post("/w/harbour/plan/", {"budget": typed})
        assert page.status_code == 422 and page.content.decode().count(said) == 2
    browser_of_owner.post("/w/harbour/plan/", {"budget": ""})
    assert Account.objects.get(workspace=ledgered).monthly_budget is None


def test_money_that_won_t_last_is_said_with_its_day(
    browser_of_owner: Client, ledgered: Workspace
) -> None:
    triage = ledgered.routines.get(slug="triage")
    for number in range(8):
        make_run(triage, at=NOON - timedelta(hours=number + 1), spent=400_000)
    Account.objects.filter(workspace=ledgered).update(monthly_budget=3_000_000)
    page = browser_of_owner.get("/w/harbour/plan/")
    assert "The budget may not last the month." in page.content.decode()
    assert page.context["ahead"].gone is not None
    assert page.context["ahead"].at_most == 3_000_000  # a run never starts past it


def test_the_plans_are_a_table_and_a_smaller_one_names_what_stops(
    browser_of_owner: Client, ledgered: Workspace
) -> None:
    text = browser_of_owner.get("/w/harbour/plan/choose/").content.decode()
    assert "Pro, until it is changed" in text and "manage.py set_plan harbour pro" in text
    assert "If you moved down to Free" in text
    keeps, stops = text.split("Keeps running")[1].split("Doesn’t run")
    assert "Inbox triage" in keeps and "Morning brief" in stops
    assert "Self-hosted</th>" not in text


def test_a_self_hosted_place_says_who_pays(browser_of_owner: Client, harbour: Workspace) -> None:
    text = browser_of_owner.get("/w/harbour/plan/").content.decode()
    assert "<h1>$0.00 in March.</h1>" in text
    assert "paid to its provider, with the key that you connect" in text
    assert "Self-hosted</b> · 0 routines on" in text
