"""What each process needs at most: `python -m tests.agents.memory` starts each one, lets it do its
work, and prints its peak memory. The runner takes 50 turns at once; the provider is another
process's, as it is in life.
"""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable

from tests.agents.test_at_once import AT_ONCE, WEB
from tests.fakes.model_provider import Answer, FakeProvider, Held, Move, finish
from tests.fakes.model_wire import Seen

PEAK = """
import resource
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
CLOCK = """
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
import django
django.setup()
from routines_app.celery import app
app.loader.import_default_modules()
app.finalize()
"""
RUNNER = f"""{CLOCK}
import sys
from pathlib import Path
from concurrent.futures import ThreadPoolExecutor
from routines_app.agents.model import ModelRuntime
from routines_app.agents.runtimes import load_libraries
from routines_app.agents.turn import ModelChoice, ModelConnection
from tests.agents.support import MODELS, PROVIDERS, KeptSteps, request
from billing.prices import Price
from tests.fakes.computer import FolderComputer
load_libraries()
port, folder, turns = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])

def one(number):
    wire = PROVIDERS[number % 4]
    root = f"http://127.0.0.1:{{port}}" + ("/v1" if wire.startswith("openai") else "")
    choice = ModelChoice(ModelConnection(wire, "k", root, nearby=True), MODELS[wire],
                         Price("m", input=3_000_000, output=15_000_000))
    home = folder / str(number)
    home.mkdir()
    wanted = request(model=choice, seconds=300.0)
    return ModelRuntime().take_turn(wanted, FolderComputer(home), KeptSteps()).code

if turns:
    with ThreadPoolExecutor(turns) as workers:
        codes = list(workers.map(one, range(turns)))
    assert codes == ["done_changed"] * turns, codes
"""


def peak(code: str, *arguments: str) -> int:
    """The most memory that a process with this code held, in MB."""
    shown = subprocess.run(
        [sys.executable, "-c", code + PEAK, *arguments], capture_output=True, text=True, check=False
    )
    if shown.returncode:
        raise SystemExit(shown.stderr)
    return int(shown.stdout.rsplit("peak ", 1)[1])


def main() -> None:
    """Print one line for each process."""
    print(f"{'process':44} peak memory")
    print(f"{'web: every address loaded':44} {peak(WEB):>7} MB")
    print(f"{'clock or beat: every task loaded':44} {peak(CLOCK):>7} MB")
    for turns in (0, 1, AT_ONCE):
        with FakeProvider(_together(turns)) as fake, tempfile.TemporaryDirectory() as folder:
            most = peak(RUNNER, str(fake.port), folder, str(turns))
        print(f"{f'runner: models loaded, {turns} turns at once':44} {most:>7} MB")


def _together(turns: int) -> Callable[[Seen], Move]:
    """Answers once all have asked: each then reads a long output, and finishes."""
    gate = threading.Barrier(max(turns, 1), timeout=120)

    def script(seen: Seen) -> Move:
        if seen.results:
            return finish("Done.")
        return Held(gate.wait, Answer(calls=(("run_command", {"command": "seq 30000"}),)))

    return script


if __name__ == "__main__":
    main()
