"""What every kind of machine can do, in values: no rows, no framework.

A machine is a persistent disk plus the right to compute. A provider keeps machines of one kind:
`local` sandboxes, containers, or the in-memory fake. Every member runs the one contract suite in
`tests/contracts/machine_provider_contract.py`.

A non-zero exit, a timeout, too much output, too little memory or a full disk is a result (`Exit`),
never an exception. Everything else that goes wrong is one family, `MachineError`, whose text is a
sentence.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO, ClassVar, Literal

MIB = 1024 * 1024
GIB = 1024 * MIB

ExitReason = Literal["exit", "timeout", "output", "oom", "disk", "cancelled"]
MachineState = Literal["asleep", "awake"]
EntryKind = Literal["file", "folder", "link", "other"]


class MachineError(Exception):
    """Something went wrong with a machine. The text is one sentence that says what to do.

    `may_retry`: whether the same call may succeed later with nothing changed by a person.
    """

    may_retry: ClassVar[bool] = False

    @property
    def sentence(self) -> str:
        return str(self)


class NotFound(MachineError):
    """There is no such machine, file or folder."""


class MachineBusy(MachineError):
    """The machine is running a command already; one runs at a time."""

    may_retry = True


class WakeTimeout(MachineError):
    """The machine didn't wake within the time allowed."""

    may_retry = True


class QuotaExceeded(MachineError):
    """The machine's disk is full by its plan; something has to be deleted first."""


class PathEscape(MachineError):
    """The path leads out of the machine's home."""


class TooLarge(MachineError):
    """The file or archive is larger than the caller's bound."""


class ProviderUnavailable(MachineError):
    """The place where machines run can't be used at the moment."""

    may_retry = True


class Unsupported(MachineError):
    """This kind of machine can't do that."""


@dataclass(frozen=True)
class Spec:
    """What a machine is made of. `memory` and `disk` in bytes, `cpu` in cores.

    `image` is empty where the provider has only one. `network` "none" is the only one so far.
    """

    image: str = ""
    cpu: float = 1.0
    memory: int = 1 * GIB
    disk: int = 10 * GIB
    pids: int = 256
    network: Literal["none"] = "none"


@dataclass(frozen=True)
class Ref:
    """Which machine: the provider's name and the id that the product gave it."""

    provider: str
    machine_id: str


@dataclass(frozen=True)
class Size:
    """A terminal's size, in characters."""

    columns: int
    rows: int


@dataclass(frozen=True)
class Out:
    """A piece of what the command wrote to its standard output."""

    data: bytes


@dataclass(frozen=True)
class Err:
    """A piece of what the command wrote to its standard error."""

    data: bytes


@dataclass(frozen=True)
class Exit:
    """The last event. `code` is 128 + N for a command ended by signal N."""

    code: int
    reason: ExitReason


Event = Out | Err | Exit


@dataclass(frozen=True)
class FileEntry:
    """One name in a folder. `path` starts with `~/`, `size` in bytes, `modified` Unix seconds."""

    path: str
    kind: EntryKind
    size: int
    modified: float


@dataclass(frozen=True)
class Manifest:
    """What an archive is: the SHA-256 of its bytes, in hexadecimal, and their number."""

    sha256: str
    size: int


@dataclass(frozen=True)
class Usage:
    """What a machine holds at the moment. `disk_bytes` covers its home and its /tmp."""

    disk_bytes: int
    state: MachineState


class Session(ABC):
    """One running command. Its events are read once, by one thread at a time."""

    @abstractmethod
    def next_event(self, seconds: float | None = None) -> Event | None:
        """The next piece of output as soon as it was written, then one Exit.

        None when nothing came within `seconds` (None: it is waited for), and once Exit was given;
        then no process of the command is alive. Raises ProviderUnavailable when the machine
        couldn't start the command at all.
        """

    @property
    def events(self) -> Iterator[Event]:
        """Out and Err as they come, then one Exit. Raises as `next_event`."""
        while (event := self.next_event()) is not None:
            yield event

    @abstractmethod
    def resize(self, size: Size) -> None:
        """Tell a command with a terminal its new size. Raises Unsupported without one."""

    @abstractmethod
    def cancel(self) -> None:
        """End the command's whole process tree; Exit says "cancelled". Harmless when it's over."""


