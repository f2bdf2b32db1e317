"""Reading and changing the files on a machine by hand, beside the runs that write there.

Reading wakes nothing. Writing holds the machine's row: a run takes the same row before it wakes
the machine, so that it can't begin in the middle of a save. Paths are relative to home, without
`~`; home itself is "". Everything here raises MachineError, whose text is a sentence.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

import structlog
from django.db import transaction

from machines.access import provider_for
from machines.models import Machine
from machines.providers.base import (
    FileEntry,
    MachineError,
    NotFound,
    Provider,
    Ref,
    TooLarge,
    Unsupported,
)
from machines.providers.paths import beneath_home
from machines.routine_folder import ensure_folder
from routines_app.models import Routine, Run
from routines_app.rules.status import LIVE_STATUSES

log = structlog.get_logger()

TEXT_BYTES = 1_000_000  # a longer file is for downloading, not for a text area
MOST_NAMES = 1_000  # of one folder on a page


class RunIsWriting(MachineError):
    """A run is live on the machine: nothing is saved by hand until it ends."""

    may_retry = True


@dataclass(frozen=True)
class Name:
    """One name in a folder. `size` in bytes, `modified` in Unix seconds.

    `usable` False: it holds bytes that no address can carry.
    """

    name: str
    path: str
    kind: str
    size: int
    modified: float
    usable: bool


@dataclass(frozen=True)
class Folder:
    """A folder's names, folders first; `more` of them aren't listed."""

    path: str
    names: tuple[Name, ...]
    more: int


@dataclass(frozen=True)
class TextFile:
    """A file that can be edited. `version` is the SHA-256 of its bytes, in hexadecimal."""

    path: str
    text: str
    version: str
    size: int


@dataclass(frozen=True)
class OtherFile:
    """A file for downloading only. `why`: too_large or not_text."""

    path: str
    why: str


@dataclass(frozen=True)
class Saved:
    """It is on the disk; `version` is what it has now."""

    version: str


@dataclass(frozen=True)
class ChangedMeanwhile:
    """Somebody else saved it since; nothing was written.

    `theirs` is what it holds now, None when it is gone or no text any more.
    """

    theirs: str | None
    version: str


@dataclass(frozen=True)
class NamesTaken:
    """These names are in the folder already; nothing was written."""

    names: tuple[str, ...]


def live_writer(machine: Machine) -> Run | None:
    """The run that is using this machine now."""
    return (
        Run.objects.select_related("routine")
        .filter(machine=machine, status__in=LIVE_STATUSES)
        .first()
    )


@contextmanager
def _writing(machine: Machine) -> Iterator[tuple[Provider, Ref]]:
    """The machine's provider, with its row held. Raises RunIsWriting."""
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        run = live_writer(row)
        if run is not None:
            raise RunIsWriting(
                f"{run.routine.name} is writing here. You can read; saving waits until it ends."
            )
        yield provider_for(row)


def relative(path: str) -> str:
    """The path beneath home as it is kept here. Raises PathEscape, Unsupported.

    >>> relative("routines/brief/"), relative("")
    ('routines/brief', '')
    """
    clean = beneath_home(path or "~")
    return "" if clean == "." else clean


def name_problem(name: str) -> str:
    """Why this can't be the name of a new file or folder; "" when it can.

    >>> name_problem("notes.md"), name_problem("a/b")
    ('', 'Write one name, without a slash.')
    """
    if not name.strip():
        return "Write its name."
    if "/" in name:
        return "Write one name, without a slash."
    if name in (".", "..") or "\0" in name:
        return "That name means something else to a machine. Choose another."
    if any(ord(letter) < 32 for letter in name):
        return "Write the name on one line, with letters that can be seen."
    if len(name.encode("utf-8", "replace")) > 200:
        return "Write a name of 200 characters or fewer."
    return ""


def look(machine: Machine, path: str) -> Folder | TextFile | OtherFile:
    """What is at this path. Raises NotFound, PathEscape, Unsupported for what is no file."""
    path = relative(path)
    provider, ref = provider_for(machine)
    _seed_folders(machine, provider, ref, path)
    try:
        names = names_beneath(provider, ref, path)
    except Unsupported:
        return _file(provider, ref, path)
    return Folder(path, tuple(names[:MOST_NAMES]), max(0, len(names) - MOST_NAMES))


def names_beneath(provider: Provider, ref: Ref, folder: str) -> list[Name]:
    """The names in a folder, folders first. Raises NotFound, Unsupported for what is no folder."""
    found = (_name(entry) for entry in provider.list_files(ref, _full(folder)))
    return sorted(found, key=lambda name: (name.kind != "folder", name.name))


