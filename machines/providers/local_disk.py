"""How much disk a local machine takes, measured after a command and while it runs.

RLIMIT_FSIZE bounds each file, not their sum, so that only looking keeps a machine within its disk.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from foundation.clock import monotonic
from machines.providers.base import MIB, ProviderUnavailable
from machines.providers.local_process import complaint

MEASURE_SECONDS = 2.0  # between two measures of the machine
LOOK_SECONDS = 1.0  # between two looks at what is free on the host
_REST = 9  # times as long as a measure took: it takes a tenth of the time at most
_FLOOR = 512 * MIB


class DiskWatch:
    """Tells when a running command has to end because of the disk.

    Either `folders` take more than `allowed` bytes (None: they aren't measured), or the host's own
    disk is nearly full. Nothing in it waits: a home of a million files takes seconds to measure,
    and meanwhile the command has to be followed and may be cancelled.
    """

    def __init__(self, folders: Sequence[Path], allowed: int | None) -> None:
        self._folders = folders
        self._allowed = allowed
        self._measure: subprocess.Popen[bytes] | None = None
        self._begun = 0.0
        now = monotonic()
        self._next_measure, self._next_look = now + MEASURE_SECONDS, now + LOOK_SECONDS
        self.was_exceeded = False

    def exceeded(self) -> bool:
        """Whether the command has to end now. Cheap: may be asked several times a second."""
        now = monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            self.was_exceeded |= host_is_full(self._folders[0])
        if self._allowed is not None:
            self.was_exceeded |= self._measured(now) > self._allowed
        return self.was_exceeded

    def release(self) -> None:
        """End a measure that goes on."""
        if self._measure is not None:
            self._measure.kill()
            self._measure.communicate()
            self._measure = None

    def _measured(self, now: float) -> int:
        """What a measure that has just ended found; 0 when none has."""
        if self._measure is None:
            if now >= self._next_measure:
                self._measure, self._begun = _begin(self._folders, subprocess.DEVNULL), now
            return 0
        if self._measure.poll() is None:
            return 0
        out, _ = self._measure.communicate()
        self._measure = None
        self._next_measure = now + max(MEASURE_SECONDS, _REST * (now - self._begun))
        # One that failed tells nothing; the measure after the command raises what is wrong.
        return _total(out) or 0


def host_is_full(folder: Path) -> bool:
    """Whether the file system of a folder has less left than we keep free: 512 MiB, or a fiftieth
    of a small one."""
    facts = os.statvfs(folder)
    return facts.f_bavail * facts.f_frsize < min(_FLOOR, facts.f_blocks * facts.f_frsize // 50)


def disk_usage(*folders: Path) -> int:
    """Bytes of disk that these folders take. What their owner has closed to himself isn't seen."""
    out, err = _begin(folders, subprocess.PIPE).communicate()
    used = _total(out)
    if used is None:
        raise ProviderUnavailable(f"The disk can't be measured: {complaint(err)}")
    return used


def _begin(folders: Sequence[Path], errors: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["du", "--summarize", "--total", "--block-size=1", "--one-file-system", "--",
         *map(str, folders)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )  # fmt: skip


def _total(out: bytes) -> int | None:
    """The bytes in du's last line; None when it didn't come to tell them."""
    lines = out.splitlines()
    if not lines or not lines[-1].endswith(b"\ttotal"):
        return None
    return int(lines[-1].split(b"\t")[0])
