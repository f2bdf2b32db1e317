"""One process of `manage.py stack`: started, started again when it dies, ended in order."""

import ctypes
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from foundation.clock import monotonic

ROOT = Path(__file__).resolve().parent.parent.parent
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_REST_SECONDS = 1.0  # before a process that died is started again


@dataclass
class Process:
    """One process of the stack, started again when it ends by itself."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    stdin: bytes = b""
    running: subprocess.Popen[bytes] | None = None
    ended_at: float | None = None

    def start(self) -> None:
        """Start it; what it prints is added to its log."""
        with self.log.open("ab") as out:
            self.running = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                # Its own session: Ctrl-C must reach us alone, since we stop them in order.
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
        assert self.running.stdin is not None
        self.running.stdin.write(self.stdin)
        self.running.stdin.close()

    def mend(self) -> bool:
        """Start it again a moment after it has ended; whether that was done now."""
        if self.running is None or self.running.poll() is None:
            return False
        if self.ended_at is None:
            self.ended_at = monotonic()
        if monotonic() - self.ended_at < _REST_SECONDS:
            return False
        self.ended_at = None
        self.start()
        return True

    def ask_to_end(self) -> None:
        """Send it SIGTERM."""
        if self.running is not None and self.running.poll() is None:
            self.running.terminate()

    def has_ended(self, seconds: float) -> bool:
        """Wait so long for its end, then kill it; whether it ended by itself."""
        if self.running is None:
            return True
        try:
            self.running.wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()
            return False
        return True


def _end_with_parent() -> None:
    """On Linux: end in order when the stack itself is killed, so that nothing is left behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGTERM)
