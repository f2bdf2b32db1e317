"""What a run changed in its folder, whatever an agent leaves there: bounded, and nothing hidden."""

from collections.abc import Iterator

import pytest

from machines.providers.base import FileEntry
from routines_app.agents.turn import TurnInterrupted
from routines_app.rules.status import RunStatus
from routines_app.runner import folder as looking
from routines_app.runner import folder_marks
from routines_app.runner.ending import Ending, FileChange
from routines_app.runner.folder import RunFolders
from tests.runner.disk import HERE, STATE, Disk, changes, ended, looked


@pytest.fixture
def disk() -> Disk:
    return Disk()


def test_each_file_is_told_with_its_lines(disk: Disk) -> None:
    disk.put("notes.md", "one\ntwo\n")
    disk.put("old/gone.txt", "bye\n")
    disk.put("same.txt", "same\n")
    folder = looked(disk)
    disk.put("notes.md", "one\nthree\nfour\n")
    disk.put("same.txt", "same\n")  # another time, the same bytes
    disk.put("new/draft.md", "# Draft\n")
    disk.drop("old/gone.txt")
    end = ended(folder)
    assert end.facts == {"kept": 1, "files_changed": 3}
    assert end.changes == (
        FileChange("new/draft.md", "new", None, 8, 1, 0, "@@ -0,0 +1,1 @@\n+# Draft"),
        FileChange(
            "notes.md", "changed", 8, 15, 2, 1, "@@ -1,2 +1,3 @@\n one\n-two\n+three\n+four"
        ),
        FileChange("old/gone.txt", "gone", 4, None, 0, 1, "@@ -1,1 +0,0 @@\n-bye"),
    )


def test_a_run_whose_turn_never_began_tells_nothing(disk: Disk) -> None:
    disk.put("notes.md", "one\n")
    assert ended(RunFolders()) == Ending(RunStatus.DONE_CHANGED, {"kept": 1}, state_after=STATE)


def test_its_memory_is_counted_and_its_texts_stay_with_the_run(disk: Disk) -> None:
    folder = looked(disk)
    disk.put("state.md", "- read: today\n- more\n")
    disk.put("zebra.txt", "z\n")
    end = ended(folder, "- read: today\n- more\n")
    assert end.facts["files_changed"] == 2
    last = end.changes[-1]
    assert (last.path, last.why, last.added, last.removed) == ("state.md", "memory", 2, 1)
    assert last.diff == ""
    folder = looked(disk)
    disk.put("state.md", "- read: today\n- more\n")
    assert changes(RunFolders()) == changes(folder) == {}


def test_a_memory_that_was_not_read_afterwards_is_said(disk: Disk) -> None:
    folder = looked(disk)
    disk.put("state.md", "other")
    assert ended(folder, None).changes[0].why == "unreadable"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (b"text\n", b"nul\0byte", "not_text"),
        (b"\xff\xfe", b"now text\n", "not_text"),
        (b"x" * 32_001, b"small\n", "too_large"),
        (b"small\n", b"x" * 32_001, "too_large"),
        (None, b"x" * 900_000, "too_large"),
        (None, b"caf\xe9", "not_text"),
        (b"\0", None, "not_text"),
    ],
)
def test_what_is_no_text_or_too_large_is_told_by_its_size(
    disk: Disk, before: bytes | None, after: bytes | None, why: str
) -> None:
    if before is not None:
        disk.put("f", before)
    folder = looked(disk)
    if after is None:
        disk.drop("f")
    else:
        disk.put("f", after)
    change = changes(folder)["f"]
    assert (change.why, change.diff, change.added, change.removed) == (why, "", None, None)
    assert change.size_before == (None if before is None else len(before))
    assert change.size_after == (None if after is None else len(after))


def test_two_thousand_changes_at_once_are_counted_and_the_first_are_kept(disk: Disk) -> None:
    for number in range(2_000):
        disk.put(f"d{number % 7}/{number:04}.txt", f"{number}\n")
    folder = looked(disk)
    assert disk.reads == looking.MOST_COPIES
    for number in range(2_000):
        disk.put(f"d{number % 7}/{number:04}.txt", f"changed {number}\n")
    disk.put("state.md", "after\n")
    end = ended(folder, "after\n")
    assert end.facts == {"kept": 1, "files_changed": 2_001}
    assert len(end.changes) == looking.KEPT
    assert end.changes[-1].path == "state.md"
    assert {each.why for each in end.changes[:-1]} <= {"", "no_copy"}
    assert disk.reads <= 2 * looking.MOST_COPIES


def test_what_tools_keep_far_down_crowds_out_no_file_near_the_top(disk: Disk) -> None:
    disk.put("zoo.md", "one\n" * 900)
    for number in range(400):
        disk.put(f".cache/deep/{number:03}", "x")
    folder = looked(disk)
    disk.put("zoo.md", "two\n")
    for number in range(400):
        disk.put(f".cache/deep/{number:03}", "y")
    end = ended(folder)
    assert end.facts["files_changed"] == 401
    assert end.changes[-1].path == "zoo.md"
    assert (end.changes[-1].added, end.changes[-1].removed) == (1, 900)


def test_what_is_read_and_kept_is_bounded_in_all(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "DIFF_IN_ALL", 3_000)
    monkeypatch.setattr(looking, "COPIED_IN_ALL", 40_000)
    for number in range(9):
        disk.put(f"{number}.txt", f"{number}\n" * (1_000 + number))
    disk.put("wide.txt", "w" * 30_000)
    folder = looked(disk)
    for number in range(9):
        disk.put(f"{number}.txt", f"line {number}\n" * 900)
    disk.put("wide.txt", "v" * 30_001)
    found = changes(folder)
    assert sum(len(each.diff) for each in found.values()) < 3_100
    assert found["0.txt"].diff.splitlines()[-1].startswith("\\ ")
    assert (found["0.txt"].added, found["0.txt"].removed) == (900, 1_000)
    assert found["8.txt"].why == "no_room"
    assert found["wide.txt"].why == "no_copy"


