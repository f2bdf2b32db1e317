"""Keeping what a run changed in its folder, in the transaction that writes the run's end."""

from routines_app.models import FolderChange
from routines_app.runner.closing import OpenRun
from routines_app.runner.ending import FileChange


def keep_changes(run: OpenRun, changes: tuple[FileChange, ...]) -> None:
    """Add a row for each changed file, in their order."""
    FolderChange.objects.bulk_create(
        FolderChange(run_id=run.run_id, routine_id=run.routine_id, number=number, **vars(change))
        for number, change in enumerate(changes, 1)
    )
