"""What a run changed in its folder is kept with its end, and costs a run that changed none."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from foundation import database_clock
from machines.access import provider_for
from machines.models import Machine
from machines.providers.memory import Answer, MemoryProvider
from routines_app.fires import FireRequest, claim_fire, request_fires
from routines_app.models import FolderChange, Run
from routines_app.rules.status import RunStatus
from routines_app.runner import folder, record
from routines_app.runner.ending import Ending, FileChange
from routines_app.runner.folder import KEPT
from routines_app.runner.run_fire import take_fire
from tests.factories import make_machine, make_routine, make_workspace
from tests.runner.conftest import fire_once

LISTED = ("path", "kind", "why", "added", "removed")


@pytest.mark.sandbox
@pytest.mark.django_db(transaction=True)
def test_a_real_folder_with_names_and_files_of_every_kind(machine: Machine) -> None:
    script = r"""
    if [ -e kept.md ]; then
        touch same.txt; rm gone.txt; echo two >> kept.md; rm swapped; mkdir swapped
        echo in > swapped/in.txt
        printf 'x\n' > "$(printf 'line\nbreak\033[31m.txt')"
        printf 'x\n' > "$(printf 'caf\351.txt')"; printf 'caf\351' > latin.txt
        printf 'a\0b' > nul.bin; head -c 40000 /dev/zero | tr '\0' y > line.txt
        ln -s /etc/passwd passwd; ln -s .. up; mkfifo pipe; echo x > '<i>.html'
        truncate -s 1G sparse.img; echo 'report: done'
    else
        for name in kept.md same.txt gone.txt swapped; do echo one > $name; done
        echo 'report: made'
    fi
    """
    routine = make_routine(machine.workspace, machine=machine, instructions=script)
    assert fire_once(routine, "first").facts["files_changed"] == 4
    run = fire_once(routine, "second")
    assert run.status == "done_changed"
    rows = list(run.folder_changes.order_by("number").values_list(*LISTED))
    assert rows == [
        ("<i>.html", "new", "", 1, 0),
        ("caf�.txt", "new", "", 1, 0),
        ("gone.txt", "gone", "", 0, 1),
        ("kept.md", "changed", "", 1, 0),
        ("latin.txt", "new", "not_text", None, None),
        ("line\nbreak\x1b[31m.txt", "new", "", 1, 0),
        ("line.txt", "new", "too_large", None, None),
        ("nul.bin", "new", "not_text", None, None),
        ("sparse.img", "new", "too_large", None, None),
        ("swapped", "gone", "folder", 0, 1),
        ("swapped/in.txt", "new", "", 1, 0),
    ]
    assert run.facts["files_changed"] == len(rows)
    assert "folder_unseen" not in run.facts


@pytest.mark.sandbox
@pytest.mark.django_db(transaction=True)
def test_a_repository_that_a_run_makes_changes_and_moves_away(machine: Machine) -> None:
    script = r"""
    own=~/routines/brief
    if [ ! -e notes.md ]; then echo one > notes.md; echo one > $own/seen.txt
    elif [ ! -e src ]; then
        echo two >> notes.md; mkdir -p src .git node_modules
        echo 'x = 1' | tee src/tide.py .git/HEAD > node_modules/a.js; echo two > $own/seen.txt
    else cd; mv tide-tables elsewhere
    fi
    echo 'report: done'
    """
    routine = make_routine(
        machine.workspace,
        slug="brief",
        machine=machine,
        instructions=script,
        folder="~/tide-tables",
    )
    told = []
    for key in ("makes", "changes", "moves"):
        run = fire_once(routine, key)
        assert (run.status, "folder_unseen" in run.facts) == ("done_changed", False)
        rows = list(run.folder_changes.order_by("number").values_list("path", "kind", "added"))
        assert run.facts["files_changed"] == len(rows)
        told.append(rows)
    assert told == [
        [("seen.txt", "new", 1), ("~/tide-tables/notes.md", "new", 1)],
        [
            ("seen.txt", "changed", 1),
            ("~/tide-tables/notes.md", "changed", 1),
            ("~/tide-tables/src/tide.py", "new", 1),
        ],
        [("~/tide-tables/notes.md", "gone", 0), ("~/tide-tables/src/tide.py", "gone", 0)],
    ]


@pytest.fixture
def routine_that(db: None) -> Callable[[dict[str, bytes]], Run]:
    """A run in memory whose script leaves these files, not taken yet."""
    machine = make_machine(make_workspace())
    provider, _ = provider_for(machine)
    assert isinstance(provider, MemoryProvider)

    def made(files: dict[str, bytes]) -> Run:
        routine = make_routine(machine.workspace, machine=machine)
        at = {f"~/routines/{routine.slug}/{name}": data for name, data in files.items()}
        done = Answer(out=b"report: done\n", files=at)
        provider.answer(["bash", ".routine/run.sh"], done)
        now = database_clock.now()
        request_fires([FireRequest(routine.pk, "timer", "k", now, scheduled=True)], now)
        return Run.objects.get(routine=routine)

    return made


def statements(run: Run) -> int:
    """How many of a run's statements speak of changed files."""
    with CaptureQueriesContext(connection) as asked:
        take_fire(run.fire_id)
    return sum("folderchange" in each["sql"] for each in asked)


def test_a_run_that_changes_no_file_asks_the_database_nothing_more(
    routine_that: Callable[[dict[str, bytes]], Run],
) -> None:
    none = routine_that({})
    assert statements(none) == 0
    many = routine_that({f"{number}.txt": b"x\n" for number in range(120)})
    assert statements(many) == 1
    assert none.folder_changes.count() == 0
    many.refresh_from_db()
    assert many.facts["files_changed"] == 120
    assert many.folder_changes.count() == KEPT


def test_a_run_that_its_check_ends_looks_at_no_file(
    routine_that: Callable[[dict[str, bytes]], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = routine_that({"a.txt": b"x\n"})
    run.routine.check_command, run.routine.folder = "false", "~/tide-tables"
    run.routine.save()
    monkeypatch.setattr(folder, "folder_marks", pytest.fail)
    take_fire(run.fire_id)
    run.refresh_from_db()
    assert (run.status, run.folder_changes.count()) == ("nothing_to_do", 0)


def test_only_whoever_holds_the_claim_keeps_what_changed(
    routine_that: Callable[[dict[str, bytes]], Run],
) -> None:
    run = routine_that({})
    claim = claim_fire(run.fire_id, "one")
    assert claim is not None
    ending = Ending(RunStatus.FAIL_RESTART, changes=(FileChange("a", "new", None, 1),))
    stale = type(claim)(**{**vars(claim), "token": run.key})
    assert not record.finish(stale, ending)
    assert FolderChange.objects.count() == 0
    assert record.finish(claim, ending)
    assert not record.finish(claim, ending)
    assert FolderChange.objects.get().path == "a"
