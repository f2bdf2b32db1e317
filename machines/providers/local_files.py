"""A machine's files from the host's side, beneath its home whatever symbolic links say.

The machine's owner can put any link, FIFO or deep tree into home, and change it while we look. So
every name is resolved by the kernel with `openat2(RESOLVE_BENEATH)` from an open home, nothing but
an ordinary file is opened for reading, and a new file is made beside its target and renamed.
"""

import ctypes
import errno
import io
import os
import platform
import posixpath
import secrets
import stat
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from machines.providers.base import (
    EntryKind,
    FileEntry,
    MachineError,
    ProviderUnavailable,
    QuotaExceeded,
    Unsupported,
    too_large,
)
from machines.providers.paths import (
    a_folder,
    beneath_home,
    escape,
    no_folder,
    no_ordinary_file,
    no_such,
    shown,
    split,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_OPENAT2 = 437  # the same number on every architecture
_RESOLVE_NO_XDEV, _RESOLVE_NO_MAGICLINKS, _RESOLVE_BENEATH = 0x01, 0x02, 0x08
_RESOLVE = _RESOLVE_NO_XDEV | _RESOLVE_NO_MAGICLINKS | _RESOLVE_BENEATH
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK

_libc = ctypes.CDLL(None, use_errno=True)


def openat2(folder: int, path: str, flags: int) -> int:
    """A descriptor for `path` beneath the open `folder`; links may not lead out of it.

    Raises OSError: EXDEV for an escape, ENOSYS where the kernel is older than 5.6.
    """
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, 0, _RESOLVE)
    for _ in range(100):
        number = _libc.syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_int(folder),
            ctypes.c_char_p(os.fsencode(path)),
            ctypes.c_char_p(how),
            ctypes.c_size_t(len(how)),
        )
        if number >= 0:
            return int(number)
        code = ctypes.get_errno()
        # EAGAIN: a rename somewhere raced the check for `..`; the kernel asks for another try.
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code), path)


