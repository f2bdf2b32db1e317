"""A share of what `python -m tests.chaos` does whole, each as the command does it."""

import os
import subprocess
import sys

import pytest

from tests.chaos.killed import CASES, SHARE
from tests.database import FOLDER
from tests.running_app import ROOT
from tests.tools import free_environment

pytestmark = [pytest.mark.sandbox, pytest.mark.long]


def chaos(*words: str) -> str:
    """Run the command in a process of its own, whose Django is on the product's database."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", *words],
        cwd=ROOT,
        env=free_environment(**{FOLDER: os.environ[FOLDER]}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize(
    "topology", ["embedded", pytest.param("production", marks=pytest.mark.redis)]
)
def test_killed_at_a_step_it_is_one_row_and_at_most_one_start(topology: str) -> None:
    said = chaos("killed", "--topology", topology, "--share")
    assert f"{len(SHARE)} cases, 0 violations" in said


def test_scanners_and_runners_in_a_crowd_make_one_run_of_each_occurrence() -> None:
    said = chaos("crowd", "--topology", "embedded", "--share")
    assert "done 40, started at the model 40, started twice 0" in said


def test_the_table_has_each_step_before_and_after_its_commit() -> None:
    points = {case.point for case in CASES}
    for step in (
        *("scan", "doorbell", "claim", "admission", "hold", "wake", "effects"),
        *("check", "model", "tool", "record", "deliver"),
    ):
        assert {f"{step}.before", f"{step}.after"} <= points
    assert set(SHARE) <= {case.name for case in CASES}
