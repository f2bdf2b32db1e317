"""A machine as a check and a turn may use it: the provider's calls in the turn's words."""

import time
from collections.abc import Callable, Iterator

from foundation import clock
from machines.providers.base import MachineBusy, MachineError, NotFound, Provider, Ref, Session
from routines_app.agents.turn import CommandResult, FileEntry
from routines_app.runner.following import Following
from routines_app.runner.machine_errors import translated

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
        heard: Callable[[bytes], None] | None = None,
        max_output: int = 200_000,
    ) -> CommandResult:
        began = clock.monotonic()
        try:
            self._make_folder(cwd)
            session = self._begin(argv, cwd, timeout, max_output, check)
        except MachineError as error:
            raise translated(error) from error
        return Following(session, began, check, heard or _unheard).to_its_end()

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
            raise translated(error) from error

    def write_file(self, path: str, data: bytes) -> None:
        try:
            self._provider.write_file(self._ref, path, data)
        except MachineError as error:
            raise translated(error) from error

    def list_files(self, path: str) -> Iterator[FileEntry]:
        try:
            for entry in self._provider.list_files(self._ref, path):
                yield FileEntry(entry.path, entry.kind, entry.size, entry.modified)
        except MachineError as error:
            raise translated(error) from error

    def _make_folder(self, path: str) -> None:
        """Make the folder that a command starts in, by the way that makes missing folders."""
        try:
            next(iter(self._provider.list_files(self._ref, path)), None)
        except NotFound:
            mark = f"{path.rstrip('/')}/.made"
            self._provider.write_file(self._ref, mark, b"")
            self._provider.delete(self._ref, mark)


def _unheard(_: bytes) -> None:
    """Nobody watches."""