def test_a_line_without_an_end_is_cut(disk: Disk) -> None:
    folder = looked(disk)
    disk.put("one-line.json", "x" * 31_000)
    diff = changes(folder)["one-line.json"].diff
    assert "(30,000 more characters)" in diff and len(diff) < 1_200


def test_strange_names_are_kept_as_text(disk: Disk) -> None:
    folder = looked(disk)
    names = ["a\nb\x1b[31m.txt", "<b onclick=x>.md", "caf\udce9", "l" * 250 + "/" + "m" * 900]
    for name in names:
        disk.put(name, "x\n")
    found = list(changes(folder))
    assert found[:2] == ["<b onclick=x>.md", "a\nb\x1b[31m.txt"]
    assert found[2] == "caf�"
    assert found[3].endswith("m…") and len(found[3]) == looking.PATH + 1


def test_links_are_not_followed_and_what_stands_in_a_files_place_is_said(disk: Disk) -> None:
    for name in ("linked", "swapped", "shut/inner"):
        disk.put(name, "secret\n")
    folder = looked(disk)
    for name in ("linked", "swapped", "shut"):
        disk.drop(name)
    disk.run("ln -s /etc/passwd linked; ln -s ../../other shut; ln -s .. up; mkfifo pipe")
    disk.put("swapped/within.txt", "new\n")
    found = changes(folder)
    assert {path: (each.kind, each.why) for path, each in found.items()} == {
        "linked": ("gone", "link"),
        "shut/inner": ("gone", ""),
        "swapped": ("gone", "folder"),
        "swapped/within.txt": ("new", ""),
    }


def test_what_changes_while_it_is_read_is_said(disk: Disk) -> None:
    disk.put("grows.log", "a\n")
    disk.put("swapped.txt", "a\n")
    folder = looked(disk)
    disk.put("grows.log", "b\n")
    disk.put("swapped.txt", "b\n")

    def meanwhile() -> None:
        disk.meanwhile = None
        disk.put("grows.log", "b" * 40_000)
        disk.drop("swapped.txt")
        disk.put("swapped.txt/now", "a folder")

    disk.meanwhile = meanwhile
    found = changes(folder)
    assert found["grows.log"].why == "too_large"
    assert found["swapped.txt"].why == "unreadable"
    assert "is a folder" in found["swapped.txt"].reason


def test_a_file_that_cannot_be_read_afterwards_says_why(disk: Disk) -> None:
    folder = looked(disk)
    disk.put("shut.txt", "x")
    disk.broken.add(f"{HERE}/shut.txt")
    change = changes(folder)["shut.txt"]
    assert (change.why, change.size_after) == ("unreadable", 1)
    assert change.reason.endswith("Input/output error.")


def test_a_folder_that_cannot_be_listed_hides_no_deletion_and_invents_none(disk: Disk) -> None:
    disk.put("far/a.txt", "a\n")
    folder = looked(disk)
    disk.put("near.txt", "n\n")
    disk.broken.add(f"{HERE}/far")
    end = ended(folder)
    assert [each.path for each in end.changes] == ["near.txt"]
    assert "Input/output error" in str(end.facts["folder_unseen"])
    disk.broken.add(HERE)
    end = ended(folder)
    assert (end.changes, end.facts["files_changed"]) == ((), 0)


def test_a_disk_that_fails_amid_the_names_ends_no_run(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Iterator[FileEntry]:
        yield FileEntry(f"{HERE}/a", "file", 1, 1.0)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(disk, "list_files", fails)
    end = ended(looked(disk))
    assert (end.changes, end.facts["files_changed"]) == ((), 0)
    assert "Input/output error" in str(end.facts["folder_unseen"])


def test_a_folder_of_too_many_names_is_passed_over_and_said(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_marks, "MOST_NAMES", 30)
    for number in range(40):
        disk.put(f"bulk/{number}", "x")
    folder = looked(disk)
    disk.put("bulk/more", "x")
    disk.put("zoo.txt", "z\n")
    end = ended(folder)
    assert [each.path for each in end.changes] == ["zoo.txt"]
    assert end.facts["folder_unseen"] == "It holds more than 30 names."


def test_ours_and_gits_are_left_out(disk: Disk) -> None:
    folder = looked(disk)
    for path in (".routine/run.sh", ".git/HEAD", "deep/.git/index", "deep/.gitignore"):
        disk.put(path, "x\n")
    assert list(changes(folder)) == ["deep/.gitignore"]


def test_a_stop_ends_the_look_at_once(disk: Disk) -> None:
    disk.put("notes.md", "one\n")

    def stopped() -> None:
        raise TurnInterrupted("stopped")

    folder = RunFolders()
    with pytest.raises(TurnInterrupted):
        folder.look(disk, disk.ref, HERE, HERE, STATE, stopped)
    assert changes(folder) == {}


def test_both_looks_end_in_time(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.put("notes.md", "one\n")
    folder = looked(disk)
    disk.put("notes.md", "two\n")
    monkeypatch.setattr(looking, "LOOK_SECONDS", -1.0)
    assert ended(folder).facts["folder_unseen"] == "It took too long to look at all of it."


def test_whatever_breaks_the_run_has_its_end(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = looked(disk)

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(looking, "differing", broken)
    end = ended(folder)
    assert (end.changes, end.state_after) == ((), STATE)
    assert "ours broke" in str(end.facts["folder_unseen"])
