"""Who is told: the outbox, and the bell."""

from __future__ import annotations

import uuid

from django.db import models

from accounts.models import User, Workspace
from foundation import clock
from routines_app.models.routine import Routine
from routines_app.models.run import Run

QUIET = "quiet "  # how the key of a digest begins that says that nothing useful comes


class Delivery(models.Model):
    """One telling of one run to one channel, written in the run's own transaction.

    `state`: waiting, taken, given_up. A delivery never changes its run.
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="deliveries")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=24)  # bell; others name their kind
    cause = models.CharField(max_length=120, blank=True)  # rung for once, whatever it repeats
    state = models.CharField(max_length=10, default="waiting")
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    answer = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "channel"], name="one_delivery_a_channel"),
            models.CheckConstraint(
                condition=models.Q(state__in=["waiting", "taken", "given_up"]),
                name="delivery_state_known",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "cause"],
                condition=~models.Q(cause=""),
                name="delivery_cause",
            ),
            models.Index(
                fields=["next_try_at"],
                condition=models.Q(state="waiting"),
                name="delivery_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel} {self.state}"


class Notice(models.Model):
    """One ring of the bell: about one run, or a digest that several share.

    `key` makes a digest one row ("missed 2027-03-25T07:52:00Z"); `facts` is what its sentence
    needs. For a run both are empty: the run's own sentence is said. A routine that is quiet for
    too long has a digest of its own, whose key begins with `QUIET`.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="notices")
    routine = models.ForeignKey(
        Routine, null=True, blank=True, on_delete=models.CASCADE, related_name="notices"
    )
    run = models.OneToOneField(
        Run, null=True, blank=True, on_delete=models.CASCADE, related_name="notice"
    )
    key = models.CharField(max_length=80, blank=True)
    facts = models.JSONField(default=dict, blank=True)
    needs_someone = models.BooleanField(default=False)
    rung_at = models.DateTimeField(default=clock.now)
    read_by = models.ManyToManyField(User, related_name="read_notices", blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "-rung_at"]),
            models.Index(
                fields=["workspace"],
                condition=models.Q(needs_someone=True),
                name="notice_needs_someone",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "key"],
                condition=~models.Q(key=""),
                name="one_digest_a_key",
            ),
            models.CheckConstraint(
                condition=models.Q(run__isnull=False, key="")
                | (models.Q(run__isnull=True) & ~models.Q(key="")),
                name="a_notice_is_of_a_run_or_a_digest",
            ),
        ]

    def __str__(self) -> str:
        return f"bell for {self.run_id or self.key}"
