"""Machines in memory, for tests: a real file tree and lifecycle, and no process anywhere.

A command is answered by what a test said it would do (`answer`), else by the small interpreter in
`memory_shell`, whose docstring lists what it understands. `fail` makes one call go wrong.
"""

import io
import tempfile
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar, Literal

from foundation.clock import monotonic
from machines.providers.base import (
    Err,
    Event,
    Exit,
    ExitReason,
    FileEntry,
    MachineBusy,
    MachineError,
    MachineState,
    Manifest,
    NotFound,
    Out,
    Provider,
    ProviderUnavailable,
    Ref,
    Size,
    Spec,
    Unsupported,
    Usage,
    check_timeout,
    disk_full,
)
from machines.providers.local_archive import checked_copy, copy_counted
from machines.providers.memory_files import Tree, read_tar, write_tar
from machines.providers.memory_shell import Shell
from machines.providers.paths import HOME, beneath_home, inside
from machines.providers.queued_session import QueuedSession

Call = Literal["wake", "exec", "suspend", "archive", "restore"]


@dataclass(frozen=True)
class Answer:
    """What a command shall do: write this, change these files, and end so, after `seconds`."""

    out: bytes = b""
    err: bytes = b""
    code: int = 0
    reason: ExitReason = "exit"
    seconds: float = 0.0
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Ran:
    """A command that was run, as `MemoryProvider.commands` keeps it."""

    ref: Ref
    run_id: str
    argv: tuple[str, ...]
    cwd: str


@dataclass
class _Machine:
    spec: Spec
    state: MachineState = "asleep"
    home: Tree = field(default_factory=Tree)
    tmp: Tree = field(default_factory=Tree)
    session: "MemorySession | None" = None


class _Over(Exception):
    """The command has to end, for this reason."""

    def __init__(self, reason: ExitReason) -> None:
        super().__init__(reason)
        self.reason: ExitReason = reason


class MemorySession(QueuedSession):
    """A command that is being answered, on a thread of its own."""

    def __init__(
        self,
        work: "Callable[[MemorySession], Exit]",
        timeout: float,
        max_output: int,
        is_full: Callable[[], bool],
    ) -> None:
        super().__init__()
        self._work = work
        self._is_full = is_full
        self._deadline = monotonic() + timeout
        self._left = max_output
        self._cancelled = threading.Event()
        self.over = threading.Event()

    def begin(self) -> None:
        threading.Thread(target=self._answer, name="machine-exec", daemon=True).start()

    def resize(self, size: Size) -> None:
        raise Unsupported("This command has no terminal.")

    def cancel(self) -> None:
        self._cancelled.set()

    def write(self, kind: type[Out] | type[Err], data: bytes) -> None:
        """Pass on output. Raises _Over when the command has to end."""
        self.pause(0.0)
        kept = data[: self._left]
        self._left -= len(kept)
        if kept:
            self._events.put(kind(kept))
        if len(kept) < len(data):
            raise _Over("output")

    def pause(self, seconds: float) -> None:
        """Let time pass. Raises _Over when the command has to end meanwhile."""
        if self._is_full():
            raise _Over("disk")
        left = self._deadline - monotonic()
        if self._cancelled.wait(max(0.0, min(seconds, left))):
            raise _Over("cancelled")
        if seconds > left:
            raise _Over("timeout")

    def _answer(self) -> None:
        last: Event | Exception
        try:
            last = self._work(self)
        except _Over as over:
            last = Exit(137, over.reason)
        except Exception as error:  # a source's or the interpreter's; `events` raises it
            last = error
        self.over.set()
        self._events.put(last)


