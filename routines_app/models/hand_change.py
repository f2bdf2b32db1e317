"""Who changed which file of a machine by hand."""

from __future__ import annotations

from django.db import models

from accounts.models import User
from foundation import clock
from machines.models import Machine


class HandChange(models.Model):
    """One change of a file by a person, on a page. `path` is beneath home, without `~/`; of a
    folder that was deleted it is the folder's."""

    machine = models.ForeignKey(
        Machine, on_delete=models.CASCADE, related_name="hand_changes", db_index=False
    )
    path = models.TextField()
    person = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [models.Index(fields=["machine", "-at"], name="hand_change_lately")]

    def __str__(self) -> str:
        return f"{self.path} by {self.person_id}"
