"""Which files a run's folders hold, by size and time, and which of them differ later."""

import posixpath
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from foundation import clock
from machines.providers.base import EntryKind, FileEntry, MachineError, NotFound, Provider, Ref
from routines_app.agents.tool_files import PASSED_OVER

MOST_NAMES = 25_000  # of one look, folders and links among them
_AT_ONCE = 1_000  # names that are read between two looks at the clock
_NOT_THEIRS = (".routine", ".git")


class _OutOfTime(Exception):
    """The look has to end amid a folder's names."""


@dataclass
class Marks:
    """What one look found. Paths start with `~/`; a mark is (bytes, Unix seconds of the change).

    `kinds` is what else stands under a name: a folder, a link, something other. `listed` are the
    folders whose names were all read. `unseen` says in a sentence why some weren't, else "".
    """

    files: dict[str, tuple[int, float]] = field(default_factory=dict)
    kinds: dict[str, EntryKind] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    unseen: str = ""

    def would_hold(self, path: str) -> bool:
        """Whether a file at this path would have been seen, had there been one."""
        name, folder = path, posixpath.dirname(path)
        while folder not in self.listed:
            if folder in ("~", ""):
                return False
            name, folder = folder, posixpath.dirname(folder)
        # a folder whose names weren't read may have held it
        return name == path or self.kinds.get(name) != "folder"


def folder_marks(provider: Provider, ref: Ref, folders: Sequence[str], until: float) -> Marks:
    """The files in these folders and below them, each once; ours, Git's and what tools keep for
    themselves (as a search passes it over) left out. A folder that isn't there holds none.

    The upper ones come first, of each folder in turn, so that a big folder far down hides none of
    them; it ends at 25,000 names or at `until`, an instant of the monotonic clock. What can't be
    read is said in `unseen`.
    """
    marks = Marks()
    waiting = deque(folders)
    they_hold, them = ("They hold", "them") if len(folders) > 1 else ("It holds", "it")
    room = MOST_NAMES
    while waiting:
        place = waiting.popleft()
        if place in marks.listed:
            continue  # one of the folders lies in another
        try:
            entries = _entries(provider, ref, place, room, until)
        except _OutOfTime:
            marks.unseen = marks.unseen or f"It took too long to look at all of {them}."
            break
        except NotFound:
            entries = []
        except (MachineError, OSError) as error:  # a disk's own error may come amid the names
            marks.unseen = marks.unseen or str(error)
            continue
        if len(entries) > room:
            marks.unseen = marks.unseen or f"{they_hold} more than {MOST_NAMES:,} names."
            continue
        room -= len(entries)
        marks.listed.add(place)
        waiting.extend(_noted(marks, entries))
    return marks


def _entries(provider: Provider, ref: Ref, place: str, room: int, until: float) -> list[FileEntry]:
    """What a folder holds, at most one name more than there is `room` for."""
    found: list[FileEntry] = []
    names = islice(provider.list_files(ref, place), room + 1)
    while True:
        if clock.monotonic() > until:
            raise _OutOfTime
        some = list(islice(names, _AT_ONCE))
        if not some:
            return found
        found += some


def _noted(marks: Marks, entries: list[FileEntry]) -> Iterator[str]:
    """Note what a folder holds; the folders in it, in an order that is the same each time."""
    for entry in sorted(entries, key=lambda entry: entry.path):
        name = posixpath.basename(entry.path)
        if name in _NOT_THEIRS or (entry.kind == "folder" and name in PASSED_OVER):
            continue
        if entry.kind == "file":
            marks.files[entry.path] = (entry.size, entry.modified)
            continue
        marks.kinds[entry.path] = entry.kind
        if entry.kind == "folder":
            yield entry.path


def differing(before: Marks, after: Marks) -> list[str]:
    """The paths of files that are new, gone or marked otherwise, in their order.

    What only one of the two looks saw, because the other couldn't, is no difference.
    """
    both = before.files.keys() & after.files.keys()
    found = [path for path in both if before.files[path] != after.files[path]]
    found += [path for path in after.files.keys() - both if before.would_hold(path)]
    found += [path for path in before.files.keys() - both if after.would_hold(path)]
    return sorted(found)
