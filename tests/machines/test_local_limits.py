"""Control groups, in a folder that stands for the kernel's; the watch is tried by the sandbox."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from machines.providers.base import Spec
from machines.providers.local_limits import (
    ControlGroup,
    MemoryWatch,
    keeps_control_groups,
    limits_for,
    tree_of,
)
from machines.providers.local_records import first_uid

SPEC = Spec(memory=1000, pids=7, cpu=1.5)


@pytest.fixture
def cgroups(tmp_path: Path) -> Path:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    return tmp_path


def test_a_host_with_control_groups_keeps_the_limits_itself(cgroups: Path) -> None:
    limits = limits_for("one", SPEC, cgroups)
    group = cgroups / "routines" / "one"
    assert isinstance(limits, ControlGroup)
    assert (cgroups / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    assert (cgroups / "routines" / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    assert (group / "memory.max").read_text() == "1000"
    assert (group / "pids.max").read_text() == "7"
    assert (group / "cpu.max").read_text() == "150000 100000"
    limits.hold([4_194_305, 4_194_306])  # above every pid that Linux gives
    assert (group / "cgroup.procs").read_text() == "4194306"  # the kernel adds one for each write
    assert not limits.ran_out()
    (group / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert limits.ran_out()
    assert not limits_for("one", SPEC, cgroups).ran_out()  # that was an earlier command's


def test_what_a_process_has_started_already_is_held_with_it() -> None:
    parent = subprocess.Popen(["sh", "-c", "(sleep 60; true) & echo; wait"], stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        parent.stdout.readline()
        deadline = time.monotonic() + 5
        while len(tree := tree_of([parent.pid])) < 3:
            assert time.monotonic() < deadline, tree
    finally:
        for pid in reversed(tree_of([parent.pid])):
            with suppress(ProcessLookupError):  # its child's end may have been its own
                os.kill(pid, signal.SIGKILL)
        parent.communicate()


@pytest.mark.parametrize("offered", ["cpu io", "memory", None])
def test_a_host_without_them_is_watched(cgroups: Path, offered: str | None) -> None:
    if offered is None:
        (cgroups / "cgroup.controllers").unlink()
    else:
        (cgroups / "cgroup.controllers").write_text(offered)
    assert isinstance(limits_for("one", SPEC, cgroups), MemoryWatch)
    assert not (cgroups / "routines").exists()


def test_a_host_that_refuses_them_is_watched(cgroups: Path) -> None:
    (cgroups / "cgroup.subtree_control").mkdir()  # any OSError will do
    assert isinstance(limits_for("one", SPEC, cgroups), MemoryWatch)


def test_machines_get_uids_that_this_root_may_become(tmp_path: Path) -> None:
    uid_map = tmp_path / "uid_map"
    uid_map.write_text("         0          0 4294967295\n")
    assert first_uid(uid_map) == 200_000
    uid_map.write_text("         0     100000      65536\n")
    assert first_uid(uid_map) == 20_000


def test_whether_control_groups_can_be_had_is_tried(cgroups: Path) -> None:
    assert keeps_control_groups(cgroups)
    (cgroups / "cgroup.controllers").write_text("cpu io\n")
    assert not keeps_control_groups(cgroups)
