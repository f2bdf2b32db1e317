"""How a run ends, as a value: what `record` writes."""

from dataclasses import dataclass, field
from typing import Literal

from routines_app.agents.turn import Usage
from routines_app.rules.status import RunStatus


@dataclass(frozen=True)
class LeftBehind:
    """What a run leaves to its routine's conversation, kept only while that has this `edition`.

    Turns of runs before `oldest` didn't go on. `size` is bytes, `reread` micro-dollars.
    """

    edition: int
    oldest: int
    text: str
    size: int
    reread: int


@dataclass(frozen=True)
class FileChange:
    """What a run did to one file; `path` is as `rules.changed_path` keeps it: relative to the
    routine's own folder, or whole (`~/...`) where it worked elsewhere.

    Sizes are bytes, None where there was no such file; `added` and `removed` are lines, None where
    they aren't known. `why` says why `diff` is empty, or what stands in the file's place:
    memory (state.md, whose texts the run keeps), too_large, not_text, no_copy (from before),
    no_room, unreadable (`reason` says why), link, folder.
    """

    path: str
    kind: Literal["new", "changed", "gone"]
    size_before: int | None
    size_after: int | None
    added: int | None = None
    removed: int | None = None
    diff: str = ""
    why: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Ending:
    """A terminal status with all that belongs to it. `spent` None keeps what the row has."""

    status: RunStatus
    facts: dict[str, object] = field(default_factory=dict)
    headline: str = ""
    body: str = ""
    changed: bool | None = None
    spent: int | None = None
    usage: Usage | None = None
    state_after: str | None = None
    left: LeftBehind | None = None
    changes: tuple[FileChange, ...] = ()
    ours: bool = False  # the fault is ours: it never counts towards turning the routine off
