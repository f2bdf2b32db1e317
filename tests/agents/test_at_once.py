"""One runner takes 50 turns at once, and the web process knows nothing of models' libraries."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from routines_app.agents.model import ModelRuntime
from routines_app.agents.turn import TurnInterrupted, TurnOutcome
from tests.agents.support import PROVIDERS, KeptSteps, choice_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import FakeProvider, Hang, Held, Move, call, finish
from tests.fakes.model_wire import Seen

AT_ONCE = 50
LIBRARIES = ("pydantic_ai", "anthropic", "openai", "google.genai", "mcp", "httpx2", "genai_prices")


def fifty(home: Path, fake: FakeProvider, sinks: list[KeptSteps]) -> list[TurnOutcome | None]:
    """Take 50 turns on threads of this process; None where one was interrupted."""

    def one(number: int) -> TurnOutcome | None:
        folder = home / str(number)
        folder.mkdir()
        wanted = request(
            f"Number {number}.", model=choice_of(fake, PROVIDERS[number % 4]), seconds=120.0
        )
        try:
            return ModelRuntime().take_turn(wanted, FolderComputer(folder), sinks[number])
        except TurnInterrupted:
            return None

    with ThreadPoolExecutor(AT_ONCE) as workers:
        return list(workers.map(one, range(AT_ONCE)))


def test_fifty_turns_at_once_each_keep_their_own_work_and_count(tmp_path: Path) -> None:
    together = threading.Barrier(AT_ONCE, timeout=60)

    def script(seen: Seen) -> Move:
        if seen.results:
            return finish("Done.")
        number = seen.task.partition("Number ")[2].partition(".")[0]
        # No answer comes before all 50 have asked: they're under way at the same moment.
        return Held(together.wait, call("write_file", path="report.md", text=number))

    sinks = [KeptSteps() for _ in range(AT_ONCE)]
    with FakeProvider(script) as fake:
        outcomes = fifty(tmp_path, fake, sinks)
    assert fake.problems == []
    assert [outcome.code for outcome in outcomes if outcome] == ["done_changed"] * AT_ONCE
    for number in range(AT_ONCE):
        written = tmp_path / str(number) / "routines/morning-numbers/report.md"
        assert written.read_text() == str(number)
    assert sum(sink.cost for sink in sinks) == sum(each.spent for each in outcomes if each)
    assert fake.meter.billed <= sum(sink.cost for sink in sinks)
    assert len(fake.seen) == 2 * AT_ONCE


def test_stop_ends_fifty_turns_within_two_seconds(tmp_path: Path) -> None:
    pressed: list[float] = []
    sinks = [KeptSteps(stop=lambda: bool(pressed)) for _ in range(AT_ONCE)]

    def press(fake: FakeProvider) -> None:
        until = time.monotonic() + 60
        while len(fake.seen) < AT_ONCE and time.monotonic() < until:
            time.sleep(0.05)
        pressed.append(time.monotonic())

    with FakeProvider(lambda seen: Hang(60.0)) as fake:
        presser = threading.Thread(target=press, args=(fake,))
        presser.start()
        outcomes = fifty(tmp_path, fake, sinks)
        took = time.monotonic() - pressed[0]
        presser.join()
    assert outcomes == [None] * AT_ONCE
    assert took < 2.0


WEB = """
import os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
import routines_app.asgi
from django.urls import get_resolver

def walk(patterns):
    for each in patterns:
        walk(getattr(each, "url_patterns", []))

walk(get_resolver().url_patterns)
print(*sorted(sys.modules))
"""


@pytest.mark.parametrize("code", [WEB])
def test_the_web_process_imports_no_library_of_models(code: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert shown.returncode == 0, shown.stderr
    loaded = set(shown.stdout.split())
    assert "routines_app.web.urls" in loaded, "the whole of the web process was loaded"
    assert {name for name in LIBRARIES if name in loaded} == set()
