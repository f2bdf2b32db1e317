"""Keeping what a run changed in its folders, in the transaction that writes the run's end."""

from collections.abc import Iterable

from routines_app.models import FolderChange
from routines_app.runner.closing import OpenRun
from routines_app.runner.ending import FileChange


def keep_changes(run: OpenRun, changes: Iterable[FileChange]) -> None:
    """Add a row for each changed file, in their order."""
    FolderChange.objects.bulk_create(change_rows(run.run_id, run.routine_id, changes))


def change_rows(run_id: int, routine_id: int, changes: Iterable[FileChange]) -> list[FolderChange]:
    """What a run changed as rows, not stored yet."""
    return [
        FolderChange(run_id=run_id, routine_id=routine_id, number=number, **vars(change))
        for number, change in enumerate(changes, 1)
    ]
