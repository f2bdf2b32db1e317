"""Reading the files on a machine, which wakes nothing.

Paths are relative to home, without `~`; home itself is "". Everything here raises MachineError,
whose text is a sentence.
"""

from __future__ import annotations

import hashlib
import posixpath
from dataclasses import dataclass
from typing import BinaryIO

import structlog

from machines.access import provider_for
from machines.models import Machine
from machines.providers.base import (
    FileEntry,
    MachineError,
    Provider,
    Ref,
    TooLarge,
    Unsupported,
)
from machines.providers.paths import beneath_home
from machines.routine_folder import ensure_folder
from routines_app.agents.wording import text_of
from routines_app.models import Routine

log = structlog.get_logger()

TEXT_BYTES = 1_000_000  # a longer file is for downloading, not for a text area
MOST_NAMES = 1_000  # of one folder on a page


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


def relative(path: str) -> str:
    """The path beneath home as it is kept here. Raises PathEscape, Unsupported.

    >>> relative("routines/brief/"), relative("")
    ('routines/brief', '')
    """
    clean = beneath_home(path or "~")
    return "" if clean == "." else clean


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
    found = (_name(entry) for entry in provider.list_files(ref, full_path(folder)))
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


def full_path(path: str) -> str:
    """The path as a provider takes it."""
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
        data = provider.read_file(ref, full_path(path), TEXT_BYTES)
    except TooLarge:
        return OtherFile(path, "too_large")
    text = text_of(data)
    return (
        TextFile(path, text, version_of(data), len(data))
        if text is not None
        else OtherFile(path, "not_text")
    )


def version_of(data: bytes) -> str:
    """Their SHA-256, in hexadecimal: what a file is held to have stayed as."""
    return hashlib.sha256(data).hexdigest()


def open_file(machine: Machine, path: str) -> BinaryIO:
    """A file's bytes as a stream, whatever its size."""
    provider, ref = provider_for(machine)
    return provider.open_read(ref, full_path(relative(path)), 1 << 60)
