"""What a run changed in its routine's folder, and in the one that it works in, where that is
another: a copy in memory before the turn, a look after it.

Nothing of the copy is kept on the machine, where an agent could alter it. What is on the machine
may be anything, so both looks are bounded, in bytes and in time, for all folders together.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from foundation import clock
from machines.providers.base import MachineError, Provider, Ref, TooLarge
from machines.providers.paths import beneath_home, shown
from routines_app.agents.wording import storable, text_of
from routines_app.rules.changed_path import kept_path
from routines_app.rules.line_diff import lines_changed, unified
from routines_app.runner.ending import Ending, FileChange
from routines_app.runner.folder_marks import Marks, differing, folder_marks
from routines_app.runner.memory import STATE_BYTES

log = structlog.get_logger()

COPIED = 32_000  # bytes of a file of which a copy is taken, and of one that is read afterwards
COPIED_IN_ALL = 512_000  # bytes
MOST_COPIES = 300  # files
LOOK_SECONDS = 1.0  # for each of the two looks: Stop must work within two seconds
_FOR_BYTES = 0.3  # of that time: many names leave the files near the top their copies
KEPT = 100  # changes that are kept; the others are counted
DIFF = 16_000  # characters of one diff
DIFF_IN_ALL = 128_000
PATH = 1_000  # characters


@dataclass(frozen=True)
class _Before:
    """The folders as the turn found them, the routine's `own` first. `state` is the text of its
    state.md."""

    provider: Provider
    ref: Ref
    folders: tuple[str, ...]
    state: str
    marks: Marks
    copies: dict[str, bytes]

    @property
    def own(self) -> str:
        return self.folders[0]


class RunFolders:
    """One run's view of its routine's folder and of the one that it works in; without `look` it
    tells of nothing."""

    def __init__(self) -> None:
        self._before: _Before | None = None

    def look(
        self,
        provider: Provider,
        ref: Ref,
        own: str,
        works_in: str,
        state: str,
        check: Callable[[], None],
    ) -> None:
        """Remember what is in both folders, before the turn; they may be one, or one in the other.

        `check` raises when the run must end.
        """
        until = clock.monotonic() + LOOK_SECONDS
        folders = _each_once(own, works_in)
        marks = folder_marks(provider, ref, folders, until - LOOK_SECONDS * _FOR_BYTES)
        check()
        copies: dict[str, bytes] = {}
        room = COPIED_IN_ALL
        sizes = [(_depth(path, folders), size, path) for path, (size, _) in marks.files.items()]
        for _, size, path in sorted(sizes):  # the upper ones first: below lies what tools keep
            if size > min(COPIED, room) or path == f"{own}/state.md":
                continue
            if len(copies) >= MOST_COPIES:
                break
            check()
            if clock.monotonic() > until:
                break
            room -= size
            try:
                copies[path] = provider.read_file(ref, path, COPIED)
            except MachineError as error:
                # without a copy its change is told by its size alone, and says so
                log.info("file_not_copied", why=error.sentence)
        self._before = _Before(provider, ref, folders, state, marks, copies)

    def into(self, ending: Ending) -> Ending:
        """The ending with what the run changed in its folder."""
        if self._before is None:
            return ending
        try:
            return _Comparison(self._before, ending).told()
        except Exception:
            # whatever a machine's files do to us, the run's end has to be recorded
            log.exception("folder_not_compared")
            unseen = {"folder_unseen": "Something of ours broke while we looked."}
            return replace(ending, facts={**ending.facts, **unseen})


class _Comparison:
    """The folders now beside what they were."""

    def __init__(self, before: _Before, ending: Ending) -> None:
        self._before = before
        self._ending = ending
        self._until = clock.monotonic() + LOOK_SECONDS
        self._room = DIFF_IN_ALL
        names_until = self._until - LOOK_SECONDS * _FOR_BYTES
        self._after = folder_marks(before.provider, before.ref, before.folders, names_until)
        self._state_file = f"{before.own}/state.md"

    def told(self) -> Ending:
        """The ending with the changes, their number, and what couldn't be seen."""
        paths = differing(self._before.marks, self._after)
        folders = self._before.folders
        paths.sort(key=lambda path: (path != self._state_file, _depth(path, folders)))
        kept, more = list[FileChange](), 0
        for path in paths:
            full = len(kept) >= KEPT
            if full and path not in self._before.copies:
                more += 1  # only its mark tells of it
                continue
            change = self._change(path)
            if change is None:
                continue
            if full:
                more += 1
            else:
                kept.append(change)
        kept.sort(key=lambda change: (change.why == "memory", change.path))
        facts: dict[str, object] = {"files_changed": len(kept) + more}
        unseen = self._before.marks.unseen or self._after.unseen
        if unseen:
            facts["folder_unseen"] = storable(unseen)[:300]
        return replace(self._ending, facts={**self._ending.facts, **facts}, changes=tuple(kept))

    def _change(self, path: str) -> FileChange | None:
        """What happened to one file; None when its bytes are the same."""
        old, new = self._before.marks.files.get(path), self._after.files.get(path)
        change = FileChange(
            path=_readable(kept_path(path, self._before.own)),
            kind="new" if old is None else "gone" if new is None else "changed",
            size_before=old[0] if old else None,
            size_after=new[0] if new else None,
        )
        if path == self._state_file:
            return self._memory(change)
        if new is None:
            stands = self._after.kinds.get(path, "")
            change = replace(change, why={"link": "link", "folder": "folder"}.get(stands, ""))
        copy = self._before.copies.get(path)
        if old is not None and copy is None:
            return replace(change, why="too_large" if old[0] > COPIED else "no_copy")
        if new is not None and new[0] > COPIED:
            return replace(change, why="too_large")
        if clock.monotonic() > self._until:
            return replace(change, why="no_room")
        now = b""
        if new is not None:
            try:
                now = self._before.provider.read_file(self._before.ref, path, COPIED)
            except TooLarge:
                return replace(change, why="too_large")
            except MachineError as error:
                return replace(change, why="unreadable", reason=storable(error.sentence)[:300])
            if now == copy:
                return None
            change = replace(change, size_after=len(now))
        return self._with_its_lines(change, copy or b"", now)

    def _memory(self, change: FileChange) -> FileChange | None:
        """state.md, whose texts the run keeps itself."""
        before, after = self._before.state, self._ending.state_after
        if change.kind != "changed":
            return replace(change, why="memory")
        if after is None:
            return replace(change, why="unreadable")
        size = change.size_after or 0
        if before == after and size == change.size_before and size <= STATE_BYTES:
            return None
        added, removed = lines_changed(before, after)
        return replace(change, why="memory", added=added, removed=removed)

    def _with_its_lines(self, change: FileChange, before: bytes, after: bytes) -> FileChange:
        old, new = text_of(before), text_of(after)
        if old is None or new is None:
            return replace(change, why=change.why or "not_text")
        if self._room <= 0:
            added, removed = lines_changed(old, new)
            return replace(change, why=change.why or "no_room", added=added, removed=removed)
        diff = unified(old, new, min(DIFF, self._room))
        self._room -= len(diff.text)
        return replace(change, diff=diff.text, added=diff.added, removed=diff.removed)


def _each_once(own: str, works_in: str) -> tuple[str, ...]:
    """The routine's own folder, and the one that it works in, if that is another beneath home."""
    try:
        elsewhere = shown(beneath_home(works_in))
    except MachineError:
        return (own,)  # no tool reaches it either
    return (own,) if elsewhere == own else (own, elsewhere)


def _depth(path: str, folders: tuple[str, ...]) -> int:
    """How far below one of the folders a file lies."""
    within = [folder for folder in folders if path.startswith(f"{folder}/")]
    return path.count("/") - max(folder.count("/") for folder in within)


def _readable(path: str) -> str:
    """A path as it is stored: marks in place of bytes that are no text; a long one is cut."""
    plain = "".join("�" if "\ud800" <= letter <= "\udfff" else letter for letter in path)
    return plain if len(plain) <= PATH else f"{plain[:PATH]}…"
