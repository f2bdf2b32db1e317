"""The measurements themselves: that they run, and what their JSON says; never how long it took."""

import json
import subprocess
import sys
from pathlib import Path

from tests.bench.report import Result, percentile, table
from tests.run import ROOT
from tests.tools import free_environment


def test_a_quick_run_says_each_goal_and_finds_no_sequential_scan(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    command = [sys.executable, "-m", "tests.bench", "--quick", "--only", "scan", "--only", "herd"]
    done = subprocess.run(
        [*command, "--json", str(target)],
        cwd=ROOT,
        env=free_environment(PYTHONWARNINGS="ignore"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    results = json.loads(target.read_text())["results"]
    assert all(
        set(each) == {"name", "goal", "found", "met", "why", "numbers"} and each["name"]
        for each in results
    )
    named = {each["name"]: each for each in results}
    plans = named["the scan's plans"]
    assert plans["met"] is True, plans["found"]
    assert plans["numbers"] == {"sequential_scans": 0}
    assert {"due_1000_s", "idle_1000_s", "ratio"} <= set(named["one scan with 10 due"]["numbers"])
    assert named["200 due at once"]["numbers"]["ratio"] > 0
    for each in results:
        assert each["found"] in done.stdout


def test_a_gap_is_shown_with_its_cause() -> None:
    shown = table(
        [
            Result("quick", "at most 1 s", "0.5 s", True),
            Result("slow", "at most 1 s", "2 s", False, "it waits twice"),
            Result("absent", "at most 1 s", "", None, "the tool isn't installed"),
        ]
    )
    assert [line[:5].strip() for line in shown.splitlines() if line[:5].strip()] == [
        "met",
        "GAP",
        "-",
    ]
    assert "why   it waits twice" in shown


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(each) for each in range(1, 101)]
    assert [percentile(values, share) for share in (0.0, 0.5, 0.95, 0.99, 1.0)] == [
        1.0,
        50.0,
        95.0,
        99.0,
        100.0,
    ]
