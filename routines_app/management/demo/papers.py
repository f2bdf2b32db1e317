"""The files that the demo's agents leave in their folders, and what each run changed of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from routines_app.rules.line_diff import lines_changed, unified
from routines_app.runner.ending import FileChange
from routines_app.runner.folder import COPIED, DIFF


@dataclass(frozen=True)
class File:
    """A file as a run leaves it: a whole `text`, a text with one line more (`adds`), something of
    `size` bytes that is no text, or nothing: it's gone."""

    path: str
    text: str | None = None
    adds: str = ""
    size: int = 0


Folder = dict[str, str | int]
"""What is in a routine's folder: path to text, or to the bytes of what is no text."""


def page(title: str, lines: int, rows: Sequence[str]) -> str:
    """A page in Markdown of so many lines, of which the first say this."""
    rest = [f"- {rows[at % len(rows)]}" for at in range(max(lines - 2, 0))]
    return "\n".join([f"# {title}", "", *rest][:lines]) + "\n"


def left_by(files: Iterable[File], folder: Folder) -> list[FileChange]:
    """Put the files into the folder; what that changed, in the order of their paths."""
    changes = [change for each in files if (change := _put(each, folder)) is not None]
    return sorted(changes, key=lambda change: change.path)


def memory_change(before: str, after: str) -> list[FileChange]:
    """The change of state.md; empty when there is none."""
    if before == after:
        return []
    added, removed = lines_changed(before, after)
    return [
        FileChange(
            "state.md",
            "changed" if before else "new",
            len(before.encode()) or None,
            len(after.encode()),
            added,
            removed,
            why="memory",
        )
    ]


def _put(file: File, folder: Folder) -> FileChange | None:
    before = folder.get(file.path)
    after = _after(file, before)
    if after == before:
        return None
    if after is None:
        del folder[file.path]
    else:
        folder[file.path] = after
    change = FileChange(
        file.path,
        "new" if before is None else "gone" if after is None else "changed",
        _size(before),
        _size(after),
    )
    if isinstance(before, int) or isinstance(after, int):
        large = max(_size(before) or 0, _size(after) or 0) > COPIED
        return FileChange(**{**vars(change), "why": "too_large" if large else "not_text"})
    diff = unified(before or "", after or "", DIFF)
    lines = {"added": diff.added, "removed": diff.removed, "diff": diff.text}
    return FileChange(**{**vars(change), **lines})


def _after(file: File, before: str | int | None) -> str | int | None:
    if file.adds:
        return f"{before if isinstance(before, str) else ''}{file.adds}\n"
    return file.text if file.text is not None else file.size or None


def _size(content: str | int | None) -> int | None:
    return len(content.encode()) if isinstance(content, str) else content
