"""Every figure on the list, a routine's, a run's and an agent's page, worked out again from the
rows by SQL."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Count
from django.test import Client, override_settings
from pytest_django import DjangoDbBlocker

from accounts.models import User, Workspace
from foundation import clock
from routines_app.models import Agent, Routine, Run
from routines_app.rules.money import dollars, lasted
from routines_app.rules.schedule import from_json, next_occurrence
from routines_app.rules.status import RunStatus

# What can't come of anything that the demo does: events and grants don't exist yet, it has no apps,
# no tool refuses for good, and the others are passed through or only shown.
NOT_MADE_YET = {
    RunStatus.SKIP_SUPERSEDED,
    RunStatus.SKIP_CONNECTOR,
    RunStatus.FAIL_NO_GRANT,
    RunStatus.FAIL_TOOL,
    RunStatus.WAKING,
    RunStatus.CHECKING,
    RunStatus.STOPPING,
}

# The groups of statuses, written out once more: the product's own list isn't asked.
SHAPES = """
CASE WHEN status = 'done_changed' THEN 'done'
     WHEN status = 'done_unchanged' THEN 'nothing to report'
     WHEN status = 'nothing_to_do' THEN 'nothing to do'
     WHEN status LIKE 'skip_%%' OR status = 'fail_no_grant' THEN 'didn’t run'
     WHEN status LIKE 'stop_%%' AND status <> 'stopping' THEN 'stopped early'
     WHEN status LIKE 'fail_%%' THEN 'failed'
     WHEN status = 'queued' THEN 'waiting'
     ELSE 'running' END
"""
ORDER = ("done", "nothing to report", "nothing to do", "didn’t run", "stopped early", "failed",
         "running", "waiting")  # fmt: skip
NEEDS = """
SELECT count(*) FROM routines_app_routine t
LEFT JOIN LATERAL (SELECT status, cause FROM routines_app_run r WHERE r.routine_id = t.id
                   ORDER BY number DESC LIMIT 1) last ON true
WHERE t.workspace_id = %s AND t.deleted_at IS NULL AND (
    (NOT t.enabled AND t.off_reason = 'failures')
    OR (t.enabled AND last.cause <> 'ours' AND (
        last.status IN ('stop_cost', 'stop_time', 'skip_cold', 'skip_wake_refused',
                        'skip_wake_timeout', 'skip_machine_gone', 'skip_missed', 'skip_waited',
                        'skip_no_model', 'skip_connector')
        OR (last.status LIKE 'fail_%%' AND last.status <> 'fail_no_grant'))))
"""
TYPICAL = """
WITH done AS (
    SELECT spent, extract(epoch FROM finished_at - waking_at) AS seconds FROM routines_app_run
    WHERE routine_id = %s AND id <> %s AND status IN ('done_changed', 'done_unchanged')
    ORDER BY number DESC LIMIT 20)
SELECT (SELECT spent FROM done ORDER BY spent OFFSET ((SELECT count(*) FROM done) - 1) / 2 LIMIT 1),
       (SELECT seconds FROM done ORDER BY seconds
        OFFSET ((SELECT count(*) FROM done) - 1) / 2 LIMIT 1),
       (SELECT count(*) FROM done)
"""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
           "eleven", "twelve", "thirteen", "fourteen", "fifteen")  # fmt: skip


@pytest.fixture(scope="module")
def library(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: Any
) -> Iterator[Workspace]:
    """The demo's workspace, seeded once for this file."""
    folder: Path = tmp_path_factory.mktemp("demo")
    apart = {"MACHINE_PROVIDER": "memory", "MEDIA_ROOT": folder}
    with django_db_blocker.unblock(), override_settings(**apart), transaction.atomic():
        call_command("seed_demo", stdout=StringIO())
        yield Workspace.objects.get(slug="demo")
        transaction.set_rollback(True)


@pytest.fixture
def guest(db: None, library: Workspace, client: Client) -> Client:
    """The one who signs in to it."""
    client.force_login(User.objects.get(email="guest@demo.example"))
    return client


def sql(words: str, *values: object) -> Any:
    """The first row of a query; its only value where it has one."""
    with connection.cursor() as cursor:
        cursor.execute(words, values)
        row = cursor.fetchone()
    return row[0] if len(row) == 1 else row


