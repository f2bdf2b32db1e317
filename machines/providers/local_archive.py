"""A sleeping local machine's home as a tar stream, out and back.

What comes back is not trusted: the bytes have to be the manifest's, every member is looked at
before the first is written, and `tar` unpacks inside a box of the machine's own, as its own user.
"""

import hashlib
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

from machines.providers.base import Manifest, ProviderUnavailable, Unsupported, would_unpack_to
from machines.providers.local_process import complaint

_PIECE = 1024 * 1024
_PER_MEMBER = 512  # bytes that even an empty file takes


def write_archive(home: Path, sink: BinaryIO) -> Manifest:
    """Write home as a tar stream. Raises ProviderUnavailable when a file can't be read: an archive
    is whole or it is none."""
    with tempfile.TemporaryFile() as words, subprocess.Popen(
        ["tar", "--create", "--file=-", "--format=posix", "--numeric-owner", "--owner=0",
         "--group=0", "--sparse", f"--directory={home}", "."],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=words,
        env={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    ) as tar:  # fmt: skip
        assert tar.stdout is not None
        try:
            manifest = copy_counted(tar.stdout, sink)
        except BaseException:
            tar.kill()
            raise
        if tar.wait() != 0:
            words.seek(0)
            raise ProviderUnavailable(f"Home couldn't be archived: {complaint(words.read())}")
    return manifest


def copy_counted(source: IO[bytes], sink: IO[bytes], most: int | None = None) -> Manifest:
    """Copy a stream and say what it was; stops reading past `most` bytes."""
    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        digest.update(piece)
        size += len(piece)
        if most is not None and size > most:
            break
        sink.write(piece)
    return Manifest(digest.hexdigest(), size)


def checked_copy(source: BinaryIO, manifest: Manifest, spool: IO[bytes], disk: int) -> None:
    """Copy an archive to `spool` and look at all of it before anything is unpacked.

    Raises Unsupported when it isn't the manifest's or holds what no home may hold, TooLarge when
    it would unpack to more than `disk` bytes.
    """
    if copy_counted(source, spool, manifest.size) != manifest:
        raise Unsupported(
            "The archive isn't the one that was made: its sum differs. Nothing was kept."
        )
    spool.flush()
    spool.seek(0)
    check_members(spool, disk)
    spool.seek(0)


def check_members(archive: IO[bytes], disk: int) -> None:
    """Look at every member of a tar file. Raises as `checked_copy`."""
    total = 0
    try:
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            while (member := tar.next()) is not None:
                # It keeps each one, and a hostile archive can hold millions.
                tar.members.clear()  # type: ignore[attr-defined]
                total += member.size if member.isreg() else 0
                total += _PER_MEMBER
                _check_member(member)
    except tarfile.TarError as error:
        raise Unsupported(f"The archive can't be read: {error}. Nothing was kept.") from error
    if total > disk:
        raise would_unpack_to(total)


def _check_member(member: tarfile.TarInfo) -> None:
    if not (
        member.isreg() or member.isdir() or member.issym() or member.islnk() or member.isfifo()
    ):
        raise Unsupported(f"The archive holds a device, {member.name}. Nothing was kept.")
    names = [member.name, member.linkname] if member.islnk() else [member.name]
    for name in names:
        if name.startswith("/") or ".." in name.split("/"):
            raise Unsupported(f"The archive leads out of home, by {name}. Nothing was kept.")


def pieces(spool: IO[bytes]) -> Iterator[bytes]:
    """The rest of a file, piece by piece."""
    while piece := spool.read(_PIECE):
        yield piece


def unpack_beside(
    folder: Path,
    unpack: Callable[[str], None],
    make: Callable[[Path], None],
    remove: Callable[[Path], None],
) -> None:
    """Let `unpack` fill a new home beside the old one, then put it in its place."""
    fresh, old = folder / "home.new", folder / "home.old"
    remove(fresh)
    make(fresh)
    try:
        unpack(fresh.name)
        fresh.chmod(0o700)
        os.rename(folder / "home", old)
        os.rename(fresh, folder / "home")
    except BaseException:
        if old.exists() and not (folder / "home").exists():
            os.rename(old, folder / "home")
        remove(fresh)
        raise
    remove(old)
