"""The script behind every make command: it installs once, and says what is missing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running_app import ROOT
from tests.tools import free_environment


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the script and a lock of nothing."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "venv.sh", tmp_path / "scripts")
    (tmp_path / "requirements.txt").write_text("# nothing\n")
    return tmp_path


def run(checkout: Path, python: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "scripts" / "venv.sh"],
        env=free_environment(PYTHON=python),
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_installs_until_it_worked_and_again_when_the_lock_changes(checkout: Path) -> None:
    lock = checkout / "requirements.txt"
    lock.write_text("tzdata==2000.1\n")  # it has no hash
    failed = run(checkout, sys.executable)
    assert failed.returncode == 1
    assert "The packages couldn't be installed" in failed.stderr

    lock.write_text("# nothing\n")
    worked = run(checkout, sys.executable)
    assert (worked.returncode, worked.stderr) == (0, "")
    assert worked.stdout == (
        "Installing what Routines needs into .venv (once; a minute or two)...\n"
    )
    assert (checkout / ".venv" / "bin" / "python").exists()
    assert run(checkout, sys.executable).stdout == ""

    lock.write_text("# nothing, otherwise\n")
    assert run(checkout, sys.executable).stdout == worked.stdout


def test_no_python_is_said_so(checkout: Path) -> None:
    ended = run(checkout, "python-that-is-not-here")
    assert ended.returncode == 1
    assert ended.stderr.startswith("There is no python-that-is-not-here here. Install Python 3.11")


def test_an_old_python_is_named_with_its_version(checkout: Path) -> None:
    old = checkout / "python-old"
    old.write_text('#!/bin/sh\ncase "$2" in *exit*) exit 1;; *) echo 3.9.2;; esac\n')
    old.chmod(0o755)
    ended = run(checkout, str(old))
    assert ended.returncode == 1
    assert ended.stderr == (
        f"Routines needs Python 3.11 or later, and {old} is 3.9.2. "
        "Name another: make up PYTHON=/path/to/python3.12\n"
    )
