"""The runs that changed a file, from what each of them kept."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import md5
from typing import ClassVar

from django.db.models import Q
from django.db.models.functions import MD5

from machines.models import Machine
from routines_app.models import FolderChange, Routine, Run
from routines_app.rules.changed_path import kept_path
from routines_app.rules.line_diff import DiffLine
from routines_app.web.file_owner import ROUTINES
from routines_app.web.run_files import diff_lines, figure_of, words_of
from routines_app.web.state_history import LINE, SHOWN


@dataclass(frozen=True)
class KeptEdition:
    """What one run did to the file. It has what the pages ask of an `Edition`; the text from
    before isn't there to be put back. `own` is the routine in whose folder the file is."""

    run: Run
    change: FolderChange
    own: Routine | None

    by_hand: ClassVar = False
    since: ClassVar = False
    failed_first: ClassVar = False
    restores: ClassVar = False

    @property
    def name(self) -> str:
        """What an address calls it: several routines may have a run of one number."""
        number = str(self.run.number)
        return f"{self.run.routine.slug}-{number}" if self.whose else number

    @property
    def whose(self) -> str:
        """The routine that ran, "" where the file is in its own folder."""
        return "" if self.run.routine == self.own else self.run.routine.name

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
    """The last runs that changed this file, newest first; None when none is known.

    `path` is beneath home. A file outside their own folders may be several routines' work.
    """
    whole = f"~/{path}"
    theirs = Routine.objects.filter(workspace_id=machine.workspace_id)
    kept = {whole}
    found = Q(path=whole)
    slug = _slug_in(path)
    own = theirs.filter(slug=slug).first() if slug else None
    if own is not None:
        within = kept_path(whole, own.memory_folder)
        kept.add(within)
        found |= Q(routine=own, path=within)
    rows = (
        FolderChange.objects.alias(digest=MD5("path"))
        .filter(found, routine__in=theirs, run__machine=machine)
        .filter(digest__in=[_digest(each) for each in kept])
        .select_related("run__routine")
        .order_by("-run__finished_at", "-run_id")[:SHOWN]
    )
    return [KeptEdition(row.run, row, own) for row in rows] or None


def _slug_in(path: str) -> str:
    """The slug that a path would have in a routine's own folder, "" anywhere else."""
    parts = path.split("/", 2)
    return parts[1] if len(parts) > 2 and parts[0] == ROUTINES else ""


def _digest(path: str) -> str:
    return md5(path.encode(errors="replace"), usedforsecurity=False).hexdigest()
