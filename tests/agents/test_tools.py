"""Tools that edit, search and wait, and which of them an agent is offered."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from foundation import clock
from routines_app.agents.guarded import judge_of_pages
from routines_app.agents.looking import only_looks
from routines_app.agents.model import ModelRuntime
from routines_app.agents.offered import FINISH, TOOLS, offered
from routines_app.agents.tools import ToolResult, doing, opened, use_tool
from routines_app.agents.turn import StepKind, TurnInterrupted
from routines_app.agents.workplace import Workplace
from routines_app.rules.roster import ALL_TOOLS
from tests.agents.support import PROVIDERS, KeptSteps, choice_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import FakeProvider, call, finish


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "r"
    found.mkdir()
    return found


def use(
    home: Path,
    name: str,
    turn_seconds: float = 60.0,
    check: Callable[[], None] = lambda: None,
    **arguments: object,
) -> ToolResult:
    place = Workplace(
        FolderComputer(home), "~/r", clock.monotonic() + turn_seconds, check, judge_of_pages
    )
    return use_tool(name, arguments, place, TOOLS)


def test_every_tool_is_named_once_and_says_whether_it_changes_anything() -> None:
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names) == 9
    assert {*ALL_TOOLS, FINISH} == set(names), "what agents may be given is what there is"
    changing = {tool.name for tool in TOOLS if tool.changes}
    assert changing == {"run_command", "write_file", "edit_file"}
    timer = next(tool for tool in TOOLS if tool.name == "schedule")
    assert "inside this run" in timer.description
    assert "doesn't change when the routine runs" in timer.description
    for tool in TOOLS:
        if tool.name != FINISH:
            assert opened(tool.name, {})[0] is not StepKind.NOTE
            assert doing(tool.name, {}) != "thinking"


def test_an_agent_is_offered_its_own_tools_and_finish() -> None:
    assert offered(("read_file", "absent", "run_command")) == (TOOLS[0], TOOLS[1], TOOLS[-1])
    assert offered(()) == (TOOLS[-1],)
    assert offered(None) == TOOLS


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_tool_that_isnt_offered_does_nothing(tmp_path: Path, provider: str) -> None:
    steps = KeptSteps()
    with FakeProvider([call("run_command", command="touch made"), finish("Seen.")]) as fake:
        wanted = request(model=choice_of(fake, provider), tools=("fetch_url", "read_file"))
        outcome = ModelRuntime().take_turn(wanted, FolderComputer(tmp_path), steps)
    assert fake.seen[0].tools == ("read_file", "fetch_url", "finish")
    assert "no tool called run_command" in fake.seen[1].results[0]
    assert not (tmp_path / "routines/morning-numbers/made").exists()
    assert outcome.code == "done_changed"


@pytest.mark.parametrize(
    ("before", "text", "moved"),
    [
        (None, "one\ntwo\n", {"added": 2, "removed": 0}),
        (b"one\ntwo\n", "two\nthree\nfour", {"added": 2, "removed": 1}),
        (b"one\n", "one\n", {"added": 0, "removed": 0}),
        (b"\x00\x01", "one\n", {}),
        (b"x" * 200_001, "one\n", {}),
    ],
)
def test_a_file_that_is_written_says_how_many_lines_it_gained_and_lost(
    tmp_path: Path, folder: Path, before: bytes | None, text: str, moved: dict[str, int]
) -> None:
    if before is not None:
        (folder / "a.md").write_bytes(before)
    result = use(tmp_path, "write_file", path="a.md", text=text)
    assert (folder / "a.md").read_text() == text
    assert result.step.facts == {"bytes": len(text)} | moved


def test_an_edit_replaces_the_one_place(tmp_path: Path, folder: Path) -> None:
    (folder / "a.md").write_text("one\ntwo é\nthree\n")
    result = use(tmp_path, "edit_file", path="a.md", old="two é\n", new="2\n")
    assert (folder / "a.md").read_text() == "one\n2\nthree\n"
    assert (result.step.kind, result.step.title) == (StepKind.EDITED, "a.md")
    assert result.step.facts == {"bytes": 12, "line": 2, "added": 1, "removed": 1}
    assert result.effect
    assert use(tmp_path, "edit_file", path="a.md", old="2\n", new="").effect
    assert (folder / "a.md").read_text() == "one\nthree\n"


@pytest.mark.parametrize(
    ("content", "old", "new", "told"),
    [
        (b"one two", "three", "3", "isn't in a.md, so nothing was changed. Read the file"),
        (b"x x x", "x", "y", "is in a.md 3 times, so nothing was changed. Give more"),
        (b"a\r\nb\r\n", "a\nb", "c", "Its lines end in CRLF"),
        (b"one", "", "two", "Give the old text"),
        (b"one", "one", "one", "are the same"),
        (b"\xff\xfe", "a", "b", "isn't a UTF-8 text"),
        (None, "a", "b", "There is no file"),
    ],
)
def test_an_edit_that_isnt_certain_changes_nothing(
    tmp_path: Path, folder: Path, content: bytes | None, old: str, new: str, told: str
) -> None:
    if content is not None:
        (folder / "a.md").write_bytes(content)
    result = use(tmp_path, "edit_file", path="a.md", old=old, new=new)
    assert told in result.told
    assert not result.effect
    if content is not None:
        assert (folder / "a.md").read_bytes() == content


def test_a_step_says_whether_its_text_was_written_for_the_model(
    tmp_path: Path, folder: Path
) -> None:
    (folder / "a.md").write_text("one")
    wrongly = use(tmp_path, "write_file", path="a.md", text=3)
    unwilling = use(tmp_path, "edit_file", path="a.md", old="two", new="2")
    absent = use(tmp_path, "read_file", path="absent.md")
    told = [each.step.facts.get("told") for each in (wrongly, unwilling, absent)]
    assert told == ["wrongly", "unwilling", None]


def test_a_search_names_file_and_line(tmp_path: Path, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/b.py").write_text("x = 1\nheron = 2\n" + "heron " * 200)
    (folder / "a.md").write_text("The Heron left.\n")
    (folder / ".git").mkdir()
    (folder / ".git/c").write_text("heron\n")
    (folder / "bin").write_bytes(b"heron\x00heron\n")
    found = use(tmp_path, "search_files", pattern="her(on|d)")
    lines = found.step.content.splitlines()
    assert lines[0] == "sub/b.py:2:heron = 2"
    assert len(lines) == 2
    assert len(lines[1]) == 301
    assert found.step.title == "her(on|d) in ."
    assert "<data from=" in found.told
    assert not found.effect
    both = use(tmp_path, "search_files", pattern="HERON", any_case=True, names="*.md")
    assert both.step.content == "a.md:1:The Heron left."
    assert use(tmp_path, "search_files", pattern="gull").step.content == "No line matches."
    inner = use(tmp_path, "search_files", pattern="x =", path="sub")
    assert inner.step.content == "b.py:1:x = 1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"pattern": "("}, "Mend the pattern"),
        ({"pattern": "a\nb"}, "a pattern of one line"),
        ({"pattern": "x", "path": "absent"}, "There is no folder"),
        ({"pattern": "x", "path": "~/../.."}, "outside home"),
        ({}, "Give pattern as a text"),
        ({"pattern": "-rf", "path": "."}, "No line matches"),
    ],
)
def test_a_search_that_cant_be_done_says_why(
    tmp_path: Path, folder: Path, arguments: dict[str, object], told: str
) -> None:
    assert told in use(tmp_path, "search_files", **arguments).told
    assert not (folder / "absent").exists()


def test_a_search_is_bounded(tmp_path: Path, folder: Path) -> None:
    for number in range(9):
        (folder / f"{number}.txt").write_text("heron\n" * 500)
    found = use(tmp_path, "search_files", pattern="heron")
    assert found.step.facts["lines"] == 200
    assert found.step.content.endswith("search a smaller folder, or more exactly]")


def test_a_wait_takes_its_time_and_says_what_time_it_is(tmp_path: Path) -> None:
    began = clock.monotonic()
    result = use(tmp_path, "schedule", seconds=1)
    assert 1.0 <= clock.monotonic() - began < 3.0
    assert "Waited 1 second. It's 2" in result.told
    until = (clock.now() + timedelta(seconds=1)).isoformat()
    result = use(tmp_path, "schedule", until=until)
    assert result.step.kind is StepKind.WAITED
    assert not result.effect
    passed = use(tmp_path, "schedule", until="2020-01-01T00:00:00Z")
    assert "Waited 0 seconds" in passed.told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"seconds": 3600}, "this run has time to wait for"),
        ({"seconds": 10**400}, "this run has time to wait for"),
        ({"until": "2999-01-01T00:00:00Z"}, "this run has time to wait for"),
        ({}, "either seconds or until"),
        ({"seconds": 5, "until": "2999-01-01T00:00:00Z"}, "either seconds or until"),
        ({"seconds": float("nan")}, "a number above 0"),
        ({"seconds": -1}, "a number above 0"),
        ({"seconds": "5"}, "a number above 0"),
        ({"seconds": True}, "a number above 0"),
        ({"until": "tomorrow"}, "a time with its zone"),
        ({"until": "2027-03-22T08:00:00"}, "a time with its zone"),
        ({"until": 5}, "a time with its zone"),
    ],
)
def test_a_wait_that_cant_be_says_why_at_once(
    tmp_path: Path, arguments: dict[str, object], told: str
) -> None:
    began = clock.monotonic()
    assert told in use(tmp_path, "schedule", **arguments).told
    assert clock.monotonic() - began < 1.0


def test_a_timer_dies_with_its_turn(tmp_path: Path) -> None:
    before = threading.active_count()
    stop_at = clock.monotonic() + 0.7

    def check() -> None:
        if clock.monotonic() >= stop_at:
            raise TurnInterrupted

    with pytest.raises(TurnInterrupted):
        use(tmp_path, "schedule", check=check, seconds=40)
    assert clock.monotonic() - stop_at < 1.0
    assert threading.active_count() <= before


def test_a_wait_is_a_step_of_a_turn_and_stop_ends_it(tmp_path: Path) -> None:
    pressed: list[float] = []

    def stop() -> bool:
        if not pressed and steps.begun and steps.begun[-1][0] is StepKind.WAITED:
            pressed.append(time.monotonic())
        return bool(pressed) and time.monotonic() > pressed[0] + 0.2

    steps = KeptSteps(stop=stop)
    with FakeProvider([call("schedule", seconds=5)]) as fake:
        wanted = request(model=choice_of(fake, "anthropic"))
        with pytest.raises(TurnInterrupted):
            ModelRuntime().take_turn(wanted, FolderComputer(tmp_path), steps)
    assert time.monotonic() - pressed[0] < 1.5
    assert steps.begun[-1] == (StepKind.WAITED, "5 seconds")


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("ls -la | grep heron | wc -l", True),
        ("cat a.md; git log --oneline && git diff", True),
        ("find . -name '*.md' 2>/dev/null", True),
        ("date", True),
        ("echo done", True),
        ("echo done > report.md", False),
        ("cat <(curl -s x)", False),
        ("echo $(rm -r x)", False),
        ("echo `rm x`", False),
        ("git push", False),
        ("git log --output=x", False),
        ("find . -delete", False),
        ("uniq a b", False),
        ("curl -X POST https://example.org", False),
        ("python work.py", False),
        ("ls & rm x", False),
        ("ls\nmake", False),
        ("FOO=1 ls", False),
        ("", False),
    ],
)
def test_whether_a_command_only_looks(command: str, looks: bool) -> None:
    assert only_looks(command) is looks


@pytest.mark.parametrize(
    ("name", "arguments", "effect"),
    [
        ("write_file", {"path": "report.md", "text": "x"}, True),
        ("write_file", {"path": "state.md", "text": "x"}, False),
        ("write_file", {"path": "~/r/state.md", "text": "x"}, False),
        ("write_file", {"path": "../../x", "text": "x"}, False),
        ("run_command", {"command": "touch x"}, True),
        ("run_command", {"command": "touch x; false"}, False),
        ("run_command", {"command": "ls"}, False),
        ("read_file", {"path": "absent"}, False),
    ],
)
def test_what_counts_as_an_effect(
    tmp_path: Path, name: str, arguments: dict[str, object], effect: bool
) -> None:
    assert use(tmp_path, name, **arguments).effect is effect
