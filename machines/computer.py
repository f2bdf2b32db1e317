"""One awake machine as a turn uses it: commands and files, in plain values."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from threading import Event as Flag

from foundation.clock import monotonic
from machines.providers.base import (
    Err,
    ExitReason,
    FileEntry,
    Out,
    Provider,
    ProviderUnavailable,
    Ref,
    Session,
)

MOST_ENTRIES = 10_000


@dataclass(frozen=True)
class Finished:
    """How a command ended. `output` is stdout and stderr as they came, `stderr` the latter alone;
    bytes that aren't UTF-8 show as U+FFFD. `seconds` is wall time.

    A command ended by signal N has `exit_code` 128 + N.
    """

    exit_code: int
    reason: ExitReason
    output: str
    stderr: str
    seconds: float


class MachineComputer:
    """Runs one run's commands on its machine, and reads and writes that machine's files.

    `cancel` may be called from another thread (a person pressed Stop): the command that runs ends
    within a second, and every later one at once. Methods raise MachineError.
    """

    def __init__(self, provider: Provider, ref: Ref, run_id: str, name: str) -> None:
        self.name = name
        self._provider = provider
        self._ref = ref
        self._run_id = run_id
        self._stopped = Flag()
        self._session: Session | None = None

    def run(
        self,
        argv: list[str],
        *,
        cwd: str,
        timeout: float,
        max_output: int = 200_000,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
    ) -> Finished:
        """Run a command to its end; `timeout` in seconds, `max_output` in bytes of both outputs."""
        begun = monotonic()
        session = self._provider.exec(
            self._ref,
            self._run_id,
            argv,
            cwd=cwd,
            env=env,
            stdin=stdin,
            timeout=timeout,
            max_output=max_output,
        )
        self._session = session
        if self._stopped.is_set():
            session.cancel()
        output, errors = bytearray(), bytearray()
        for event in session.events:
            if isinstance(event, Out | Err):
                output += event.data
                errors += event.data if isinstance(event, Err) else b""
                continue
            return Finished(
                exit_code=event.code,
                reason=event.reason,
                output=output.decode(errors="replace"),
                stderr=errors.decode(errors="replace"),
                seconds=monotonic() - begun,
            )
        raise ProviderUnavailable(f"{shlex.join(argv)[:100]} ended without a result. Try again.")

    def cancel(self) -> None:
        """End the command that runs, and each that would begin later."""
        self._stopped.set()
        session = self._session
        if session is not None:
            session.cancel()

    def read_file(self, path: str, max_bytes: int = 1_000_000) -> bytes:
        return self._provider.read_file(self._ref, path, max_bytes)

    def write_file(self, path: str, data: bytes) -> None:
        self._provider.write_file(self._ref, path, data)

    def list_files(self, path: str) -> Iterator[FileEntry]:
        """The names in a folder, sorted; the first 10,000 that the machine gives."""
        found = islice(self._provider.list_files(self._ref, path), MOST_ENTRIES)
        return iter(sorted(found, key=lambda entry: entry.path))
