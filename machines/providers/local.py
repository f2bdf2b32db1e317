"""Machines on this very host: a folder each, and bubblewrap around every command.

Started as root, each machine has an ordinary uid of its own; started by an ordinary user, all
share that user's. There is no network inside. Between runs nothing of a machine is alive.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from time import sleep
from typing import BinaryIO, ClassVar

from foundation.clock import monotonic
from machines.providers.base import (
    Event,
    Exit,
    FileEntry,
    MachineBusy,
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
from machines.providers.local_archive import checked_copy, pieces, unpack_beside, write_archive
from machines.providers.local_box import Box, start
from machines.providers.local_disk import DiskWatch, disk_usage
from machines.providers.local_files import Home, remove_tree
from machines.providers.local_limits import Limits, limits_for
from machines.providers.local_process import complaint, end_process
from machines.providers.local_records import (
    Folder,
    Record,
    machines_in,
    make_folder,
    make_private,
    release,
    unfinished,
)
from machines.providers.local_session import Command, LocalSession
from machines.providers.paths import HOME, inside

_UNPACK_SECONDS = 3600.0
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_ARGUMENTS = 128 * 1024  # bytes of one argument that the kernel takes


class LocalProvider(Provider):
    """Local machines beneath one folder, which several processes may share."""

    name: ClassVar[str] = "local"

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._sessions: dict[Ref, LocalSession] = {}
        self._measured: dict[Ref, tuple[float, float]] = {}  # when, and how many seconds it took

    def create(self, machine_id: str, spec: Spec) -> Ref:
        if spec.network != "none":
            raise Unsupported("Local machines have no network.")
        if spec.image:
            raise Unsupported("Local machines have no images: they use this host's own /usr.")
        ref = Ref(self.name, machine_id)
        make_folder(self._root, ref, spec)
        return ref

    def wake(self, ref: Ref, timeout: float = 180.0) -> None:
        self._folder(ref).change(state="awake")

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
    ) -> LocalSession:
        check_timeout(timeout)
        _check_command(argv, env or {}, pty, sockets)
        folder = self._folder(ref)
        held = folder.hold()
        try:
            record = folder.record()
            if record.state != "awake":
                raise ProviderUnavailable("The machine is asleep. Wake it first.")
            place = inside(self._home(folder, record).check_folder(cwd))
            limits = limits_for(ref.machine_id, record.spec)
            box = self._box(folder, record, limits)
            allowed = max(record.spec.disk, record.disk_bytes)  # on a full disk, `rm` goes on
            disk = DiskWatch((folder.home, folder.tmp), allowed)
            session = LocalSession(
                Command(
                    start=lambda: start(box, argv, place, env or {}, stdin is not None),
                    stdin=stdin,
                    timeout=timeout,
                    max_output=max_output,
                    limits=limits,
                    disk=disk,
                    began=lambda pids: folder.note_running(run_id, pids),
                    ended=lambda: self._ended(folder, held, disk),
                )
            )
        except BaseException:
            release(held)
            raise
        if not session.over.is_set():
            self._sessions[ref] = session
        return session

    def open_read(self, ref: Ref, path: str, max_bytes: int) -> BinaryIO:
        folder = self._folder(ref)
        return self._home(folder, folder.record()).open_read(path, max_bytes)

    def open_write(
        self, ref: Ref, path: str, mode: int = 0o644
    ) -> AbstractContextManager[BinaryIO]:
        folder = self._folder(ref)
        record = folder.record()
        used, allowed = record.disk_bytes, record.spec.disk
        if used > allowed:  # something may have been deleted since
            used = self._measure(folder)
        if used > allowed:
            raise disk_full(used, allowed)
        return self._home(folder, record).open_write(path, mode, allowed - used)

    def list_files(self, ref: Ref, path: str) -> Iterator[FileEntry]:
        folder = self._folder(ref)
        return self._home(folder, folder.record()).list_files(path)

    def move(self, ref: Ref, source: str, target: str) -> None:
        folder = self._folder(ref)
        self._home(folder, folder.record()).move(source, target)

    def delete(self, ref: Ref, path: str) -> None:
        folder = self._folder(ref)
        self._home(folder, folder.record()).delete(path)

    def usage(self, ref: Ref) -> Usage:
        folder = self._folder(ref)
        record = folder.record()
        return Usage(disk_bytes=self._measure(folder), state=record.state)

    def suspend(self, ref: Ref) -> None:
        folder = self._folder(ref)
        record = folder.change(state="asleep")  # first, so that no new command begins
        held = self._end_command(folder)
        try:
            remove_tree(folder.tmp)
            make_private(folder.tmp, record.uid)
        finally:
            release(held)

    def archive(self, ref: Ref, sink: BinaryIO) -> Manifest:
        folder = self._folder(ref)
        with folder.held_asleep():
            return write_archive(folder.home, sink)

    def restore(self, ref: Ref, source: BinaryIO, manifest: Manifest) -> None:
        folder = self._folder(ref)
        with folder.held_asleep() as record, TemporaryFile(dir=folder.path) as spool:
            checked_copy(source, manifest, spool, record.spec.disk)
            limits = limits_for(ref.machine_id, record.spec)
            unpack_beside(
                folder.path,
                unpack=lambda home: self._unpack(
                    self._box(folder, record, limits, home), limits, pieces(spool)
                ),
                make=lambda path: make_private(path, record.uid),
                remove=remove_tree,
            )
        self._measure(folder)

    def destroy(self, ref: Ref) -> None:
        folder = self._folder(ref)
        try:
            self.suspend(ref)
        except NotFound:
            return
        gone = self._root / f".gone-{ref.machine_id}-{os.urandom(4).hex()}"
        with suppress(FileNotFoundError):  # somebody else destroyed it meanwhile
            folder.path.rename(gone)
        remove_tree(gone)
        self._sessions.pop(ref, None)
        self._measured.pop(ref, None)

    def reconcile(self) -> list[Ref]:
        found = []
        for folder in machines_in(self._root, self.name):
            try:
                held = folder.hold()
            except MachineBusy:
                continue  # a living runner holds it
            try:
                left = [folder.path / name for name in ("home.new", "home.old")]
                if folder.running() is not None or any(path.exists() for path in left):
                    found.append(folder.ref)
                _end_recorded(folder)
                if left[1].exists() and not folder.home.exists():
                    left[1].rename(folder.home)
                for path in left:
                    remove_tree(path)
            finally:
                release(held)
        for path in unfinished(self._root):
            remove_tree(path)
        return found

    def _folder(self, ref: Ref) -> Folder:
        if ref.provider != self.name or "/" in ref.machine_id or ref.machine_id.startswith("."):
            raise NotFound(f"There is no local machine {ref.machine_id}.")
        return Folder(self._root, ref)

    def _home(self, folder: Folder, record: Record) -> Home:
        return Home(folder.home, folder.owner(record))

    def _box(self, folder: Folder, record: Record, limits: Limits, home: str = "home") -> Box:
        full = record.disk_bytes > record.spec.disk
        return Box(
            name=folder.ref.machine_id,
            folder=folder.path,
            uid=folder.owner(record),
            spec=record.spec,
            file_bytes=0 if full else record.spec.disk,  # a full disk only lets things be deleted
            memory_watched=limits.watched,
            home=home,
        )

    def _unpack(self, box: Box, limits: Limits, archive: Iterator[bytes]) -> None:
        """Run tar in a box on the new home. Raises ProviderUnavailable when it fails."""
        argv = ["tar", "--extract", "--file=-", f"--directory={HOME}", "--no-same-owner",
                "--preserve-permissions"]  # fmt: skip
        session = LocalSession(
            Command(
                start=lambda: start(box, argv, HOME, {}, True),
                stdin=archive,
                timeout=_UNPACK_SECONDS,
                max_output=64 * 1024,
                limits=limits,
                disk=DiskWatch((box.folder / box.home,), None),
                began=lambda pids: None,
                ended=lambda: None,
            )
        )
        said, last = b"", None
        for event in session.events:
            last, said = _after(event, said)
        if isinstance(last, Exit) and last.reason == "disk":
            raise ProviderUnavailable("The host's disk is full. Nothing was kept.")
        if last != Exit(0, "exit"):
            raise ProviderUnavailable(
                f"The archive couldn't be unpacked: {complaint(said)} Nothing was kept."
            )

    def _ended(self, folder: Folder, held: int, disk: DiskWatch) -> None:
        """Leave the machine in order after a command, and give it back."""
        try:
            self._sessions.pop(folder.ref, None)
            when, took = self._measured.get(folder.ref, (0.0, 0.0))
            # A home of a million files takes seconds to measure; that must not be every command.
            if disk.was_exceeded or took < 0.05 or monotonic() - when > 10 * took:
                self._measure(folder)
        finally:
            folder.forget_running()
            release(held)

    def _measure(self, folder: Folder) -> int:
        """Measure the disk and record it."""
        begun = monotonic()
        used = disk_usage(folder.home, folder.tmp)
        self._measured[folder.ref] = (monotonic(), monotonic() - begun)
        if used != folder.record().disk_bytes:
            folder.change(disk_bytes=used)
        return used

    def _end_command(self, folder: Folder) -> int:
        """End the command that runs, ours or another process's; the machine's lock, held."""
        deadline = monotonic() + 30.0
        while True:
            session = self._sessions.get(folder.ref)
            if session is None:
                sleep(0.02)  # another process's; or one of ours that is just about to begin
            else:
                session.cancel()
                session.over.wait(1.0)
            try:
                held = folder.hold()
            except MachineBusy:
                if monotonic() > deadline:
                    raise
                _end_recorded(folder)
                continue
            _end_recorded(folder)
            return held


def _end_recorded(folder: Folder) -> None:
    """End the processes that a record names."""
    running = folder.running()
    for pid, started in running.processes if running else ():
        end_process(pid, started)
    folder.forget_running()


def _after(event: Event, said: bytes) -> tuple[Event, bytes]:
    return event, said if isinstance(event, Exit | Out) else (said + event.data)[-2000:]


def _check_command(
    argv: Sequence[str],
    env: Mapping[str, str],
    pty: Size | None,
    sockets: Mapping[str, str] | None,
) -> None:
    """Refuse what can't be started here, in words."""
    if pty is not None:
        raise Unsupported("Local machines give no terminal.")
    if sockets:
        raise Unsupported("Local machines have no sockets to the outside.")
    if not argv or not argv[0]:
        raise Unsupported("There is no command to run.")
    if not all(_VARIABLE.fullmatch(name) for name in env):
        raise Unsupported("An environment variable's name is made of letters, digits and _.")
    texts = [*argv, *env, *env.values()]
    if any("\0" in text for text in texts):
        raise Unsupported("A command and its environment can't hold NUL.")
    if any(len(text.encode(errors="surrogateescape")) >= _MOST_ARGUMENTS for text in argv):
        raise Unsupported("An argument of a command can't be longer than 128 KiB. Use a file.")
