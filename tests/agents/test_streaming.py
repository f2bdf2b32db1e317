"""The text of an answer is told while it comes in, about once a second and not more."""

import threading
import time
from pathlib import Path

import pytest

from routines_app.agents.model import ModelRuntime
from routines_app.agents.turn import TurnInterrupted
from tests.agents.support import PROVIDERS, KeptSteps, choice_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import Answer, FakeProvider, finish

TEXT = "Four herons were seen at the weir this morning, and one more at noon."


@pytest.mark.parametrize("provider", PROVIDERS)
def test_text_is_told_as_it_comes(tmp_path: Path, provider: str) -> None:
    steps = KeptSteps()
    slow = Answer(text=TEXT, calls=finish("Five herons.").calls, pace=0.15)
    with FakeProvider([slow]) as fake:
        wanted = request(model=choice_of(fake, provider))
        began = time.monotonic()
        outcome = ModelRuntime().take_turn(wanted, FolderComputer(tmp_path), steps)
        took = time.monotonic() - began
    assert outcome.headline == "Five herons."
    assert steps.streamed, "nothing was told before the answer was whole"
    assert steps.streamed[0] != TEXT
    for earlier, later in zip(steps.streamed, steps.streamed[1:], strict=False):
        assert len(earlier) < len(later)
    assert all(TEXT.startswith(each) for each in steps.streamed)
    assert len(steps.streamed) <= took + 1
    assert steps.steps[0].content == TEXT


def test_stop_works_while_text_streams(tmp_path: Path) -> None:
    pressed = threading.Event()
    steps = KeptSteps(stop=pressed.is_set)
    with FakeProvider([Answer(text="word " * 400, pace=0.05)]) as fake:
        threading.Timer(1.5, pressed.set).start()
        began = time.monotonic()
        with pytest.raises(TurnInterrupted):
            ModelRuntime().take_turn(
                request(model=choice_of(fake, "anthropic")), FolderComputer(tmp_path), steps
            )
    assert time.monotonic() - began < 1.5 + 1.5
    assert steps.streamed
    assert steps.told[-1][0] >= fake.meter.billed
