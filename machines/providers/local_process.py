"""The processes of one box, from the start behind its gate until the last of them is gone."""

import json
import os
import select
import signal
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from machines.providers.base import ProviderUnavailable
from machines.providers.local_box import Started

_SET_UP = 20.0  # seconds that bubblewrap may take to tell its pids
_DYING = 20.0  # seconds that killed processes may take to be gone


class BoxProcess:
    """A started box. `pids`: bubblewrap, then the box's first process as the host numbers it.

    When the first process is gone, so is every other one of the box: it is its namespace's init,
    and the kernel reaps them all before it tells of its end.
    """

    def __init__(self, started: Started) -> None:
        self._started = started
        self._process = started.process
        self._said = b""
        self._first: int | None = None
        self._gate = started.gate
        self.outer = os.pidfd_open(self._process.pid)
        self.pids = [self._process.pid]

    def await_ready(self) -> None:
        """Wait until the box stands, with its first process known and everything that ends it in
        place. Raises ProviderUnavailable with bubblewrap's words when it can't be made."""
        while b"\n" not in self._said:
            ready = _readable(self._started.status, _SET_UP)
            piece = os.read(self._started.status, 4096) if ready else b""
            if not piece:
                self._give_up()
            self._said += piece
        pid = int(json.loads(self._said.split(b"\n")[0])["child-pid"])
        with suppress(ProcessLookupError):
            self._first = os.pidfd_open(pid)
            self.pids.append(pid)
        if not _readable(self._gate.fileno(), _SET_UP) or not self._gate.recv(1):
            self._give_up()

    def open_gate(self) -> None:
        """Let the command begin."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self._gate.send(b"\n")

    def end(self) -> None:
        """Kill whatever is alive and wait until it is gone. Raises ProviderUnavailable when it
        won't go (a process stuck in the kernel)."""
        handles = [self.outer] if self._first is None else [self._first, self.outer]
        for handle in handles:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        for handle in handles:
            if not _readable(handle, _DYING):
                raise ProviderUnavailable("A process of the machine can't be ended. Try again.")
        self._process.wait()
        if self._first is not None:
            # Orphaned by now, it is whoever's who takes in orphans: ours, when we are a
            # container's first process, and then nobody else would ever clear it away.
            with suppress(ChildProcessError):
                os.waitid(os.P_PIDFD, self._first, os.WEXITED | os.WNOHANG)

    def exit_code(self) -> int | None:
        """The command's code as bubblewrap told it; None when bubblewrap didn't live to tell, or
        never came to start the command. After `end`."""
        while piece := os.read(self._started.status, 4096):
            self._said += piece
        for line in self._said.splitlines():
            code = json.loads(line).get("exit-code")
            if code is not None:
                return int(code)
        return None

    @property
    def was_killed(self) -> bool:
        """Whether bubblewrap itself was ended by a signal. After `end`."""
        return (self._process.returncode or 0) < 0

    def close(self) -> None:
        """Give back every descriptor. After `end`."""
        self._gate.close()
        for number in (self._started.status, self.outer, self._first):
            if number is not None:
                os.close(number)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _give_up(self) -> NoReturn:
        """Raise what bubblewrap wrote before it gave up."""
        self.end()
        stderr = self._process.stderr
        text = b"" if stderr is None else (stderr.read() or b"")
        raise ProviderUnavailable(f"The sandbox couldn't be set up: {complaint(text)}")


def _readable(descriptor: int, seconds: float) -> bool:
    """Wait until a descriptor can be read (for a process: until it is gone); False when it can't.

    By poll: select refuses descriptors above 1023.
    """
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


def complaint(text: bytes) -> str:
    """The last line of what a program said of its failure."""
    lines = text.decode(errors="replace").strip().splitlines()
    return f"{lines[-1].removesuffix('.')}." if lines else "it ended without a word."


def started_at(pid: int) -> int | None:
    """When a process started, in the kernel's ticks since boot; None when there is none.

    With the pid it names one process for good: pids are used again.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2 :].split()  # the name before may hold spaces
    return None if fields[0] in "ZX" else int(fields[19])


def end_process(pid: int, started: int) -> bool:
    """Kill a process that a record names, and wait until it is gone; whether it was alive.

    Raises ProviderUnavailable when it won't go.
    """
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        if started_at(pid) != started:
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        if not _readable(handle, _DYING):
            raise ProviderUnavailable("A process of the machine can't be ended. Try again.")
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True
