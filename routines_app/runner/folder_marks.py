"""Which files a routine's folder holds, by size and time, and which of them differ later."""

import posixpath
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from foundation import clock
from machines.providers.base import EntryKind, FileEntry, MachineError, NotFound, Provider, Ref

MOST_NAMES = 10_000  # of one look, folders and links among them
_NOT_THEIRS = (".routine", ".git")


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


def folder_marks(provider: Provider, ref: Ref, folder: str, until: float) -> Marks:
    """The files in a folder and those below it, ours and Git's left out.

    The upper ones come first, so that a big folder far down hides none of them; it ends at 10,000
    names or at `until`, an instant of the monotonic clock. What can't be read is said in `unseen`.
    """
    marks = Marks()
    waiting = deque([folder])
    room = MOST_NAMES
    while waiting:
        if clock.monotonic() > until:
            marks.unseen = marks.unseen or "It took too long to look at all of it."
            break
        place = waiting.popleft()
        try:
            entries = list(islice(provider.list_files(ref, place), room + 1))
        except NotFound:
            entries = []
        except (MachineError, OSError) as error:  # a disk's own error may come amid the names
            marks.unseen = marks.unseen or str(error)
            continue
        if len(entries) > room:
            marks.unseen = marks.unseen or f"It holds more than {MOST_NAMES:,} names."
            continue
        room -= len(entries)
        marks.listed.add(place)
        waiting.extend(_noted(marks, entries))
    return marks


def _noted(marks: Marks, entries: list[FileEntry]) -> Iterator[str]:
    """Note what a folder holds; the folders in it, in an order that is the same each time."""
    for entry in sorted(entries, key=lambda entry: entry.path):
        if posixpath.basename(entry.path) in _NOT_THEIRS:
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