def _seed_folders(machine: Machine, provider: Provider, ref: Ref, path: str) -> None:
    """Make the folder of each routine that lives here, so that its state.md can be written before
    the first run reads it."""
    if path and path.split("/")[0] != "routines":
        return
    slugs = Routine.objects.filter(machine=machine, deleted_at__isnull=True)
    for slug in slugs.values_list("slug", flat=True):
        try:
            ensure_folder(provider, ref, slug)
        except MachineError as error:
            # a full disk, or a file in the folder's place: it has to stay readable to be mended
            log.info("folder_not_seeded", machine=machine.slug, routine=slug, why=error.sentence)


def _full(path: str) -> str:
    return f"~/{path}" if path else "~"


def _name(entry: FileEntry) -> Name:
    path = entry.path.removeprefix("~/")
    readable = path.encode("utf-8", "replace").decode()
    usable = readable == path and all(ord(letter) >= 32 for letter in path)
    return Name(
        posixpath.basename(readable), readable, entry.kind, entry.size, entry.modified, usable
    )


def _file(provider: Provider, ref: Ref, path: str) -> TextFile | OtherFile:
    try:
        data = provider.read_file(ref, _full(path), TEXT_BYTES)
    except TooLarge:
        return OtherFile(path, "too_large")
    text = _text(data)
    return (
        TextFile(path, text, _version(data), len(data))
        if text is not None
        else OtherFile(path, "not_text")
    )


def _text(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def save_text(machine: Machine, path: str, text: str, version: str) -> Saved | ChangedMeanwhile:
    """Replace a file's text, if it still has this version; "" is that of a file that isn't there.

    A browser sends lines that end in CR LF; they are stored as the file has them, else as LF.
    """
    path = relative(path)
    with _writing(machine) as (provider, ref):
        try:
            now = provider.read_file(ref, _full(path), TEXT_BYTES * 10)
        except NotFound:
            now = None
        current = "" if now is None else _version(now)
        if current != version:
            return ChangedMeanwhile(None if now is None else _text(now), current)
        plain = text.replace("\r\n", "\n")
        data = (plain.replace("\n", "\r\n") if now and b"\r\n" in now else plain).encode()
        if len(data) > TEXT_BYTES:
            raise TooLarge("That is more than 1 MB of text. Upload it as a file instead.")
        provider.write_file(ref, _full(path), data)
    return Saved(_version(data))


def put_files(
    machine: Machine, folder: str, files: Sequence[tuple[str, Iterable[bytes]]], replace: bool
) -> NamesTaken | None:
    """Write files, each a name and its bytes as a stream, into a folder; all names are looked at
    before the first byte is written. None when all are there."""
    folder = relative(folder)
    with _writing(machine) as (provider, ref):
        taken = _names_in(provider, ref, folder)
        both = tuple(name for name, _ in files if name in taken)
        if both and not replace:
            return NamesTaken(both)
        for name, pieces in files:
            provider.write_file(ref, _full(posixpath.join(folder, name)), pieces)
    return None


def make_file(machine: Machine, folder: str, name: str) -> NamesTaken | None:
    """An empty file. None when it is there."""
    return put_files(machine, folder, [(name, [])], replace=False)


def make_folder(machine: Machine, folder: str, name: str) -> NamesTaken | None:
    """An empty folder. None when it is there."""
    folder = relative(folder)
    with _writing(machine) as (provider, ref):
        if name in _names_in(provider, ref, folder):
            return NamesTaken((name,))
        # a provider makes folders on the way to a file, and has no other way to make one
        passing = _full(posixpath.join(folder, name, ".new"))
        provider.write_file(ref, passing, b"")
        provider.delete(ref, passing)
    return None


def _names_in(provider: Provider, ref: Ref, folder: str) -> set[str]:
    try:
        return {posixpath.basename(entry.path) for entry in provider.list_files(ref, _full(folder))}
    except NotFound:
        return set()


def remove(machine: Machine, path: str) -> None:
    """Delete a file, a link, or a folder with all in it. Home itself can't be."""
    path = relative(path)
    if not path:
        raise Unsupported("A machine's home can't be deleted, only what is in it.")
    with _writing(machine) as (provider, ref):
        provider.delete(ref, _full(path))


def open_file(machine: Machine, path: str) -> BinaryIO:
    """A file's bytes as a stream, whatever its size."""
    provider, ref = provider_for(machine)
    return provider.open_read(ref, _full(relative(path)), 1 << 60)
