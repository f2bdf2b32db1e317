"""What a run changed where it works, when that isn't its routine's own folder."""

from collections.abc import Iterator
from itertools import count

import pytest

from foundation import clock
from machines.providers.base import FileEntry, Ref
from routines_app.rules.changed_path import kept_path, whole_path
from routines_app.runner import folder as looking
from routines_app.runner import folder_marks
from routines_app.runner.ending import FileChange
from tests.runner.disk import HERE, STATE, Disk, changes, ended, looked

THERE = "~/tide-tables"


@pytest.fixture
def disk() -> Disk:
    return Disk()


def test_both_folders_are_told_and_counted(disk: Disk) -> None:
    disk.put("notes.md", "one\n")
    disk.put(f"{THERE}/notes.md", "one\n")
    disk.put(f"{THERE}/old.csv", "1\n")
    folders = looked(disk, THERE)
    disk.put("state.md", "- read: today\n")
    disk.put("notes.md", "two\n")
    disk.put(f"{THERE}/notes.md", "one\nmore\n")
    disk.put(f"{THERE}/deep/new.md", "new\n")
    disk.drop(f"{THERE}/old.csv")
    end = ended(folders, "- read: today\n")
    assert end.facts == {"kept": 1, "files_changed": 5}
    assert end.changes == (
        FileChange("notes.md", "changed", 4, 4, 1, 1, "@@ -1,1 +1,1 @@\n-one\n+two"),
        FileChange("~/tide-tables/deep/new.md", "new", None, 4, 1, 0, "@@ -0,0 +1,1 @@\n+new"),
        FileChange("~/tide-tables/notes.md", "changed", 4, 9, 1, 0, "@@ -1,1 +1,2 @@\n one\n+more"),
        FileChange("~/tide-tables/old.csv", "gone", 2, None, 0, 1, "@@ -1,1 +0,0 @@\n-1"),
        FileChange("state.md", "changed", len(STATE), 14, 1, 1, why="memory"),
    )


@pytest.mark.parametrize(
    ("works_in", "more"),
    [
        (HERE, []),
        ("routines/brief/", []),
        ("~/tide-tables/../routines//brief", []),
        (f"{HERE}/repo", []),
        (f"{HERE}/node_modules/repo", ["node_modules/repo/main.js"]),
        ("~/routines", ["~/routines/other/state.md"]),
        ("~", ["~/routines/other/state.md", "~/tide-tables/notes.md"]),
        ("/home/agent/tide-tables", ["~/tide-tables/notes.md"]),
        ("~/../elsewhere", []),
    ],
)
def test_where_one_folder_is_in_the_other_each_file_is_told_once(
    disk: Disk, works_in: str, more: list[str]
) -> None:
    files = [
        "notes.md",
        "repo/a.md",
        "node_modules/repo/main.js",
        "~/routines/other/state.md",
        "~/tide-tables/notes.md",
    ]
    for path in files:
        disk.put(path, "one\n")
    folders = looked(disk, works_in)
    for path in files:
        disk.put(path, "two\n")
    end = ended(folders)
    assert [each.path for each in end.changes] == sorted(["notes.md", "repo/a.md", *more])
    assert {each.diff for each in end.changes} == {"@@ -1,1 +1,1 @@\n-one\n+two"}
    assert end.facts == {"kept": 1, "files_changed": 2 + len(more)}


def test_what_tools_keep_for_themselves_is_passed_over(disk: Disk) -> None:
    folders = looked(disk, THERE)
    bulk = [".git/HEAD", "web/node_modules/a/index.js", ".venv/bin/python", "__pycache__/a.pyc"]
    for path in [*bulk, ".routine/run.sh", "sub/.git", "build/.venv"]:
        disk.put(f"{THERE}/{path}", "x\n")
    assert list(changes(folders)) == [f"{THERE}/build/.venv"]


