"""The starters: what is offered where, and the script, on a real shell."""

import shutil
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from accounts.models import Workspace
from billing.prices import Price
from machines.routine_folder import SEED_STATE
from routines_app.agents.turn import ModelConnection
from routines_app.configure.models import UsableModel
from routines_app.models import Routine, Run
from routines_app.web import starters
from routines_app.web.starters import STARTERS, starter_of

LIST = "/w/harbour/routines/"
FOLDER = STARTERS[0]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "routines" / "watch").mkdir(parents=True)
    return tmp_path


def run_script(home: Path, folder: str) -> tuple[int, str]:
    """Runs the script as the machine would: in the routine's folder, with home set."""
    place = home / "routines" / "watch"
    (place / "run.sh").write_text(FOLDER.text(folder))
    done = subprocess.run(
        ["bash", "run.sh"],
        cwd=place,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == "" or done.returncode, done.stderr
    return done.returncode, done.stdout


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def test_the_first_look_says_what_is_there(home: Path) -> None:
    (home / "inbox").mkdir()
    (home / "inbox" / "a.txt").write_text("1")
    code, said = run_script(home, "~/inbox")
    assert (code, last_line(said)) == (0, "report: First look: 1 file in ~/inbox")
    assert "- `a.txt`" in said
    state = (home / "routines" / "watch" / "state.md").read_text()
    assert state == "<!-- what this script notes -->\nfolder: ~/inbox\nfiles: 1\n"


def test_what_stands_in_the_memory_already_is_kept(home: Path) -> None:
    memory = home / "routines" / "watch" / "state.md"
    memory.write_text(SEED_STATE)
    (home / "inbox").mkdir()
    run_script(home, "~/inbox")
    first = memory.read_text()
    assert first.startswith(SEED_STATE) and first.endswith("folder: ~/inbox\nfiles: 0\n")
    (home / "inbox" / "a.txt").write_text("1")
    run_script(home, "~/inbox")
    second = memory.read_text()
    assert second.startswith(SEED_STATE) and second.count("folder: ") == 1
    assert second.endswith("files: 1\nlast change:\n  new: a.txt\n")


def test_changes_are_named_and_quiet_is_said_exactly(home: Path) -> None:
    box = home / "in box"
    box.mkdir()
    (box / "kept.txt").write_text("1")
    (box / "edited.txt").write_text("1")
    (box / "gone $(touch x) 'y'.txt").write_text("1")
    run_script(home, "~/in box")
    assert run_script(home, "~/in box") == (0, "nothing changed\n")
    (box / "edited.txt").write_text("2")
    (box / "new.txt").write_text("1")
    (box / "gone $(touch x) 'y'.txt").unlink()
    code, said = run_script(home, "~/in box")
    assert code == 0
    assert last_line(said).startswith("report: 3 files changed: edited.txt, ")
    assert "- changed `edited.txt`" in said and "- new `new.txt`" in said
    assert "- gone `gone $(touch x) 'y'.txt`" in said and "kept" not in said
    assert not list(home.rglob("x"))
    assert run_script(home, "~/in box") == (0, "nothing changed\n")


def test_from_an_empty_folder_a_file_is_new(home: Path) -> None:
    _, said = run_script(home, "~/inbox")
    assert "There was no folder ~/inbox, so an empty one was made." in said
    (home / "inbox" / "a.txt").write_text("1")
    assert last_line(run_script(home, "~/inbox")[1]) == "report: 1 file changed: a.txt"
    assert last_line(run_script(home, "~/elsewhere")[1]).startswith("report: First look: 0 files")


def test_home_leaves_out_the_routines_own_folders(home: Path) -> None:
    (home / "a.txt").write_text("1")
    assert last_line(run_script(home, "~")[1]) == "report: First look: 1 file in ~"
    assert run_script(home, "~") == (0, "nothing changed\n")


def test_a_file_isnt_a_folder(home: Path) -> None:
    (home / "a.txt").write_text("1")
    assert run_script(home, "a.txt")[0] == 2


@pytest.mark.parametrize("blank", ["x'; touch pwned; '", "$(touch pwned)", "`touch pwned`", "-rf"])
def test_a_blank_is_only_ever_a_name(home: Path, blank: str) -> None:
    code, _ = run_script(home, blank)
    assert code == 0 and not list(home.rglob("pwned"))


def test_running_a_starter_makes_it_off_and_lands_on_its_run(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    answer = browser_of_owner.post(f"{LIST}new/folder/run/", {"blank": "~/sheets", "key": "k"})
    routine = Routine.objects.get()
    assert answer["Location"] == f"{LIST}{routine.slug}/runs/1/"
    assert not routine.enabled and routine.starter == "folder"
    assert "asked='~/sheets'" in routine.instructions
    assert Run.objects.count() == 1


def test_a_starter_run_again_has_a_name_of_its_own_and_a_second_click_hasnt(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    for key in ("one", "one", "two"):
        browser_of_owner.post(f"{LIST}new/folder/run/", {"blank": "~/sheets", "key": key})
    names = Routine.objects.order_by("pk").values_list("name", flat=True)
    assert list(names) == ["What changed in a folder", "What changed in a folder 2"]


def test_a_blank_stands_in_its_starters_sentence(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    page = browser_of_owner.get(LIST).content.decode()
    row = page[page.index("Tell me what changed in") : page.index("since last time")]
    assert '<label class="sr" for="blank-folder">Folder</label><input id="blank-folder"' in row
    assert 'value="~/inbox"' in row
    assert 'aria-label="Run it now: Tell me what changed in a folder since last time"' in page
    harbour.machines.update(state="awake")
    assert "on a machine that is already awake" in browser_of_owner.get(LIST).content.decode()
    assert "already awake" not in page


def test_an_empty_blank_is_asked_for(browser_of_owner: Client, harbour: Workspace) -> None:
    answer = browser_of_owner.post(f"{LIST}new/folder/run/", {"blank": " "})
    assert answer.status_code == 422 and "Write the folder." in answer.content.decode()
    assert browser_of_owner.post(f"{LIST}new/nothing/run/").status_code == 404
    assert not Routine.objects.exists()


def test_a_starter_that_needs_a_model_says_so(
    browser_of_owner: Client, harbour: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starters, "usable_models", lambda _: [])
    page = browser_of_owner.get(LIST).content.decode()
    assert page.count("Needs a model.") == 2
    answer = browser_of_owner.post(f"{LIST}new/commits/run/", {"blank": "~/repo"})
    assert answer.status_code == 422 and not Routine.objects.exists()


def test_with_a_model_all_are_offered(
    browser_of_owner: Client, harbour: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    price = Price("m", 1, 1)
    model = UsableModel(ModelConnection("openai", "k"), "m", price, None)
    monkeypatch.setattr(starters, "usable_models", lambda _: [model])
    assert "Needs a model." not in browser_of_owner.get(LIST).content.decode()
    browser_of_owner.post(f"{LIST}new/commits/run/", {"blank": "~/repo"})
    routine = Routine.objects.get()
    assert routine.folder == "~/repo" and "git fetch" in routine.check_command
    assert routine.agent is not None and routine.agent.runtime == "model"


@pytest.mark.parametrize("code", [starter.code for starter in STARTERS])
def test_each_starter_opens_in_the_form(
    browser_of_owner: Client, harbour: Workspace, code: str
) -> None:
    page = browser_of_owner.get(f"{LIST}new/?from={code}")
    starter = starter_of(code)
    assert starter is not None
    assert page.status_code == 200 and f'value="{starter.name}"' in page.content.decode()
    assert "@BLANK@" not in page.content.decode()
