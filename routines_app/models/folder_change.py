"""What a run changed in its routine's folder and in the one that it worked in, file by file."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import MD5

from routines_app.models.routine import Routine
from routines_app.models.run import Run


class FolderChange(models.Model):
    """One file that a run made, changed or removed, as `runner.ending.FileChange` says it.

    `path` is relative to the routine's own folder, or whole (`~/...`) where that isn't where the
    file is. A table of its own, so that what reads runs doesn't read diffs.
    """

    # Without an index of its own: `folder_change_number` begins with it.
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="folder_changes", db_index=False
    )
    # Without an index of its own: `folder_change_by_path` begins with it.
    routine = models.ForeignKey(
        Routine, on_delete=models.CASCADE, related_name="folder_changes", db_index=False
    )
    number = models.PositiveSmallIntegerField()
    path = models.TextField()
    kind = models.CharField(max_length=8)
    size_before = models.PositiveBigIntegerField(null=True, blank=True)
    size_after = models.PositiveBigIntegerField(null=True, blank=True)
    added = models.PositiveIntegerField(null=True, blank=True)
    removed = models.PositiveIntegerField(null=True, blank=True)
    diff = models.TextField(blank=True)
    why = models.CharField(max_length=12, blank=True)
    reason = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="folder_change_number")
        ]
        indexes = [
            # of the digest: a path may be longer than an index's entry
            models.Index("routine", MD5("path"), name="folder_change_by_path")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.path}"
