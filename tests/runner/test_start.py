"""A runner for other people's machines doesn't start where it can't bound their memory."""

import subprocess
import sys
from typing import Any

import pytest

from routines_app.runner import start
from routines_app.runner.start import refusal_to_start
from tests.run import PRODUCTION
from tests.running_app import ROOT
from tests.tools import free_environment


@pytest.mark.parametrize(
    ("provider", "agreed", "groups", "refused"),
    [
        ("local", False, False, True),
        ("local", False, True, False),
        ("local", True, False, False),
        ("memory", False, False, False),
    ],
)
def test_local_machines_need_control_groups_or_a_plain_yes(
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    agreed: bool,
    groups: bool,
    refused: bool,
) -> None:
    settings.MACHINE_PROVIDER = provider
    settings.LOCAL_MACHINES_WITHOUT_CGROUPS = agreed
    monkeypatch.setattr(start, "keeps_control_groups", lambda: groups)
    why = refusal_to_start()
    assert (why is not None) is refused
    if why is not None:
        assert why.endswith("set LOCAL_MACHINES_WITHOUT_CGROUPS=yes.")


def test_production_s_runner_refuses_to_start() -> None:
    if start.keeps_control_groups():
        pytest.skip("this host has control groups")
    ended = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "routines_app.celery", "worker", "-Q", "runner"],
        cwd=ROOT,
        env=free_environment(**PRODUCTION, MACHINE_PROVIDER="local"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.strip().endswith("set LOCAL_MACHINES_WITHOUT_CGROUPS=yes.")
