"""What a command had printed is kept when its turn is interrupted, and the turn still ends."""

from pathlib import Path

import pytest

from routines_app.agents.model import ModelRuntime
from routines_app.agents.script import COMMAND, ScriptRuntime
from routines_app.agents.turn import (
    CommandResult,
    NewStep,
    Runtime,
    StepKind,
    TurnInterrupted,
    TurnRequest,
)
from tests.agents.support import KeptSteps, choice_of, price_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import FakeProvider, Meter
from tests.fakes.model_wire import Answer

PARTIAL = CommandResult(137, "cancelled", "started\nwent on\n", "", 2.5)


class Interrupted(FolderComputer):
    """A machine on which somebody presses Stop while a command runs."""

    def __init__(self, home: Path, partial: CommandResult | None) -> None:
        super().__init__(home)
        self.pressed = TurnInterrupted("stopped")
        self.pressed.partial = partial

    def run(self, argv: list[str], **more: object) -> CommandResult:  # type: ignore[override]
        raise self.pressed


class ThenRaises(KeptSteps):
    """Stores a step first, and then says again that the turn has to end, as the run's own does."""

    def record(self, step: NewStep) -> None:
        super().record(step)
        if step.facts.get("interrupted"):
            raise TurnInterrupted("again")


def interrupted(
    runtime: Runtime, given: TurnRequest, home: Path, partial: CommandResult | None
) -> ThenRaises:
    steps, computer = ThenRaises(), Interrupted(home, partial)
    with pytest.raises(TurnInterrupted) as raised:
        runtime.take_turn(given, computer, steps)
    assert raised.value is computer.pressed  # not the sink's second one
    return steps


def test_what_a_script_had_printed_is_a_step(tmp_path: Path) -> None:
    steps = interrupted(ScriptRuntime(), request("echo started"), tmp_path, PARTIAL)
    facts = {"interrupted": True, "lines": 2}
    assert steps.steps == [
        NewStep(StepKind.RAN, COMMAND, "started\nwent on\n", seconds=2.5, facts=facts)
    ]


def test_what_a_model_s_command_had_printed_is_a_step_with_its_cost(tmp_path: Path) -> None:
    calls = [Answer(calls=(("run_command", {"command": "make"}),))]
    with FakeProvider(calls, Meter(bytes_per_token=2.5)) as fake:
        given = request(model=choice_of(fake, "openai-compatible", price_of(fake.meter)))
        steps = interrupted(ModelRuntime(), given, tmp_path, PARTIAL)
    (step,) = steps.steps
    assert (step.kind, step.title, step.content) == (StepKind.RAN, "make", "started\nwent on\n")
    assert step.facts["interrupted"] is True
    assert step.cost == steps.told[-1][0] > 0


def test_an_interruption_while_no_command_ran_leaves_no_step(tmp_path: Path) -> None:
    assert interrupted(ScriptRuntime(), request("true"), tmp_path, None).steps == []
