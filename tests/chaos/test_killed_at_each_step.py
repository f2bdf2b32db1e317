"""A share of what `python -m tests.chaos` does whole, each as the command does it."""

import subprocess
import sys

import pytest

from tests.chaos.killed import CASES, SHARE
from tests.running_app import ROOT
from tests.tools import free_environment

pytestmark = pytest.mark.sandbox


def chaos(*words: str) -> str:
    """Run the command in a process of its own, whose Django is on the product's database."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", *words],
        cwd=ROOT,
        env=free_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_killed_at_a_step_it_is_one_row_and_at_most_one_start() -> None:
    said = chaos("killed", "--topology", "embedded", "--share")
    assert f"{len(SHARE)} cases, 0 violations" in said


@pytest.mark.redis
def test_so_it_is_with_production_s_processes() -> None:
    said = chaos(
        "killed", "--topology", "production", "--only", "claim.after/model,tool.before/script"
    )
    assert "2 cases, 0 violations" in said


@pytest.mark.redis
def test_scanners_and_runners_in_a_crowd_make_one_run_of_each_occurrence() -> None:
    said = chaos("crowd", "--topology", "production", "--share")
    assert "done 60, started at the model 60, started twice 0" in said


def test_the_table_has_each_step_before_and_after_its_commit() -> None:
    points = {case.point for case in CASES}
    for step in (
        *("scan", "doorbell", "claim", "admission", "hold", "wake", "effects"),
        *("check", "model", "tool", "record", "deliver"),
    ):
        assert {f"{step}.before", f"{step}.after"} <= points
    assert set(SHARE) <= {case.name for case in CASES}
