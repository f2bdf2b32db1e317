"""What a run changed in its folder, on its page and in the file's history."""

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Workspace
from machines.access import provider_for
from routines_app.models import FolderChange, Routine, Run
from routines_app.rules.status import RunStatus
from routines_app.runner.ending import FileChange
from routines_app.runner.keep_changes import change_rows
from routines_app.web.file_past import past_of
from routines_app.web.run_files import words_of
from tests.factories import make_routine, make_run, make_workspace

NOTES = FileChange(
    "notes.md", "changed", 12, 20, 1, 1, "@@ -1,2 +1,2 @@\n one\n-<two>\n+<b>three</b>\n+"
)
FILE = "/w/harbour/files/quay-1/routines/brief/notes.md"
ELSEWHERE = replace(NOTES, path="~/tide-tables/notes.md")
FILE_ELSEWHERE = "/w/harbour/files/quay-1/tide-tables/notes.md"


@pytest.fixture
def routine(harbour: Workspace) -> Routine:
    return make_routine(harbour, name="Brief", slug="brief")


@pytest.fixture
def run_that(routine: Routine) -> Callable[..., Run]:
    """A run that is over and left these changes."""

    def made(*changes: FileChange, status: RunStatus = RunStatus.DONE_CHANGED, **facts: Any) -> Run:
        facts = {"files_changed": len(changes)} | facts
        run = make_run(routine, status, facts=facts, headline="Notes", machine=routine.machine)
        FolderChange.objects.bulk_create(change_rows(run.pk, routine.pk, changes))
        return run

    return made


def section(browser: Client, run: Run) -> str:
    """The part of a run's page that says what it changed, "" without one."""
    answer = browser.get(f"/w/harbour/routines/brief/runs/{run.number}/")
    assert answer.status_code == 200
    _, _, rest = answer.content.decode().partition('<h2 id="files">')
    return rest.partition("</section>")[0]


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_a_changed_file_is_a_closed_line_with_its_diff_and_a_link(
    browser_of_owner: Client, run_that: Callable[..., Run]
) -> None:
    run = run_that(NOTES)
    shown = section(browser_of_owner, run)
    assert '<details class="tool"><summary><b>Changed</b><code>notes.md</code>' in shown
    assert "<span>+1 −1 lines</span>" in shown
    assert "<del>&lt;two&gt;</del><ins>&lt;b&gt;three&lt;/b&gt;</ins><ins> </ins>" in shown
    assert f'href="{FILE}"' in shown
    assert "20 B, 12 B before." in shown


@pytest.mark.parametrize(
    "status", [RunStatus.STOP_PERSON, RunStatus.STOP_DELETED, RunStatus.STOP_COST,
               RunStatus.STOP_TIME, RunStatus.FAIL_AGENT],
)  # fmt: skip
def test_whatever_ended_it_shows_what_it_changed(
    browser_of_owner: Client, run_that: Callable[..., Run], status: RunStatus
) -> None:
    assert "notes.md" in section(browser_of_owner, run_that(NOTES, status=status))


def test_a_run_that_changed_nothing_shows_nothing_and_asks_nothing(
    browser_of_owner: Client, run_that: Callable[..., Run]
) -> None:
    run = run_that()
    with CaptureQueriesContext(connection) as asked:
        assert section(browser_of_owner, run) == ""
    assert not any("folderchange" in each["sql"] for each in asked)


def test_lists_of_runs_read_no_diffs(
    browser_of_owner: Client, run_that: Callable[..., Run]
) -> None:
    run_that(NOTES)
    with CaptureQueriesContext(connection) as asked:
        for path in ("routines/", "routines/brief/"):
            assert browser_of_owner.get(f"/w/harbour/{path}").status_code == 200
    assert not any("folderchange" in each["sql"] for each in asked)


def test_what_isnt_listed_and_what_wasnt_seen_is_said(
    browser_of_owner: Client, run_that: Callable[..., Run]
) -> None:
    run = run_that(NOTES, files_changed=2_001, folder_unseen="~/x couldn't be used: <i>.")
    shown = plain(section(browser_of_owner, run))
    assert "2,001 files" in shown
    assert "2,000 more files changed; they aren’t listed." in shown
    assert "Not all of its folder could be compared. ~/x couldn't be used: <i>." in shown
    run = run_that(folder_unseen="It took too long to look at all of it.")
    assert "It took too long" in section(browser_of_owner, run)


def test_what_was_changed_elsewhere_is_linked_there(
    browser_of_owner: Client, run_that: Callable[..., Run]
) -> None:
    run = run_that(NOTES, ELSEWHERE, folder_unseen="They hold more than 25,000 names.")
    Run.objects.filter(pk=run.pk).update(snapshot={"cap": 1, "folder": "~/tide-tables"})
    shown = section(browser_of_owner, run)
    assert "<code>~/tide-tables/notes.md</code>" in shown
    assert f'href="{FILE}"' in shown and f'href="{FILE_ELSEWHERE}"' in shown
    assert "2 files" in shown
    assert "Not all of its folders could be compared. They hold" in shown


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("a\nb\x1b[31m", "a␊b␛[31m"),
        ("<script>alert(1)</script>.md", "<script>alert(1)</script>.md"),
        ("caf�.txt", "caf�.txt"),
        ("gpj.\u202eexe", "gpj.⟨U+202E⟩exe"),
        ("l" * 1_000 + "…", "l" * 1_000 + "…"),
    ],
)
def test_a_strange_name_is_shown_as_text_and_linked_only_when_it_can_be(
    browser_of_owner: Client, run_that: Callable[..., Run], path: str, seen: str
) -> None:
    shown = section(browser_of_owner, run_that(FileChange(path, "new", None, 3, 1, 0)))
    assert f"<code>{seen}</code>" in unescape(shown)
    assert ("Open file" in shown) == path.endswith(".md")
    assert "<script" not in shown


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (FileChange("f", "new", None, 0, 0, 0), "0 B. It is empty."),
        (FileChange("f", "new", None, 900_000, why="too_large"), "900 KB. Too large to show."),
        (
            FileChange("f", "changed", 40_000, 40_000, why="too_large"),
            "40 KB, as before. Too large to show. Its size is the same; whether its content "
            "differs isn’t known.",
        ),
        (FileChange("f", "gone", 7, None, why="not_text"), "7 B. It isn’t text."),
        (
            FileChange("f", "changed", 7, 9, why="unreadable", reason="f couldn't\nbe used."),
            "9 B, 7 B before. It couldn’t be read after the run. f couldn't␊be used.",
        ),
        (
            FileChange("f", "gone", 4, None, 0, 1, "@@ -1,1 +0,0 @@\n-one", "link"),
            "4 B. A link has its name now. Links aren’t followed.",
        ),
    ],
)
def test_why_no_lines_are_shown_is_said(change: FileChange, words: str) -> None:
    assert words_of(change_rows(1, 1, [change])[0]) == words


