"""What keeps a box within its memory, its processes and its share of the processor.

Control groups (version 2) where the host lets us make them, and otherwise a watch over the memory
of the box's processes: rlimits alone bound each process, not their sum.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from machines.providers.base import Spec

CGROUPS = Path("/sys/fs/cgroup")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PERIOD = 100_000  # microseconds


class Limits(Protocol):
    """How one command's memory is bounded, and whether the bound ended it.

    `watched`: by looking at its processes, so that other memory of its making isn't seen.
    """

    @property
    def watched(self) -> bool: ...

    def hold(self, pids: list[int]) -> None:
        """Take these processes, and all that they will start, under the limits."""

    def exceeded(self) -> bool:
        """Whether the command has to end, because its memory is over the bound."""

    def ran_out(self) -> bool:
        """Whether the bound ended something in it."""

    def release(self) -> None:
        """Clear away what `hold` made. The processes are gone by now."""


def limits_for(machine_id: str, spec: Spec, cgroups: Path = CGROUPS) -> Limits:
    """Control groups when they can be made beneath `cgroups`, else a watch."""
    group = _group(machine_id, spec, cgroups)
    return MemoryWatch(spec.memory) if group is None else ControlGroup(group)


def keeps_control_groups(cgroups: Path = CGROUPS) -> bool:
    """Whether this host lets us make control groups for machines. Tries it."""
    group = _group("trial", Spec(), cgroups)
    if group is None:
        return False
    ControlGroup(group).release()
    return True


def _group(machine_id: str, spec: Spec, cgroups: Path) -> Path | None:
    """A new control group with the spec's limits; None where the host doesn't allow one."""
    try:
        offered = (cgroups / "cgroup.controllers").read_text().split()
        if not {"memory", "pids"} <= set(offered):
            return None
        wanted = " ".join(f"+{name}" for name in ("memory", "pids", "cpu") if name in offered)
        parent = cgroups / "routines"
        (cgroups / "cgroup.subtree_control").write_text(wanted)
        parent.mkdir(exist_ok=True)
        (parent / "cgroup.subtree_control").write_text(wanted)
        group = parent / machine_id
        group.mkdir(exist_ok=True)
        (group / "memory.max").write_text(str(spec.memory))
        (group / "pids.max").write_text(str(spec.pids))
        if "cpu" in offered:
            (group / "cpu.max").write_text(f"{int(spec.cpu * _PERIOD)} {_PERIOD}")
        with suppress(FileNotFoundError, PermissionError):  # a host without swap has no such file
            (group / "memory.swap.max").write_text("0")
        with suppress(FileNotFoundError, PermissionError):
            (group / "memory.oom.group").write_text("1")
    except OSError:
        return None
    return group


class ControlGroup:
    """Limits kept by the kernel."""

    watched = False

    def __init__(self, group: Path) -> None:
        self._group = group
        self._kills_before = self._kills()

    def hold(self, pids: list[int]) -> None:
        for pid in tree_of(pids):  # what they have started so far doesn't follow by itself
            with suppress(ProcessLookupError):  # the box failed; bubblewrap will say why
                (self._group / "cgroup.procs").write_text(str(pid))

    def exceeded(self) -> bool:
        return False

    def ran_out(self) -> bool:
        return self._kills() > self._kills_before

    def release(self) -> None:
        with suppress(OSError):  # the next command makes it anew, or uses it
            self._group.rmdir()

    def _kills(self) -> int:
        with suppress(FileNotFoundError):
            for line in (self._group / "memory.events").read_text().splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill":
                    return int(count)
        return 0


class MemoryWatch:
    """Limits kept by looking: the memory of every process beneath the box's first one."""

    watched = True

    def __init__(self, allowed: int) -> None:
        self._allowed = allowed
        self._first: list[int] = []
        self._over = False

    def hold(self, pids: list[int]) -> None:
        self._first = pids[-1:]

    def exceeded(self) -> bool:
        # Resident memory counts a shared page once a process: cheap, and too high. Only when it
        # is over the bound is the exact, slow sum worth taking.
        tree = tree_of(self._first)
        self._over = (
            sum(map(_resident, tree)) > self._allowed
            and sum(map(_proportional, tree)) > self._allowed
        )
        return self._over

    def ran_out(self) -> bool:
        return self._over

    def release(self) -> None:
        self._first = []


def tree_of(pids: list[int]) -> list[int]:
    """These processes with all that descend from them."""
    found = list(pids)
    for pid in found:  # grows while we go through it
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                found.extend(int(child) for child in (task / "children").read_text().split())
    return found


def _resident(pid: int) -> int:
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return 0


def _proportional(pid: int) -> int:
    """Its memory in bytes, each shared page divided among those who share it."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return _resident(pid)