class Provider(ABC):
    """Keeps machines of one kind. Every method may be called from any thread.

    A path may start with `~`, which is the machine's home (`/home/agent` inside), or be relative
    to it. Whatever symbolic links say, nothing outside home is read or changed: PathEscape.
    Every method but `create`, `destroy` and `reconcile` raises NotFound for an unknown machine.
    """

    name: ClassVar[str]

    @abstractmethod
    def create(self, machine_id: str, spec: Spec) -> Ref:
        """Make a machine, asleep, with an empty home; again with the same id changes nothing
        but the spec. Raises Unsupported for an id or spec that can't be had here."""

    @abstractmethod
    def wake(self, ref: Ref, timeout: float = 180.0) -> None:
        """Make it ready for commands, within `timeout` seconds. Idempotent."""

    @abstractmethod
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
        max_output: int = 1 * MIB,
    ) -> Session:
        """Start one command on an awake machine; no process of it survives its Exit.

        `timeout` in seconds; `max_output` bounds the bytes of both outputs together, and the
        command ends at the bound, as it does when it fills the machine's disk. `sockets` maps a
        path inside to a unix socket outside.
        Raises MachineBusy while another command runs, ProviderUnavailable on a sleeping machine,
        NotFound when `cwd` doesn't exist, Unsupported for a pty or sockets where there are none and
        for a `timeout` that isn't a finite number above 0.
        """

    @abstractmethod
    def open_read(self, ref: Ref, path: str, max_bytes: int) -> BinaryIO:
        """A file's bytes as a stream. Raises TooLarge, NotFound, Unsupported for no file."""

    @abstractmethod
    def open_write(
        self, ref: Ref, path: str, mode: int = 0o644
    ) -> AbstractContextManager[BinaryIO]:
        """A stream that replaces the file in one step when the block ends without an exception,
        and leaves no trace when it doesn't. Missing folders are made. Raises QuotaExceeded."""

    def read_file(self, ref: Ref, path: str, max_bytes: int = 1_000_000) -> bytes:
        """A file's bytes. Raises as `open_read`; TooLarge also when the file grows meanwhile."""
        with self.open_read(ref, path, max_bytes) as stream:
            data = stream.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise too_large(path, max_bytes)
        return data

    def write_file(
        self, ref: Ref, path: str, data: bytes | Iterable[bytes], mode: int = 0o644
    ) -> None:
        """Replace a file in one step, with bytes or a stream of them. Raises as `open_write`."""
        with self.open_write(ref, path, mode) as stream:
            for piece in [data] if isinstance(data, bytes) else data:
                stream.write(piece)

    @abstractmethod
    def list_files(self, ref: Ref, path: str) -> Iterator[FileEntry]:
        """The names in a folder, in no order; links are told as links. Raises NotFound, when the
        first is asked for."""

    @abstractmethod
    def move(self, ref: Ref, source: str, target: str) -> None:
        """Rename a file or folder; a file at `target` is replaced. Raises NotFound."""

    @abstractmethod
    def delete(self, ref: Ref, path: str) -> None:
        """Delete a file, a link (never what it points to) or a whole folder. Raises NotFound."""

    @abstractmethod
    def usage(self, ref: Ref) -> Usage:
        """What it holds now, measured."""

    @abstractmethod
    def suspend(self, ref: Ref) -> None:
        """End every process, empty /tmp, keep home. Idempotent."""

    @abstractmethod
    def archive(self, ref: Ref, sink: BinaryIO) -> Manifest:
        """Write home to `sink` as a tar stream. The caller verifies what it stored against the
        manifest before it destroys the machine. Raises MachineBusy on an awake machine."""

    @abstractmethod
    def restore(self, ref: Ref, source: BinaryIO, manifest: Manifest) -> None:
        """Replace home by an archive's content: all of it or nothing. Raises Unsupported when the
        bytes aren't the manifest's or hold what no home may hold, TooLarge when it would unpack to
        more than the disk, MachineBusy on an awake machine."""

    @abstractmethod
    def destroy(self, ref: Ref) -> None:
        """End every process and delete the machine with its home. Idempotent."""

    @abstractmethod
    def reconcile(self) -> list[Ref]:
        """End what a crashed runner left behind; the machines on which something was."""


def check_timeout(timeout: float) -> None:
    """Refuse a time limit with which no deadline would ever come. Raises Unsupported."""
    if not 0 < timeout <= sys.float_info.max:  # not a number is in no range
        raise Unsupported(
            f"A command's time limit can't be {timeout}. Give a number of seconds above 0."
        )


def too_large(path: str, max_bytes: int) -> TooLarge:
    """The error for a file over the caller's bound."""
    return TooLarge(f"{path} is larger than {readable_size(max_bytes)}.")


def would_unpack_to(size: int) -> TooLarge:
    """The error for an archive that holds more than the machine's disk."""
    return TooLarge(f"This archive would unpack to {readable_size(size)}. Nothing was kept.")


def disk_full(used: int, allowed: int) -> QuotaExceeded:
    """The error for a write to a machine that holds more than its disk."""
    return QuotaExceeded(
        f"The machine's disk is full: {readable_size(used)} of {readable_size(allowed)} are used. "
        "Delete something on it first."
    )


def readable_size(size: int) -> str:
    """A number of bytes as a person reads it, in powers of 1,000.

    >>> readable_size(41_000_000_000), readable_size(1_500_000), readable_size(12)
    ('41 GB', '1.5 MB', '12 bytes')
    """
    for factor, unit in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= factor:
            return f"{size / factor:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} bytes"