def test_a_file_says_which_runs_changed_it_and_how(
    browser_of_owner: Client, routine: Routine, run_that: Callable[..., Run]
) -> None:
    assert routine.machine is not None
    provider, ref = provider_for(routine.machine)
    provider.write_file(ref, "~/routines/brief/notes.md", b"one\n<b>three</b>\n\n")
    assert "By run" not in browser_of_owner.get(FILE).content.decode()
    first = run_that(NOTES)
    run_that(FileChange("other.md", "new", None, 1, 1, 0))
    large = run_that(FileChange("notes.md", "changed", 20, 50_000, why="too_large"))
    page = plain(browser_of_owner.get(FILE).content.decode())
    assert f"Run {large.number} 50 KB" in page
    assert f"Run {first.number} +1 −1" in page
    assert "“<b>three</b>”" in page
    assert page.count("Run ") == 2
    assert "The next run reads this first" not in page
    edition = browser_of_owner.get(f"{FILE}?edition={first.number}").content.decode()
    assert "<ins>&lt;b&gt;three&lt;/b&gt;</ins>" in edition
    assert "Put back" not in edition
    edition = browser_of_owner.get(f"{FILE}?edition={large.number}").content.decode()
    assert "Too large to show." in edition
    assert browser_of_owner.get(f"{FILE}?edition=77").status_code == 404
    asked = {"do": "put_back", "edition": str(first.number), "version": ""}
    assert browser_of_owner.post(FILE, asked).status_code == 404


def test_a_file_that_several_routines_work_on_names_them(
    browser_of_owner: Client, routine: Routine, run_that: Callable[..., Run]
) -> None:
    assert routine.machine is not None
    other = make_routine(routine.workspace, name="Tide tables", machine=routine.machine)
    provider, ref = provider_for(routine.machine)
    for path in ("~/tide-tables/notes.md", "~/routines/brief/notes.md"):
        provider.write_file(ref, path, b"one\n")
    first = run_that(ELSEWHERE, NOTES)
    second = make_run(other, machine=other.machine)
    changes = (ELSEWHERE, replace(NOTES, path="~/routines/brief/notes.md", added=7))
    FolderChange.objects.bulk_create(change_rows(second.pk, other.pk, changes))
    assert first.number == second.number == 1
    page = plain(browser_of_owner.get(FILE_ELSEWHERE).content.decode())
    assert page.index("Tide tables, run 1 +1 −1") < page.index("Brief, run 1 +1 −1")
    page = plain(browser_of_owner.get(FILE).content.decode())
    assert page.index("Tide tables, run 1 +7 −1") < page.index("Run 1 +1 −1")
    for name, whose in ((f"{other.slug}-1", "run 1 of Tide tables"), ("brief-1", "run 1 of Brief")):
        answer = browser_of_owner.get(f"{FILE_ELSEWHERE}?edition={name}")
        assert f"What {whose} changed" in plain(answer.content.decode())
        assert answer.context["edition"].name == name
    assert browser_of_owner.get(f"{FILE_ELSEWHERE}?edition=1").status_code == 404


def test_another_workspaces_runs_stay_its_own(
    browser_of_owner: Client, routine: Routine, run_that: Callable[..., Run]
) -> None:
    assert routine.machine is not None
    provider, ref = provider_for(routine.machine)
    provider.write_file(ref, "~/tide-tables/notes.md", b"one\n")
    theirs = make_routine(make_workspace(name="Quarry", slug="quarry"), name="Theirs")
    run = make_run(theirs, machine=theirs.machine)
    FolderChange.objects.bulk_create(change_rows(run.pk, theirs.pk, [ELSEWHERE]))
    assert "run 1" not in browser_of_owner.get(FILE_ELSEWHERE).content.decode()


def test_a_files_history_is_read_by_an_index(
    browser_of_owner: Client, routine: Routine, run_that: Callable[..., Run]
) -> None:
    assert routine.machine is not None
    for number in range(40):
        make_routine(routine.workspace, name=f"Routine {number}", machine=routine.machine)
    run = run_that()
    rows = [FileChange(f"{number}.md", "new", None, 1) for number in range(3_000)]
    FolderChange.objects.bulk_create(change_rows(run.pk, routine.pk, rows))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE routines_app_folderchange, routines_app_routine")
    for path in ("routines/brief/7.md", "tide-tables/7.md"):
        with CaptureQueriesContext(connection) as asked:
            past_of(routine.machine, path)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {asked.captured_queries[-1]['sql']}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
        assert "folder_change_by_path" in plan
        assert "Seq Scan on routines_app_folderchange" not in plan
