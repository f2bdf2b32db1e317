"""What a run changed in its folders, file by file, as its page and the file's history show it."""

from dataclasses import dataclass, replace

from django.urls import reverse

from routines_app.models import FolderChange, Run
from routines_app.rules.changed_path import whole_path
from routines_app.rules.line_diff import DiffLine, lines_of
from routines_app.web.templatetags.words import size
from routines_app.web.visible import can_be_linked, visible_line, visible_name

_LABELS = {"new": "New", "changed": "Changed", "gone": "Gone"}
_WHY = {
    "memory": "It is the routine’s memory.",
    "too_large": "Too large to show.",
    "not_text": "It isn’t text.",
    "no_copy": "There was no room for a copy from before the run, so its lines aren’t known.",
    "no_room": "So much changed in this run that these lines weren’t kept.",
    "link": "A link has its name now. Links aren’t followed.",
    "folder": "A folder has its name now.",
}
_SAME_SIZE = "Its size is the same; whether its content differs isn’t known."


@dataclass(frozen=True)
class ChangedFile:
    """One file. `figure` stands at the right; `href` is "" where no page shows the file.

    `words` say its size, and why there are no `lines`; `learnt`: they stand under What it learnt.
    """

    label: str
    path: str
    figure: str
    words: str
    lines: list[DiffLine]
    learnt: bool
    href: str


@dataclass(frozen=True)
class ChangedFiles:
    """All of a run's. `more` changed files weren't kept; `unseen` says why some weren't seen.

    `elsewhere`: it worked in another folder than its routine's own, and both were looked at.
    """

    files: list[ChangedFile]
    more: int
    unseen: str
    elsewhere: bool

    @property
    def count(self) -> int:
        return len(self.files) + self.more


def changed_files(run: Run) -> ChangedFiles | None:
    """What an ended run changed; None when it changed nothing that was seen."""
    counted, unseen = run.facts.get("files_changed"), run.facts.get("folder_unseen")
    if not counted and not unseen:
        return None  # without a question: most runs change no file
    rows = list(run.folder_changes.order_by("number"))
    if not rows and not unseen:
        return None  # it ended before diffs were kept
    more = counted - len(rows) if isinstance(counted, int) else 0
    files = [_shown(run, row) for row in rows]
    own = run.routine.memory_folder
    elsewhere = run.snapshot.get("folder", own) != own
    return ChangedFiles(files, max(more, 0), visible_name(str(unseen or "")), elsewhere)


def figure_of(change: FolderChange) -> str:
    """How many lines came and went, else what size it has or had.

    >>> figure_of(FolderChange(added=2, removed=1)), figure_of(FolderChange(size_after=1_800))
    ('+2 −1', '1.8 KB')
    """
    if change.added is None or change.removed is None:
        return size(change.size_before if change.size_after is None else change.size_after)
    parts = [f"+{change.added:,}"] if change.added else []
    parts += [f"−{change.removed:,}"] if change.removed else []
    return " ".join(parts) or size(change.size_after or 0)


def words_of(change: FolderChange) -> str:
    """Its size before and after, and why it is shown without its lines."""
    why = _WHY.get(change.why, "")
    if change.why == "unreadable":
        reason = visible_name(change.reason)
        why = f"It couldn’t be read after the run. {reason}".strip()
    elif change.why in ("too_large", "no_copy") and change.size_before == change.size_after:
        why = f"{why} {_SAME_SIZE}"
    elif not change.diff and not change.why:
        why = "It is empty."
    return f"{_sizes(change)} {why}".strip()


def diff_lines(change: FolderChange) -> list[DiffLine]:
    """The lines of its diff, with unseen characters made visible."""
    lines = lines_of(change.diff)
    # a space gives an empty line its height
    return [replace(line, text=visible_line(line.text) or " ") for line in lines]


def _sizes(change: FolderChange) -> str:
    before, after = change.size_before, change.size_after
    if before is None or after is None:
        return f"{size(after if before is None else before)}."
    if before == after:
        return f"{size(after)}, as before."
    return f"{size(after)}, {size(before)} before."


def _shown(run: Run, change: FolderChange) -> ChangedFile:
    figure = figure_of(change)
    if change.added or change.removed:
        lines = (change.added or 0) + (change.removed or 0)
        figure += " line" if lines == 1 else " lines"
    return ChangedFile(
        label=_LABELS.get(change.kind, "Changed"),
        path=visible_name(change.path),
        figure=figure,
        words=words_of(change),
        lines=diff_lines(change),
        learnt=change.why == "memory",
        href=_href(run, change),
    )


def _href(run: Run, change: FolderChange) -> str:
    machine = run.machine
    if machine is None or machine.deleted_at is not None or change.kind == "gone":
        return ""
    if not can_be_linked(change.path):
        return ""
    whole = whole_path(change.path, run.routine.memory_folder)
    return reverse("file", args=[run.workspace.slug, machine.slug, whole.removeprefix("~/")])