class MemoryProvider(Provider):
    """Machines that live as long as this object."""

    name: ClassVar[str] = "memory"

    def __init__(self) -> None:
        self._machines: dict[str, _Machine] = {}
        self._lock = threading.RLock()
        self._answers: list[tuple[Callable[[Sequence[str]], bool], Answer]] = []
        self._failures: defaultdict[str, deque[MachineError]] = defaultdict(deque)
        self.commands: list[Ran] = []

    def answer(self, argv: Sequence[str] | Callable[[Sequence[str]], bool], to: Answer) -> None:
        """Say what a command does, from now on: one with exactly these words, or each that a
        function of its words says yes to. The latest that fits counts."""
        fits = argv if callable(argv) else _same_words(argv)
        self._answers.insert(0, (fits, to))

    def fail(self, call: Call, error: MachineError) -> None:
        """Make the next such call raise this."""
        self._failures[call].append(error)

    def create(self, machine_id: str, spec: Spec) -> Ref:
        with self._lock:
            machine = self._machines.setdefault(machine_id, _Machine(spec))
            machine.spec = spec
        return Ref(self.name, machine_id)

    def wake(self, ref: Ref, timeout: float = 180.0) -> None:
        self._machine(ref, "wake").state = "awake"

    def exec(
        self,
        ref: Ref,
        run_id: str,
        argv: Sequence[str],
        *,
        cwd: str = "~",
        env: Mapping[str, str] | None = None,
        stdin: bytes | Iterable[bytes] | None = None,
        pty: Size | None = None,
        sockets: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        max_output: int = 1024 * 1024,
    ) -> MemorySession:
        check_timeout(timeout)
        if pty is not None or sockets:
            raise Unsupported("Machines in memory have no terminal and no sockets.")
        if not argv or not argv[0]:
            raise Unsupported("There is no command to run.")
        with self._lock:
            machine = self._machine(ref, "exec")
            if machine.session is not None and not machine.session.over.is_set():
                raise MachineBusy("The machine is running another command. Try again later.")
            if machine.state != "awake":
                raise ProviderUnavailable("The machine is asleep. Wake it first.")
            machine.home.folder(cwd)
            place = inside(beneath_home(cwd))
            answer = next((to for fits, to in self._answers if fits(argv)), None)
            given = [stdin] if isinstance(stdin, bytes) else stdin or []

            def work(session: MemorySession) -> Exit:
                if answer is not None:
                    return _give(answer, session, machine.home)
                shell = Shell(
                    home=machine.home,
                    tmp=machine.tmp,
                    cwd=place,
                    env={"HOME": HOME, "USER": "agent", "PATH": "/usr/bin:/bin", **(env or {})},
                    stdin=given,
                    out=lambda data: session.write(Out, data),
                    err=lambda data: session.write(Err, data),
                    pause=session.pause,
                )
                return Exit(shell.run(list(argv)), "exit")

            self.commands.append(Ran(ref, run_id, tuple(argv), cwd))
            allowed = max(machine.spec.disk, _used(machine))  # on a full disk, `rm` goes on
            machine.session = MemorySession(
                work, timeout, max_output, lambda: _used(machine) > allowed
            )
            machine.session.begin()
            return machine.session

    def open_read(self, ref: Ref, path: str, max_bytes: int) -> BinaryIO:
        return self._machine(ref).home.open_read(path, max_bytes)

    def open_write(
        self, ref: Ref, path: str, mode: int = 0o644
    ) -> AbstractContextManager[BinaryIO]:
        machine = self._machine(ref)
        used, allowed = _used(machine), machine.spec.disk
        if used > allowed:
            raise disk_full(used, allowed)
        return machine.home.open_write(path, mode, allowed - used)

    def list_files(self, ref: Ref, path: str) -> Iterator[FileEntry]:
        return self._machine(ref).home.list_files(path)

    def move(self, ref: Ref, source: str, target: str) -> None:
        self._machine(ref).home.move(source, target)

    def delete(self, ref: Ref, path: str) -> None:
        self._machine(ref).home.delete(path)

    def usage(self, ref: Ref) -> Usage:
        machine = self._machine(ref)
        return Usage(disk_bytes=_used(machine), state=machine.state)

    def suspend(self, ref: Ref) -> None:
        machine = self._machine(ref, "suspend")
        machine.state = "asleep"
        session = machine.session
        if session is not None:
            session.cancel()
            session.over.wait()
        machine.tmp = Tree()

    def archive(self, ref: Ref, sink: BinaryIO) -> Manifest:
        return copy_counted(io.BytesIO(write_tar(self._asleep(ref, "archive").home)), sink)

    def restore(self, ref: Ref, source: BinaryIO, manifest: Manifest) -> None:
        machine = self._asleep(ref, "restore")
        with tempfile.TemporaryFile() as spool:
            checked_copy(source, manifest, spool, machine.spec.disk)
            machine.home = read_tar(spool)

    def destroy(self, ref: Ref) -> None:
        with self._lock:
            known = ref.machine_id in self._machines
        if known:
            self.suspend(ref)
            self._machines.pop(ref.machine_id, None)

    def reconcile(self) -> list[Ref]:
        return []  # what is in memory ends with its process

    def _machine(self, ref: Ref, call: Call | None = None) -> _Machine:
        if call is not None and self._failures[call]:
            raise self._failures[call].popleft()
        machine = self._machines.get(ref.machine_id) if ref.provider == self.name else None
        if machine is None:
            raise NotFound(f"There is no machine {ref.machine_id}.")
        return machine

    def _asleep(self, ref: Ref, call: Call) -> _Machine:
        machine = self._machine(ref, call)
        if machine.state == "awake":
            raise MachineBusy("The machine is awake. Put it to sleep first.")
        return machine


def _same_words(argv: Sequence[str]) -> Callable[[Sequence[str]], bool]:
    words = list(argv)
    return lambda given: list(given) == words


def _give(answer: Answer, session: MemorySession, home: Tree) -> Exit:
    """Do what an answer says."""
    session.pause(answer.seconds)
    for path, data in answer.files.items():
        with home.open_write(path, 0o644, len(data)) as stream:
            stream.write(data)
    session.write(Out, answer.out)
    session.write(Err, answer.err)
    return Exit(answer.code, answer.reason)


def _used(machine: _Machine) -> int:
    return machine.home.size() + machine.tmp.size()
