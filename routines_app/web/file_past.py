"""The runs that changed a file of a routine's folder, from what each of them kept."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import md5
from typing import ClassVar

from django.db.models.functions import MD5

from machines.models import Machine
from routines_app.models import FolderChange, Routine, Run
from routines_app.rules.line_diff import DiffLine
from routines_app.web.file_owner import ROUTINES
from routines_app.web.run_files import diff_lines, figure_of, words_of
from routines_app.web.state_history import LINE, SHOWN


@dataclass(frozen=True)
class KeptEdition:
    """What one run did to the file. It has what the pages ask of an `Edition`; the text from
    before isn't there to be put back."""

    run: Run
    change: FolderChange

    by_hand: ClassVar = False
    since: ClassVar = False
    failed_first: ClassVar = False
    restores: ClassVar = False

    @property
    def name(self) -> str:
        """What an address calls it."""
        return str(self.run.number)

    @property
    def figure(self) -> str:
        return figure_of(self.change)

    @property
    def came(self) -> str:
        """The first line that came, else what became of the file."""
        first = (line.text.strip(" \t#*-") for line in self.lines if line.kind == "added")
        return next((text for text in first if text), "")[:LINE]

    @property
    def words(self) -> str:
        return words_of(self.change)

    @property
    def lines(self) -> list[DiffLine]:
        return diff_lines(self.change)


def past_of(machine: Machine, path: str) -> list[KeptEdition] | None:
    """The last runs that changed this file, newest first; None when none is known, or the file
    isn't in a routine's folder. `path` is beneath home."""
    first, _, rest = path.partition("/")
    slug, _, rest = rest.partition("/")
    if first != ROUTINES or not rest:
        return None
    routine = Routine.objects.filter(workspace_id=machine.workspace_id, slug=slug).first()
    if routine is None:
        return None
    rows = (
        FolderChange.objects.alias(digest=MD5("path"))
        .filter(routine=routine, run__machine=machine, path=rest)
        .filter(digest=md5(rest.encode(errors="replace"), usedforsecurity=False).hexdigest())
        .select_related("run__routine")
        .order_by("-run__number")[:SHOWN]
    )
    return [KeptEdition(row.run, row) for row in rows] or None
