"""The script runtime: what its last line and its exit code come to."""

from pathlib import Path

import pytest

from routines_app.agents.script import SCRIPT_PATH, ScriptRuntime
from routines_app.agents.turn import (
    CommandResult,
    ComputerFailed,
    ComputerRefused,
    StepKind,
    TurnOutcome,
)
from tests.agents.support import KeptSteps, request
from tests.fakes.computer import FolderComputer


def run(home: Path, script: str, **more: object) -> tuple[TurnOutcome, KeptSteps]:
    steps = KeptSteps()
    outcome = ScriptRuntime().take_turn(request(script, **more), FolderComputer(home), steps)
    return outcome, steps


def test_a_report_line_is_the_headline_and_the_rest_is_the_body(tmp_path: Path) -> None:
    outcome, steps = run(tmp_path, "echo one\necho two\necho 'report: Sales rose by 4%.'")
    assert (outcome.code, outcome.changed) == ("done_changed", True)
    assert outcome.headline == "Sales rose by 4%."
    assert outcome.body == "one\ntwo"
    assert steps.kinds == [StepKind.RAN, StepKind.FINISHED]
    assert steps.steps[0].facts["exit_code"] == 0
    assert "two" in steps.steps[0].content


@pytest.mark.parametrize(
    "last", ["nothing changed", "Nothing changed.", "NOTHING  CHANGED!", "report: nothing changed"]
)
def test_the_one_sentence_means_nothing_to_report(tmp_path: Path, last: str) -> None:
    outcome, _ = run(tmp_path, f"echo looked\necho '{last}'\necho")
    assert (outcome.code, outcome.changed, outcome.headline) == ("done_unchanged", False, "")
    assert outcome.body == "looked"


@pytest.mark.parametrize(
    "last", ["nothing changed in main", "nothing has changed", "unchanged", "not nothing changed"]
)
def test_other_sentences_mean_that_something_changed(tmp_path: Path, last: str) -> None:
    outcome, _ = run(tmp_path, f"echo '{last}'")
    assert (outcome.code, outcome.headline, outcome.body) == ("done_changed", "", last)


def test_a_script_without_output_left_no_summary_and_is_no_failure(tmp_path: Path) -> None:
    outcome, steps = run(tmp_path, "touch made.txt")
    assert (outcome.code, outcome.headline, outcome.body) == ("done_changed", "", "")
    assert (tmp_path / "routines/morning-numbers/made.txt").exists()
    assert len(steps.steps) == 2


def test_a_failing_script_keeps_its_exit_code_and_its_last_line(tmp_path: Path) -> None:
    outcome, steps = run(tmp_path, "echo starting\necho 'no such sheet' >&2\nexit 3")
    assert outcome.code == "fail_script"
    assert (outcome.facts["exit_code"], outcome.facts["last_line"]) == (3, "no such sheet")
    assert outcome.body == "starting\nno such sheet"
    assert steps.kinds == [StepKind.RAN]


def test_a_report_line_before_a_failure_is_no_success(tmp_path: Path) -> None:
    outcome, _ = run(tmp_path, "echo 'report: fine'\nexit 1")
    assert outcome.code == "fail_script"


def test_bash_names_the_script_and_the_line_in_its_errors(tmp_path: Path) -> None:
    outcome, _ = run(tmp_path, "echo one\ngti status")
    assert outcome.facts["exit_code"] == 127
    assert outcome.facts["last_line"] == f"{SCRIPT_PATH}: line 2: gti: command not found"


def test_line_ends_from_a_text_box_are_no_part_of_a_word(tmp_path: Path) -> None:
    outcome, _ = run(tmp_path, "if true; then\r\n  echo 'report: yes'\r\nfi\r\n")
    assert outcome.headline == "yes"


def test_a_script_longer_than_a_command_line_may_be_runs(tmp_path: Path) -> None:
    outcome, _ = run(tmp_path, f"# {'x' * 300_000}\necho 'report: long'")
    assert outcome.headline == "long"


def test_a_script_that_runs_too_long_is_out_of_time(tmp_path: Path) -> None:
    outcome, steps = run(tmp_path, "echo working\nsleep 30", seconds=0.3)
    assert outcome.code == "stop_time"
    assert outcome.facts["doing"] == "running its script"
    assert "working" in steps.steps[0].content


def test_a_script_costs_nothing(tmp_path: Path) -> None:
    outcome, steps = run(tmp_path, "echo 'report: x'")
    assert (outcome.spent, outcome.usage.requests, steps.cost, steps.told) == (0, 0, 0, [])


def test_endless_output_is_cut_and_fails(tmp_path: Path) -> None:
    outcome, steps = run(tmp_path, "head -c 500000 /dev/zero | tr '\\0' 'a'")
    assert outcome.code == "fail_script"
    assert outcome.facts["last_line"]
    assert len(steps.steps[0].content) < 21_000
    assert len(outcome.body) < 61_000


class Broken(FolderComputer):
    """A machine that fails to run anything."""

    def __init__(self, home: Path, error: Exception | None, reason: str = "oom") -> None:
        super().__init__(home)
        self.error = error
        self.reason = reason

    def run(self, argv: list[str], **more: object) -> CommandResult:  # type: ignore[override]
        if self.error:
            raise self.error
        return CommandResult(137, self.reason, "half\n", "", 0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "variant"),
    [
        (ComputerFailed("disk", "Its disk is full."), "disk"),
        (ComputerRefused("The folder is outside home."), "refused"),
        (None, "memory"),
    ],
)
def test_a_failing_machine_is_on_the_row(
    tmp_path: Path, error: Exception | None, variant: str
) -> None:
    outcome = ScriptRuntime().take_turn(request("true"), Broken(tmp_path, error), KeptSteps())
    assert outcome.code == "fail_machine"
    assert (outcome.facts["variant"], outcome.facts["doing"]) == (variant, "running its script")


def test_a_command_that_filled_the_disk_is_the_machine_s_failure(tmp_path: Path) -> None:
    steps = KeptSteps()
    outcome = ScriptRuntime().take_turn(request("true"), Broken(tmp_path, None, "disk"), steps)
    assert (outcome.code, outcome.facts["variant"]) == ("fail_machine", "disk")
    assert steps.steps[0].content == "half\n"