def text_of(html: str) -> str:
    """What a page says, without its marks."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def page(guest: Client, path: str) -> str:
    answer = guest.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def typical(routine: int, but_not: int = 0) -> tuple[str, str] | None:
    """What a run usually costs and takes, in words; None for fewer than three that were done."""
    spent, seconds, count = sql(TYPICAL, routine, but_not)
    if count < 3:
        return None
    seconds = float(seconds)
    return dollars(spent), lasted(seconds)


def heartbeat(routine: int, ticks: int) -> str:
    """The last runs in words."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {SHAPES} FROM routines_app_run WHERE routine_id = %s "
            "ORDER BY number DESC LIMIT %s",
            [routine, ticks],
        )
        return said_of([row[0] for row in cursor.fetchall()])


def said_of(shapes: list[str]) -> str:
    """How runs ended, the newest first, as the line says it."""
    if not shapes:
        return "No runs yet."
    counted = ", ".join(f"{shapes.count(s)} {s}" for s in ORDER if s in shapes)
    many = "Last run" if len(shapes) == 1 else f"Last {len(shapes)} runs"
    return f"{many}: {counted}. Latest: {shapes[0]}."


def test_the_demo_has_every_status_that_can_come_and_nothing_vanished(
    guest: Client, library: Workspace
) -> None:
    found = set(Run.objects.filter(workspace=library).values_list("status", flat=True))
    assert {*RunStatus} - found == NOT_MADE_YET
    said = StringIO()
    call_command("audit_runs", workspace=library.slug, stdout=said)
    accounted, due = re.findall(r"[\d,]+", said.getvalue())
    assert accounted == due
    assert int(due.replace(",", "")) > 500


def test_each_run_lists_as_many_files_as_it_says_it_changed(
    guest: Client, library: Workspace
) -> None:
    runs = Run.objects.filter(workspace=library).annotate(rows=Count("folder_changes"))
    said = runs.values_list("facts__files_changed", "rows", "pk")
    assert [each for each in said if (each[0] or 0) != each[1] and (each[0] or 0) < 100] == []
    assert sum(rows > 1 for _, rows, _ in said) > 30
    run = runs.filter(status="done_changed", rows=2).latest("finished_at")
    html = page(guest, f"/w/{library.slug}/routines/{run.routine.slug}/runs/{run.number}/")
    assert '<a class="link" href="#files">Changed 2 files.</a>' in html
    section = html.split('<h2 id="files">')[1].split("</section>")[0]
    assert section.count("<details") == 2
    assert "2 files" in text_of(section)


def test_seeding_again_changes_nothing_unless_it_is_told_to(
    guest: Client, library: Workspace
) -> None:
    said = StringIO()
    before = Run.objects.count()
    call_command("seed_demo", stdout=said)
    assert "is there already. Nothing was changed." in said.getvalue()
    assert Run.objects.count() == before


def test_the_list_says_what_the_rows_say(guest: Client, library: Workspace) -> None:
    html = page(guest, f"/w/{library.slug}/routines/")
    said = text_of(html)
    runs, spent = sql(
        "SELECT count(*) FILTER (WHERE effects_begun_at IS NOT NULL), "
        "COALESCE(sum(spent) FILTER (WHERE cause <> 'ours'), 0) FROM routines_app_run "
        "WHERE workspace_id = %s AND finished_at >= clock_timestamp() - interval '7 days'",
        library.pk,
    )
    assert runs > 100
    week = re.search(r"([\d,]+) runs (?:in seven days|this week) · (\$[\d.,]+)", said)
    assert week is not None
    assert week.groups() == (f"{runs:,}", dollars(spent))
    needs = sql(NEEDS, library.pk)
    on = sql(
        "SELECT count(*) FROM routines_app_routine WHERE workspace_id = %s AND enabled "
        "AND deleted_at IS NULL AND schedule_kind <> 'when_asked'",
        library.pk,
    )
    on_and_needing = sql(NEEDS + " AND t.enabled", library.pk)
    keeping = NUMBERS[on - on_and_needing].capitalize()
    verb = "routine needs" if needs == 1 else "routines need"
    assert f"{keeping} are keeping time. {NUMBERS[needs].capitalize()} {verb} you." in said
    assert re.search(rf"Needs you {needs}\b", said)
    assert re.search(rf"\bOn {on - on_and_needing}\b", said)


def test_each_row_of_the_list_says_what_its_runs_say(guest: Client, library: Workspace) -> None:
    html = page(guest, f"/w/{library.slug}/routines/")
    routines = Routine.objects.present().filter(workspace=library)
    assert routines.count() > 12
    for routine in routines:
        row = html.split(f'id="routine-{routine.slug}"')[1].split('id="routine-')[0]
        assert unescape(row).count(heartbeat(routine.pk, 28)) == 1, routine
        usual = typical(routine.pk)
        runs, spent = sql(
            "SELECT count(*) FILTER (WHERE effects_begun_at IS NOT NULL), "
            "COALESCE(sum(spent) FILTER (WHERE cause <> 'ours'), 0) FROM routines_app_run "
            "WHERE routine_id = %s AND finished_at IS NOT NULL",
            routine.pk,
        )
        if routine.enabled and usual:
            assert f"typically {usual[0]} · {usual[1]}" in text_of(row), routine
        elif runs:
            noun = "run" if runs == 1 else "runs"
            assert f"{runs:,} {noun} · {dollars(spent)}" in text_of(row), routine


