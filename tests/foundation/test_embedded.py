"""The folder that a running Routines claims: what others read there of it."""

import os
from pathlib import Path

import pytest

from foundation.embedded import claim_folder, running_address


def test_who_runs_on_a_folder_says_where(tmp_path: Path) -> None:
    assert running_address(tmp_path / "absent") is None
    claim = claim_folder(tmp_path, "http://localhost:8765")
    assert running_address(tmp_path) == "http://localhost:8765"
    os.close(claim)


@pytest.mark.parametrize(
    "left", ["", "http://localhost:1", f"http://localhost:1 (process {2**31 - 1})"]
)
def test_what_is_left_of_one_that_has_ended_says_nothing(tmp_path: Path, left: str) -> None:
    (tmp_path / "running").write_text(left)
    assert running_address(tmp_path) is None
