"""A machine as a check and a turn may use it: the provider's calls in the turn's words."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Literal

from foundation import clock
from machines.providers.base import (
    Err,
    Exit,
    MachineBusy,
    MachineError,
    NotFound,
    Out,
    PathEscape,
    Provider,
    QuotaExceeded,
    Ref,
    Session,
    TooLarge,
    Unsupported,
)
from routines_app.agents.turn import (
    CommandResult,
    ComputerFailed,
    ComputerRefused,
    FileEntry,
    TurnInterrupted,
)
from routines_app.agents.wording import storable

_LOOK_SECONDS = 0.25
_BUSY_SECONDS = 10.0
"""How long a command waits for a machine on which another one is about to end: a check that
somebody tries by hand makes way for a run within two seconds."""


class MachineComputer:
    """The `Computer` of one run on one awake machine."""

    def __init__(self, provider: Provider, ref: Ref, run_id: str, name: str) -> None:
        self.name = name
        self._provider = provider
        self._ref = ref
        self._run_id = run_id

    def run(
        self,
        argv: list[str],
        *,
        cwd: str,
        timeout: float,
        check: Callable[[], None],
        max_output: int = 200_000,
    ) -> CommandResult:
        began = clock.monotonic()
        try:
            self._make_folder(cwd)
            session = self._begin(argv, cwd, timeout, max_output, check)
            with _Watch(session, check) as watch:
                both, errors, ended = _collect(session)
        except MachineError as error:
            raise _translated(error) from error
        result = CommandResult(
            exit_code=ended.code,
            reason=ended.reason,
            output=storable(both.decode("utf-8", "replace")),
            stderr=storable(errors.decode("utf-8", "replace")),
            seconds=clock.monotonic() - began,
        )
        watch.raise_if_interrupted(result)
        return result

    def _begin(
        self,
        argv: list[str],
        cwd: str,
        timeout: float,
        max_output: int,
        check: Callable[[], None],
    ) -> Session:
        until = clock.monotonic() + _BUSY_SECONDS
        while True:
            try:
                return self._provider.exec(
                    self._ref, self._run_id, argv, cwd=cwd, timeout=timeout, max_output=max_output
                )
            except MachineBusy:
                if clock.monotonic() >= until:
                    raise
                check()
                time.sleep(_LOOK_SECONDS)

    def read_file(self, path: str, max_bytes: int = 1_000_000) -> bytes:
        try:
            return self._provider.read_file(self._ref, path, max_bytes)
        except MachineError as error:
            raise _translated(error) from error

    def write_file(self, path: str, data: bytes) -> None:
        try:
            self._provider.write_file(self._ref, path, data)
        except MachineError as error:
            raise _translated(error) from error

    def list_files(self, path: str) -> Iterator[FileEntry]:
        try:
            for entry in self._provider.list_files(self._ref, path):
                yield FileEntry(entry.path, entry.kind, entry.size, entry.modified)
        except MachineError as error:
            raise _translated(error) from error

    def _make_folder(self, path: str) -> None:
        """Make the folder that a command starts in, by the way that makes missing folders."""
        try:
            next(iter(self._provider.list_files(self._ref, path)), None)
        except NotFound:
            mark = f"{path.rstrip('/')}/.made"
            self._provider.write_file(self._ref, mark, b"")
            self._provider.delete(self._ref, mark)


class _Watch:
    """Looks four times a second whether a running command has to end, on a thread of its own."""

    def __init__(self, session: Session, check: Callable[[], None]) -> None:
        self._session = session
        self._check = check
        self._over = threading.Event()
        self._stopped: BaseException | None = None
        self._thread = threading.Thread(target=self._look, name="command-watch", daemon=True)

    def __enter__(self) -> "_Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(timeout=10)

    def raise_if_interrupted(self, result: CommandResult) -> None:
        """Raise what ended the command, if that is why it ended; `result` is what came of it."""
        if isinstance(self._stopped, TurnInterrupted):
            self._stopped.partial = result
        if self._stopped is not None:
            raise self._stopped

    def _look(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            try:
                self._check()
            except BaseException as error:  # whatever it is, it is raised again where we wait
                self._stopped = error
                self._session.cancel()
                return


def _collect(session: Session) -> tuple[bytes, bytes, Exit]:
    both, errors = bytearray(), bytearray()
    for event in session.events:
        match event:
            case Out(data):
                both += data
            case Err(data):
                both += data
                errors += data
            case Exit():
                return bytes(both), bytes(errors), event
    raise ComputerFailed("silent", "The command’s end was never told.")


def _translated(error: MachineError) -> ComputerRefused | ComputerFailed:
    if isinstance(error, QuotaExceeded):
        return ComputerFailed("disk", error.sentence)
    if isinstance(error, NotFound | PathEscape | TooLarge | Unsupported):
        return ComputerRefused(error.sentence)
    variant: Literal["silent"] = "silent"
    return ComputerFailed(variant, error.sentence)