@pytest.mark.parametrize(("shown", "weeks"), [("week", 1), ("weeks", 6), ("all", 5_000)])
def test_each_routines_page_says_what_its_runs_say(
    guest: Client, library: Workspace, shown: str, weeks: int
) -> None:
    for routine in Routine.objects.present().filter(workspace=library):
        path = f"/w/{library.slug}/routines/{routine.slug}/"
        said = text_of(page(guest, f"{path}?range={shown}"))
        runs, refused, spent = sql(
            "SELECT count(*) FILTER (WHERE effects_begun_at IS NOT NULL), "
            "count(*) FILTER (WHERE status LIKE 'skip_%%'), "
            "COALESCE(sum(spent) FILTER (WHERE cause <> 'ours'), 0) FROM routines_app_run "
            "WHERE routine_id = %s AND finished_at IS NOT NULL "
            "AND queued_at >= clock_timestamp() - %s * interval '1 week'",
            routine.pk,
            weeks,
        )
        noun = "run" if runs == 1 else "runs"
        total = f"{runs} {noun} · {dollars(spent)}"
        if usual := typical(routine.pk):
            total = f"{total} · typically {usual[1]}"
        if refused:
            total = f"{total} · {refused} didn’t run"
        assert total in said, routine


def test_each_routines_page_accounts_for_each_occurrence(guest: Client, library: Workspace) -> None:
    for routine in Routine.objects.present().filter(workspace=library):
        said = text_of(page(guest, f"/w/{library.slug}/routines/{routine.slug}/"))
        due = _due(routine)
        assert _rows(routine) == due, routine
        found = re.findall(r"([\d,]+) of ([\d,]+) occurrences accounted for", said)
        assert found == ([(f"{due:,}", f"{due:,}")] if due else []), routine


def _since() -> datetime:
    return clock.now() - timedelta(weeks=6)


def _due(routine: Routine) -> int:
    """What was due in six weeks while it was on, walked through one by one."""
    count = 0
    for span in routine.on_spans.all():
        schedule, at = from_json(span.schedule), max(span.started_at, _since())
        end = min(span.ended_at or clock.now(), clock.now() - timedelta(seconds=60))
        following = next_occurrence(schedule, at)
        while following is not None and following <= end:
            count, following = count + 1, next_occurrence(schedule, following)
    return count


def _rows(routine: Routine) -> int:
    """The occurrences of six weeks that have a run, within the times in which it was on."""
    return int(
        sql(
            "SELECT count(*) FROM routines_app_fire f JOIN routines_app_run r ON r.fire_id = f.id "
            "WHERE f.routine_id = %s AND f.due_at > %s "
            "AND f.due_at <= clock_timestamp() - interval '60 seconds' "
            "AND f.dedup_key = to_char(f.due_at AT TIME ZONE 'UTC', "
            '\'YYYY-MM-DD"T"HH24:MI:SS"Z"\') '
            "AND EXISTS (SELECT FROM routines_app_onspan s WHERE s.routine_id = f.routine_id "
            "AND f.due_at > s.started_at AND f.due_at <= COALESCE(s.ended_at, 'infinity'))",
            routine.pk,
            _since(),
        )
    )