@contextmanager
def _as_machine_errors(path: str) -> Iterator[None]:
    """Turn what the system says into the family's errors."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise Unsupported(f"{path!r} can't be the name of a file.") from error
    except OSError as error:
        raise _machine_error(path, error) from error


def _machine_error(path: str, error: OSError) -> MachineError:
    match error.errno:
        case errno.ENOENT:
            return no_such(path)
        case errno.EXDEV | errno.ELOOP:
            return escape(path)
        case errno.ENOTDIR:
            return no_folder(path)
        case errno.EISDIR | errno.ENOTEMPTY | errno.EEXIST:
            return a_folder(path)
        case errno.ENAMETOOLONG | errno.EINVAL:
            return Unsupported(f"{path} isn't possible: {os.strerror(error.errno)}.")
        case errno.EACCES | errno.EPERM:
            return Unsupported(f"{path} can't be reached: its own permissions forbid it.")
        case errno.ENOSPC | errno.EDQUOT:
            return QuotaExceeded("The host's disk is full. Free some space on it, then try again.")
        case errno.ENOSYS:
            return ProviderUnavailable(
                f"Local machines need Linux 5.6 or newer; this is {platform.release()}."
            )
        case _:
            return ProviderUnavailable(f"{path} couldn't be used: {error.strerror or error}.")


class Bounded(io.BufferedIOBase):
    """A stream that passes on what is written, up to `room` bytes; then QuotaExceeded."""

    def __init__(self, stream: BinaryIO, room: int) -> None:
        self._stream = stream
        self._room = room

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer", /) -> int:
        size = memoryview(data).nbytes
        if size > self._room:
            raise QuotaExceeded(
                "That doesn't fit on the machine's disk. Delete something on it first."
            )
        self._room -= size
        return self._stream.write(data)

    def flush(self) -> None:
        if not self._stream.closed:
            self._stream.flush()

    def close(self) -> None:
        self._stream.close()
        super().close()


class Home:
    """One machine's home. `owner` is the uid that new files get; None leaves them ours."""

    def __init__(self, folder: Path, owner: int | None) -> None:
        self._folder = folder
        self._owner = owner

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The open home itself: a place that no link inside can move."""
        try:
            descriptor = os.open(self._folder, _FOLDER | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise ProviderUnavailable(
                f"The machine's disk can't be opened: {error.strerror}."
            ) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def open_read(self, path: str, max_bytes: int) -> BinaryIO:
        """An ordinary file as a stream; a FIFO or device is refused without a wait."""
        with self._opened() as home, _as_machine_errors(path):
            # O_PATH opens nothing: no FIFO waits and no device notices before its kind is known.
            found = openat2(home, beneath_home(path), os.O_PATH)
            try:
                facts = os.fstat(found)
                if stat.S_ISDIR(facts.st_mode):
                    raise a_folder(path)
                if not stat.S_ISREG(facts.st_mode):
                    raise no_ordinary_file(path)
                if facts.st_size > max_bytes:
                    raise too_large(path, max_bytes)
                return open(f"/proc/self/fd/{found}", "rb")
            finally:
                os.close(found)

    @contextmanager
    def open_write(self, path: str, mode: int, room: int) -> Iterator[BinaryIO]:
        """A stream that takes the file's place by a rename when the block ends well.

        `room` is how many bytes it may hold; QuotaExceeded past it.
        """
        folder, name = split(path)
        with self._opened() as home, _as_machine_errors(path):
            parent = self._make_folder(home, folder)
            temporary = f".{name[:100]}.{secrets.token_hex(6)}.part"
            try:
                yield from self._written(parent, temporary, name, mode, room)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=parent)
                os.close(parent)

    def _written(
        self, parent: int, temporary: str, name: str, mode: int, room: int
    ) -> Iterator[BinaryIO]:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        descriptor = os.open(temporary, flags, 0o600, dir_fd=parent)
        with Bounded(os.fdopen(descriptor, "wb"), room) as stream:
            if self._owner is not None:
                os.fchown(descriptor, self._owner, self._owner)
            os.fchmod(descriptor, mode & 0o777)
            yield cast(BinaryIO, stream)
            stream.flush()
            os.fsync(descriptor)
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)

    def _make_folder(self, home: int, folder: str) -> int:
        """An open folder beneath home, with every missing one on the way made; the caller's to
        close."""
        with suppress(FileNotFoundError):
            return openat2(home, folder, _FOLDER)
        reached = "."
        for name in folder.split("/"):
            parent = openat2(home, reached, _FOLDER)
            try:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=parent)
                    if self._owner is not None:
                        os.chown(
                            name, self._owner, self._owner, dir_fd=parent, follow_symlinks=False
                        )
            finally:
                os.close(parent)
            reached = posixpath.join(reached, name)
        return openat2(home, folder, _FOLDER)

    def check_folder(self, path: str) -> str:
        """The path beneath home of a folder that exists. Raises NotFound, PathEscape."""
        relative = beneath_home(path)
        with self._opened() as home, _as_machine_errors(path):
            os.close(openat2(home, relative, _FOLDER))
        return relative

    def list_files(self, path: str) -> Iterator[FileEntry]:
        """The names in a folder."""
        relative = beneath_home(path)
        with self._opened() as home, _as_machine_errors(path):
            descriptor = openat2(home, relative, _FOLDER)
        try:
            with os.scandir(descriptor) as names:
                for found in names:
                    try:
                        facts = found.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # deleted while we looked
                    yield FileEntry(
                        path=shown(posixpath.normpath(posixpath.join(relative, found.name))),
                        kind=_kind(facts.st_mode),
                        size=facts.st_size,
                        modified=facts.st_mtime,
                    )
        finally:
            os.close(descriptor)

    def move(self, source: str, target: str) -> None:
        """Rename; missing folders on the way to the target are made."""
        from_folder, from_name = split(source)
        to_folder, to_name = split(target)
        with self._opened() as home:
            with _as_machine_errors(source):
                here = openat2(home, from_folder, _FOLDER)
            try:
                with _as_machine_errors(source):
                    os.stat(from_name, dir_fd=here, follow_symlinks=False)
                with _as_machine_errors(target):
                    there = self._make_folder(home, to_folder)
                    try:
                        os.rename(from_name, to_name, src_dir_fd=here, dst_dir_fd=there)
                    finally:
                        os.close(there)
            finally:
                os.close(here)

    def delete(self, path: str) -> None:
        """Delete a file, a link or a whole folder, however deep."""
        folder, name = split(path)
        with self._opened() as home, _as_machine_errors(path):
            parent = openat2(home, folder, _FOLDER)
            try:
                facts = os.stat(name, dir_fd=parent, follow_symlinks=False)
                if stat.S_ISDIR(facts.st_mode):
                    remove_tree(f"./{name}", beneath=parent, owner=self._owner)
                else:
                    os.unlink(name, dir_fd=parent)
            finally:
                os.close(parent)


def remove_tree(path: str | Path, beneath: int | None = None, owner: int | None = None) -> None:
    """Delete a folder with all in it; a missing one is fine. Raises ProviderUnavailable.

    `rm` does it, because a tree can be deeper than Python's recursion and than a path's length.
    With `beneath` it starts from that open folder; as `owner` it has no more rights than the
    machine itself has.
    """
    for mend in (False, True):
        if mend:  # a folder that its own owner may not enter has to be opened up first
            _run_tool("chmod", "-R", "u+rwX", path=path, beneath=beneath, owner=owner)
        complaint = _run_tool(
            "rm", "-rf", "--one-file-system", path=path, beneath=beneath, owner=owner
        )
        if not complaint:
            return
    raise ProviderUnavailable(f"{Path(path).name} couldn't be deleted: {complaint}.")


def _run_tool(
    tool: str, *options: str, path: str | Path, beneath: int | None, owner: int | None
) -> str:
    """Run one of the host's file tools on a path; its complaint, or "" when all went well."""
    ended = subprocess.run(
        [tool, *options, "--", str(path)],
        cwd=None if beneath is None else f"/proc/self/fd/{beneath}",
        user=owner,
        group=owner,
        extra_groups=None if owner is None else [],
        env={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if ended.returncode == 0:
        return ""
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"{tool} ended with {ended.returncode}"


def _kind(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"
