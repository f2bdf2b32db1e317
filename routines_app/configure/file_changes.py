"""Changing the files on a machine by hand, beside the runs that write there.

Writing holds the machine's row: a run takes the same row before it wakes the machine, so that it
can't begin in the middle of a save. Who changed what is kept. Paths and errors are those of
`configure.files`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from foundation import database_clock
from machines.access import provider_for
from machines.models import Machine
from machines.providers.base import (
    MachineError,
    NotFound,
    Provider,
    Ref,
    TooLarge,
    Unsupported,
)
from routines_app.agents.wording import text_of
from routines_app.configure.files import TEXT_BYTES, full_path, relative, version_of
from routines_app.models import HandChange, Run
from routines_app.rules.status import LIVE_STATUSES


class RunIsWriting(MachineError):
    """A run is live on the machine: nothing is saved by hand until it ends."""

    may_retry = True


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


@dataclass(frozen=True)
class Pen:
    """A person's hand on a machine whose row is held. What it writes has its name beside it."""

    machine: Machine
    person: User
    provider: Provider
    ref: Ref

    def write(self, path: str, data: bytes | Iterable[bytes]) -> None:
        """Write a file, whole."""
        self.provider.write_file(self.ref, full_path(path), data)
        self._changed(path)

    def delete(self, path: str) -> None:
        """Delete a file, or a folder with all in it."""
        self.provider.delete(self.ref, full_path(path))
        self._changed(path)

    def _changed(self, path: str) -> None:
        HandChange.objects.create(
            machine=self.machine, path=path, person=self.person, at=database_clock.now()
        )


@contextmanager
def _writing(machine: Machine, person: User) -> Iterator[Pen]:
    """A hand on the machine, with its row held. Raises RunIsWriting."""
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        run = live_writer(row)
        if run is not None:
            raise RunIsWriting(
                f"{run.routine.name} is writing here. You can read; saving waits until it ends."
            )
        yield Pen(row, person, *provider_for(row))


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


def save_text(
    machine: Machine, person: User, path: str, text: str, version: str
) -> Saved | ChangedMeanwhile:
    """Replace a file's text, if it still has this version; "" is that of a file that isn't there.

    A browser sends lines that end in CR LF; they are stored as the file has them, else as LF.
    """
    path = relative(path)
    with _writing(machine, person) as pen:
        try:
            now = pen.provider.read_file(pen.ref, full_path(path), TEXT_BYTES * 10)
        except NotFound:
            now = None
        current = "" if now is None else version_of(now)
        if current != version:
            return ChangedMeanwhile(None if now is None else text_of(now), current)
        plain = text.replace("\r\n", "\n")
        data = (plain.replace("\n", "\r\n") if now and b"\r\n" in now else plain).encode()
        if len(data) > TEXT_BYTES:
            raise TooLarge("That is more than 1 MB of text. Upload it as a file instead.")
        pen.write(path, data)
    return Saved(version_of(data))


def put_files(
    machine: Machine,
    person: User,
    folder: str,
    files: Sequence[tuple[str, Iterable[bytes]]],
    replace: bool,
) -> NamesTaken | None:
    """Write files, each a name and its bytes as a stream, into a folder; all names are looked at
    before the first byte is written. None when all are there."""
    folder = relative(folder)
    with _writing(machine, person) as pen:
        taken = _names_in(pen, folder)
        both = tuple(name for name, _ in files if name in taken)
        if both and not replace:
            return NamesTaken(both)
        for name, pieces in files:
            pen.write(posixpath.join(folder, name), pieces)
    return None


def make_file(machine: Machine, person: User, folder: str, name: str) -> NamesTaken | None:
    """An empty file. None when it is there."""
    return put_files(machine, person, folder, [(name, [])], replace=False)


def make_folder(machine: Machine, person: User, folder: str, name: str) -> NamesTaken | None:
    """An empty folder. None when it is there."""
    folder = relative(folder)
    with _writing(machine, person) as pen:
        if name in _names_in(pen, folder):
            return NamesTaken((name,))
        # a provider makes folders on the way to a file, and has no other way to make one
        passing = full_path(posixpath.join(folder, name, ".new"))
        pen.provider.write_file(pen.ref, passing, b"")
        pen.provider.delete(pen.ref, passing)
    return None


def _names_in(pen: Pen, folder: str) -> set[str]:
    try:
        found = pen.provider.list_files(pen.ref, full_path(folder))
        return {posixpath.basename(entry.path) for entry in found}
    except NotFound:
        return set()


def remove(machine: Machine, person: User, path: str) -> None:
    """Delete a file, a link, or a folder with all in it. Home itself can't be."""
    path = relative(path)
    if not path:
        raise Unsupported("A machine's home can't be deleted, only what is in it.")
    with _writing(machine, person) as pen:
        pen.delete(path)