def test_the_ceiling_is_the_months_occurrences_at_the_cap(
    guest: Client, library: Workspace
) -> None:
    seen = 0
    for routine in Routine.objects.present().filter(workspace=library, agent__runtime="model"):
        if routine.schedule_kind in ("when_asked", "once", "yearly"):
            continue
        start = clock.now().astimezone(ZoneInfo(routine.zone)).replace(day=28) + timedelta(days=7)
        start = start.replace(day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
        end = (start + timedelta(days=35)).replace(day=1)
        count, at = 0, next_occurrence(routine.schedule, start - timedelta(seconds=1))
        while at is not None and at < end:
            count, at = count + 1, next_occurrence(routine.schedule, at)
        cap = sql("SELECT cap FROM routines_app_routine WHERE id = %s", routine.pk)
        cents = -(-count * cap // 10_000)
        ceiling = f"${cents // 100:,}.{cents % 100:02}"
        said = text_of(page(guest, f"/w/{library.slug}/routines/{routine.slug}/edit/"))
        assert re.search(rf"at most {re.escape(ceiling)}", said, re.IGNORECASE), (routine, ceiling)
        seen += 1
    assert seen >= 7


def test_each_kind_of_run_says_what_its_rows_say(guest: Client, library: Workspace) -> None:
    ended = Run.objects.filter(
        workspace=library, finished_at__isnull=False, routine__deleted_at=None
    )
    newest = {run.status: run for run in ended.select_related("routine").order_by("queued_at")}
    assert len(newest) > 25
    for status, run in newest.items():
        said = text_of(
            page(guest, f"/w/{library.slug}/routines/{run.routine.slug}/runs/{run.number}/")
        )
        spent, seconds, ours, began, read, written, requests = sql(
            "SELECT spent, extract(epoch FROM finished_at - waking_at), cause = 'ours', "
            "effects_begun_at IS NOT NULL, input_tokens, output_tokens, requests "
            "FROM routines_app_run WHERE id = %s",
            run.pk,
        )
        paid = 0 if ours else spent
        assert f"{'You pay' if ours and spent else 'Spent'} {dollars(paid)}" in said, status
        if began:
            assert f"Time {lasted(float(seconds))}" in said, status
            steps = sql("SELECT count(*) FROM routines_app_step WHERE run_id = %s", run.pk)
            assert f"Steps {steps}" in said, status
            costs = sql("SELECT sum(cost) FROM routines_app_step WHERE run_id = %s", run.pk)
            assert costs == spent, status
        if requests:
            figures = f"{dollars(spent)} for {read:,} tokens read, {written:,} written"
            assert figures in said, status
        if status == "nothing_to_do":
            quiet = sql(
                "SELECT count(*) FROM routines_app_run WHERE routine_id = %s AND number <= %s "
                "AND number > COALESCE((SELECT max(number) FROM routines_app_run "
                "WHERE routine_id = %s AND number < %s AND status <> 'nothing_to_do'), 0)",
                run.routine_id, run.number, run.routine_id, run.number,
            )  # fmt: skip
            words = NUMBERS[quiet] if quiet < len(NUMBERS) else str(quiet)
            many = f"{words.capitalize()} checks in a row found nothing"
            assert (many if quiet > 1 else "The first check in a row that found nothing") in said


# Whose a run is, by what it ran with; by its routine, where it never came to that.
OF_AGENT = """
FROM routines_app_run r JOIN routines_app_routine t ON t.id = r.routine_id
LEFT JOIN routines_app_agent a ON a.id = t.agent_id
WHERE r.workspace_id = %s AND COALESCE(r.snapshot ->> 'agent', a.name) = %s
"""


def test_each_agents_page_says_what_the_runs_say_that_were_its(
    guest: Client, library: Workspace
) -> None:
    seen = 0
    for agent in Agent.objects.filter(workspace=library, deleted_at=None):
        html = page(guest, f"/w/{library.slug}/agents/{agent.slug}/")
        said = text_of(html)
        of_it = (library.pk, agent.name)
        with connection.cursor() as cursor:
            last = f"SELECT {SHAPES.replace('status', 'r.status')} {OF_AGENT}"
            cursor.execute(f"{last} ORDER BY r.queued_at DESC, r.id DESC LIMIT 28", of_it)
            shapes = [row[0] for row in cursor.fetchall()]
        runs, spent, month = sql(
            "SELECT count(*) FILTER (WHERE r.effects_begun_at IS NOT NULL), "
            "COALESCE(sum(r.spent) FILTER (WHERE r.cause <> 'ours'), 0), "
            f"to_char(clock_timestamp() AT TIME ZONE %s, 'FMMonth') {OF_AGENT} "
            "AND r.finished_at IS NOT NULL AND date_trunc('month', r.queued_at AT TIME ZONE %s) "
            "= date_trunc('month', clock_timestamp() AT TIME ZONE %s)",
            library.zone, *of_it, library.zone, library.zone,
        )  # fmt: skip
        if shapes:
            assert unescape(html).count(said_of(shapes)) == 1, agent
            assert f"{runs} in {month}, {dollars(spent)}." in said, agent
            seen += 1
        usual, many = sql(
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n.spent), count(*) FROM (SELECT "
            f"r.spent {OF_AGENT} AND r.turn_at IS NOT NULL AND r.finished_at IS NOT NULL "
            "ORDER BY r.finished_at DESC LIMIT 20) n",
            *of_it,
        )
        if many >= 3:
            assert f"{dollars(int(usual))} a run." in said, agent
    assert seen >= 4