def test_a_folder_that_the_turn_makes_is_all_new_and_one_it_moves_away_gone(disk: Disk) -> None:
    folders = looked(disk, THERE)
    disk.put(f"{THERE}/src/a.py", "a\n")
    end = ended(folders)
    assert [(each.path, each.kind) for each in end.changes] == [(f"{THERE}/src/a.py", "new")]
    folders = looked(disk, THERE)
    home = disk._machine(disk.ref).home.root.children
    home["elsewhere"] = home.pop("tide-tables")
    end = ended(folders)
    assert [(each.path, each.kind) for each in end.changes] == [(f"{THERE}/src/a.py", "gone")]
    assert end.changes[0].diff == "@@ -1,1 +0,0 @@\n-a"
    assert "folder_unseen" not in end.facts


def test_a_folder_of_too_many_names_hides_nothing_of_the_routines_own(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_marks, "MOST_NAMES", 30)
    for number in range(40):
        disk.put(f"{THERE}/{number}", "x")
    disk.put("deep/notes.md", "one\n")
    folders = looked(disk, THERE)
    disk.put("deep/notes.md", "two\n")
    disk.put(f"{THERE}/more", "x")
    end = ended(folders)
    assert [(each.path, each.added) for each in end.changes] == [("deep/notes.md", 1)]
    assert end.facts["folder_unseen"] == "They hold more than 30 names."


def test_names_without_end_take_neither_the_time_of_copies_nor_more_than_there_is(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    monkeypatch.setattr(folder_marks, "MOST_NAMES", 10**9)
    listed = disk.list_files

    def without_end(ref: Ref, path: str) -> Iterator[FileEntry]:
        nonlocal now
        if path != THERE:
            yield from listed(ref, path)
            return
        for number in count():
            now += 0.0001  # seconds
            yield FileEntry(f"{THERE}/{number}", "file", 1, 1.0)

    monkeypatch.setattr(disk, "list_files", without_end)
    disk.put("notes.md", "one\n")
    folders = looked(disk, THERE)
    disk.put("notes.md", "two\n")
    assert now < looking.LOOK_SECONDS
    end = ended(folders)
    assert now < 2 * looking.LOOK_SECONDS
    assert [(each.path, each.added, each.removed) for each in end.changes] == [("notes.md", 1, 1)]
    assert end.facts["folder_unseen"] == "It took too long to look at all of them."


def test_copies_are_bounded_for_both_together_the_upper_files_first(disk: Disk) -> None:
    for number in range(200):
        disk.put(f"deep/{number}", "x")
        disk.put(f"{THERE}/deep/{number}", "x")
    disk.put("notes.md", "one\n" * 90)
    disk.put(f"{THERE}/notes.md", "one\n" * 90)
    folders = looked(disk, THERE)
    assert disk.reads == looking.MOST_COPIES
    disk.put("notes.md", "two\n")
    disk.put(f"{THERE}/notes.md", "two\n")
    assert [each.added for each in ended(folders).changes] == [1, 1]


def test_a_link_that_leads_out_of_home_is_not_followed_and_said(disk: Disk) -> None:
    disk.run("ln -s /etc ~/tide-tables")
    disk.put("notes.md", "one\n")
    folders = looked(disk, THERE)
    disk.put("notes.md", "two\n")
    end = ended(folders)
    assert [each.path for each in end.changes] == ["notes.md"]
    assert "leads out of the machine's home" in str(end.facts["folder_unseen"])


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (f"{HERE}/notes.md", "notes.md"),
        (f"{HERE}/~notes.md", "~notes.md"),
        (f"{HERE}/~/notes.md", f"{HERE}/~/notes.md"),
        (f"{HERE}-two/notes.md", f"{HERE}-two/notes.md"),
        (f"{THERE}/notes.md", f"{THERE}/notes.md"),
    ],
)
def test_a_kept_path_leads_back_to_its_file(path: str, kept: str) -> None:
    assert kept_path(path, HERE) == kept
    assert whole_path(kept, HERE) == path
