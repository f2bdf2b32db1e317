"""A process dies at the place that the environment names, and nowhere else."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.running_app import ROOT
from tests.tools import free_environment

PROGRAM = (
    "from foundation.failpoints import failpoint\n"
    "for step in ('one', 'two', 'two'):\n    print(step, flush=True)\n    failpoint(step)\n"
)


def run(**environment: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=free_environment(**environment),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.split()


def test_without_a_name_nothing_dies() -> None:
    assert run() == (0, ["one", "two", "two"])


def test_it_dies_where_it_is_told_to_each_time() -> None:
    for _ in range(2):
        assert run(ROUTINES_FAILPOINT="two") == (-signal.SIGKILL, ["one", "two"])
    assert run(ROUTINES_FAILPOINT="three") == (0, ["one", "two", "two"])


def test_by_a_file_only_the_first_to_come_by_dies(tmp_path: Path) -> None:
    file = tmp_path / "point"
    file.write_text("two\n")
    assert run(ROUTINES_FAILPOINT_FILE=str(file)) == (-signal.SIGKILL, ["one", "two"])
    assert (tmp_path / "point.hit").exists()
    assert run(ROUTINES_FAILPOINT_FILE=str(file)) == (0, ["one", "two", "two"])
