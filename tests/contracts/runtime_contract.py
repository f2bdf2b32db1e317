"""What each way of taking a turn promises. A subclass names one; its tests are these.

A runtime reports its steps in order as they end, honours an interruption at once and untouched,
never raises for what belongs on the run's row, and keeps its books straight.
"""

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from routines_app.agents.turn import (
    CommandResult,
    Computer,
    ComputerFailed,
    ComputerRefused,
    FileEntry,
    Runtime,
    StepKind,
    StepSink,
    TurnInterrupted,
    TurnOutcome,
    TurnRequest,
)
from tests.agents.support import KeptSteps
from tests.fakes.computer import FolderComputer

CODES = {
    "done_changed",
    "done_unchanged",
    "stop_cost",
    "stop_time",
    "fail_model",
    "fail_tool",
    "fail_script",
    "fail_agent",
    "fail_empty",
    "fail_machine",
}
NEEDED_FACTS = {
    "stop_cost": {"doing"},
    "stop_time": {"doing", "variant"},
    "fail_model": {"variant", "reason"},
    "fail_tool": {"variant", "reason", "what"},
    "fail_script": {"exit_code", "last_line"},
    "fail_agent": {"reason"},
    "fail_empty": {"variant"},
    "fail_machine": {"doing", "variant"},
}

Work = tuple[Runtime, TurnRequest]


class StrictSteps(KeptSteps):
    """A sink over a database connection: bound to its thread, and never beside an event loop."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.get_ident()

    def check(self) -> None:
        assert threading.get_ident() == self.thread
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        super().check()


class StrictComputer(FolderComputer):
    """A computer that may be used only by the thread that made it."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.thread = threading.get_ident()

    def _inside(self, path: str) -> Path:
        assert threading.get_ident() == self.thread
        return super()._inside(path)


class BrokenComputer:
    """A machine on which everything fails in one way."""

    name = "harbour-2"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def run(
        self,
        argv: list[str],
        *,
        cwd: str,
        timeout: float,
        check: Callable[[], None],
        heard: Callable[[bytes], None] | None = None,
        max_output: int = 200_000,
    ) -> CommandResult:
        raise self.error

    def read_file(self, path: str, max_bytes: int = 1_000_000) -> bytes:
        raise self.error

    def write_file(self, path: str, data: bytes) -> None:
        raise self.error

    def list_files(self, path: str) -> Iterator[FileEntry]:
        raise self.error


class RuntimeContract(ABC):
    """The tests. A subclass says how to have one command run, then a headline reported."""

    @abstractmethod
    def work(self, command: str, headline: str, seconds: float) -> AbstractContextManager[Work]:
        """A runtime and a request whose turn runs `command`, then reports `headline`.

        An empty headline means that nothing changed.
        """

    def take(
        self,
        computer: Computer,
        steps: StepSink,
        *,
        command: str = "echo four",
        headline: str = "Four herons.",
        seconds: float = 20.0,
    ) -> TurnOutcome:
        with self.work(command, headline, seconds) as (runtime, request):
            outcome = runtime.take_turn(request, computer, steps)
        assert outcome.code in CODES
        assert NEEDED_FACTS.get(outcome.code, set()) <= set(outcome.facts)
        assert outcome.changed == (outcome.code == "done_changed")
        assert 0 <= outcome.spent <= request.cap
        return outcome

    def test_it_reports_its_steps_in_order(self, tmp_path: Path) -> None:
        steps = KeptSteps()
        outcome = self.take(FolderComputer(tmp_path), steps)
        assert (outcome.code, outcome.headline) == ("done_changed", "Four herons.")
        assert steps.kinds == [StepKind.RAN, StepKind.FINISHED]
        assert "four" in steps.steps[0].content
        assert steps.steps[1].title == "Four herons."

    def test_its_sink_and_its_machine_stay_on_the_callers_thread(self, tmp_path: Path) -> None:
        steps = StrictSteps()
        outcome = self.take(StrictComputer(tmp_path), steps)
        assert outcome.code == "done_changed"
        assert steps.checks > 2

    def test_it_says_when_nothing_changed(self, tmp_path: Path) -> None:
        outcome = self.take(FolderComputer(tmp_path), KeptSteps(), headline="")
        assert (outcome.code, outcome.changed) == ("done_unchanged", False)

    def test_its_steps_carry_all_that_it_spent(self, tmp_path: Path) -> None:
        steps = KeptSteps()
        outcome = self.take(FolderComputer(tmp_path), steps)
        assert steps.cost == outcome.spent
        assert all(step.cost >= 0 for step in steps.steps)
        if steps.told:
            assert steps.told[-1] == (outcome.spent, outcome.usage)

    def test_it_works_in_the_routines_folder(self, tmp_path: Path) -> None:
        self.take(FolderComputer(tmp_path), KeptSteps(), command="touch here")
        with self.work("true", "x", 5.0) as (_, request):
            folder = request.folder.removeprefix("~/")
        assert (tmp_path / folder / "here").exists()

    def test_titles_are_one_bounded_line(self, tmp_path: Path) -> None:
        steps = KeptSteps()
        self.take(FolderComputer(tmp_path), steps, command=f"true {'long ' * 200}\ntrue")
        for step in steps.steps:
            assert step.title
            assert "\n" not in step.title
            assert len(step.title) <= 300

    def test_huge_output_is_bounded(self, tmp_path: Path) -> None:
        steps = KeptSteps()
        outcome = self.take(FolderComputer(tmp_path), steps, command="seq 60000")
        assert max(len(step.content) for step in steps.steps) < 25_000
        assert len(outcome.body) < 70_000

    def test_output_that_is_no_text_is_kept_as_text(self, tmp_path: Path) -> None:
        steps = KeptSteps()
        self.take(FolderComputer(tmp_path), steps, command="printf '\\377\\000 ok\\n'")
        assert "ok" in steps.steps[0].content
        assert "\x00" not in steps.steps[0].content

    def test_what_a_command_prints_is_told_while_it_runs(self, tmp_path: Path) -> None:
        steps = KeptSteps()
        command = "printf '\\033[31mbegun\\033[0m\\n'; sleep 0.9; echo late"
        self.take(FolderComputer(tmp_path), steps, command=command)
        assert ("begun", 0) in steps.printed_so_far
        assert "late" in steps.steps[0].content

    def test_a_command_that_ends_at_once_is_told_once(self, tmp_path: Path) -> None:
        steps = KeptSteps()
        self.take(FolderComputer(tmp_path), steps)
        assert steps.printed_so_far == []

    def test_an_interruption_before_it_begins_has_no_effect(self, tmp_path: Path) -> None:
        computer = FolderComputer(tmp_path)
        steps = KeptSteps(stop=lambda: True)
        with pytest.raises(TurnInterrupted):
            self.take(computer, steps)
        assert computer.ran == []
        assert list(tmp_path.iterdir()) == []

    def test_an_interruption_ends_a_command_within_a_second(self, tmp_path: Path) -> None:
        stopped = threading.Event()
        steps = KeptSteps(stop=stopped.is_set)
        command = "touch begun; sleep 30; touch late"
        with self.work(command, "x", 40.0) as (runtime, request):
            begun = tmp_path / request.folder.removeprefix("~/") / "begun"
            at: list[float] = []

            def stop_once_begun() -> None:
                until = time.monotonic() + 15
                while not begun.exists() and time.monotonic() < until:
                    time.sleep(0.02)
                at.append(time.monotonic())
                stopped.set()

            watcher = threading.Thread(target=stop_once_begun)
            watcher.start()
            with pytest.raises(TurnInterrupted):
                runtime.take_turn(request, FolderComputer(tmp_path), steps)
            ended = time.monotonic()
            watcher.join()
        assert begun.exists()
        assert ended - at[0] < 1.0

    def test_an_interruption_at_any_check_passes_through_untouched(self, tmp_path: Path) -> None:
        whole = KeptSteps()
        self.take(FolderComputer(tmp_path), whole)
        for number in range(1, whole.checks + 1):
            left = iter(range(1, number))
            steps = KeptSteps(stop=lambda left=left: next(left, None) is None)  # type: ignore[misc]
            try:
                self.take(FolderComputer(tmp_path), steps)
            except TurnInterrupted as error:
                assert error.__cause__ is None
            assert len(steps.steps) <= len(whole.steps)

    def test_time_that_runs_out_is_on_the_row(self, tmp_path: Path) -> None:
        outcome = self.take(FolderComputer(tmp_path), KeptSteps(), command="sleep 30", seconds=1.5)
        assert (outcome.code, outcome.facts["variant"]) == ("stop_time", "seconds")
        assert str(outcome.facts["doing"]).startswith("running ")

    @pytest.mark.parametrize("variant", ["memory", "disk", "silent"])
    def test_a_failing_machine_is_on_the_row(self, variant: str) -> None:
        error = ComputerFailed(variant, "It failed.")  # type: ignore[arg-type]
        outcome = self.take(BrokenComputer(error), KeptSteps())
        assert outcome.code == "fail_machine"
        assert (outcome.facts["variant"], outcome.facts["reason"]) == (variant, "It failed.")

    def test_what_was_printed_before_the_machine_failed_is_kept(self) -> None:
        error = ComputerFailed("silent", "It failed.")
        error.partial = CommandResult(137, "cancelled", "four herons\n", "", 1.0)
        steps = KeptSteps()
        assert self.take(BrokenComputer(error), steps).code == "fail_machine"
        # a script is written to the machine before it runs, where this one fails already
        assert all("four herons" in step.content for step in steps.steps)

    def test_a_refusing_machine_raises_nothing(self) -> None:
        outcome = self.take(BrokenComputer(ComputerRefused("Not that.")), KeptSteps())
        assert outcome.code in CODES
