"""The queue's rows, and the row that each of them ends as."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db import models
from django.db.models import Q

from accounts.models import User, Workspace
from foundation import clock
from machines.models import Machine
from routines_app.models.agent import Agent
from routines_app.models.routine import Routine
from routines_app.rules.status import FINAL_STATUSES, LIVE_STATUSES, RunStatus


class Fire(models.Model):
    """A request that a routine run, from whichever producer; unique on (routine, dedup key).

    `source` is a producer's name, which only pages print. `closed_at` is set with its run's end.
    `schedule_version` is the one that asked, None when it wasn't the schedule.
    """

    # Without an index of its own: `one_fire_a_key` begins with it.
    routine = models.ForeignKey(
        Routine, on_delete=models.PROTECT, related_name="fires", db_index=False
    )
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="fires")
    source = models.CharField(max_length=24)
    dedup_key = models.CharField(max_length=120)
    due_at = models.DateTimeField()
    requested_at = models.DateTimeField()
    requested_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    payload = models.JSONField(default=dict, blank=True)
    schedule_version = models.PositiveIntegerField(null=True, blank=True)
    covers_from = models.DateTimeField(null=True, blank=True)
    covers_to = models.DateTimeField(null=True, blank=True)
    covers_count = models.PositiveIntegerField(default=1)

    claimed_by = models.CharField(max_length=120, blank=True)
    claim_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["routine", "dedup_key"], name="one_fire_a_key"),
            models.CheckConstraint(
                condition=Q(claim_token__isnull=True, lease_until__isnull=True)
                | Q(claim_token__isnull=False, lease_until__isnull=False),
                name="a_claim_has_a_lease",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at", "id"],
                condition=Q(closed_at__isnull=True, claim_token__isnull=True),
                name="fire_waiting",
            ),
            models.Index(
                fields=["lease_until"],
                condition=Q(closed_at__isnull=True, claim_token__isnull=False),
                name="fire_claimed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.dedup_key}"


class Run(models.Model):
    """What came of a fire: exactly one row, whose status reads as a sentence.

    Money is micro-dollars. `snapshot` is what it ran with; `facts` is what its sentence needs.
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    fire = models.OneToOneField(Fire, on_delete=models.PROTECT, related_name="run")
    # Without indexes of their own: `run_number_unique` and `run_by_workspace` begin with them.
    routine = models.ForeignKey(
        Routine, on_delete=models.PROTECT, related_name="runs", db_index=False
    )
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="runs", db_index=False
    )
    machine = models.ForeignKey(
        Machine, null=True, blank=True, on_delete=models.PROTECT, related_name="runs"
    )
    # Whom the routine named when it was asked for, and who was asked or picked once it began; null:
    # nobody yet, or a model alone. `run_by_agent` begins with it.
    agent = models.ForeignKey(
        Agent,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="runs",
        db_index=False,
    )
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=24, default=RunStatus.QUEUED)
    attempt = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveIntegerField(null=True, blank=True)
    snapshot = models.JSONField(default=dict, blank=True)

    queued_at = models.DateTimeField()
    waking_at = models.DateTimeField(null=True, blank=True)
    awake_at = models.DateTimeField(null=True, blank=True)
    effects_begun_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    turn_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    stop_asked_at = models.DateTimeField(null=True, blank=True)
    stop_asked_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    spent = models.BigIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    cached_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    requests = models.PositiveIntegerField(default=0)

    headline = models.CharField(max_length=300, blank=True)
    body = models.TextField(blank=True)
    changed = models.BooleanField(null=True, blank=True)
    facts = models.JSONField(default=dict, blank=True)
    doing = models.JSONField(default=dict, blank=True)  # the open step: kind, title, text
    cause = models.CharField(max_length=8, blank=True)  # ours, theirs
    state_before = models.TextField(blank=True)
    state_after = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["routine", "number"], name="run_number_unique"),
            models.CheckConstraint(
                condition=Q(status__in=[s.value for s in RunStatus]), name="run_status_known"
            ),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=False, status__in=list(FINAL_STATUSES))
                | (Q(finished_at__isnull=True) & ~Q(status__in=list(FINAL_STATUSES))),
                name="finished_exactly_when_final",
            ),
            models.UniqueConstraint(
                fields=["routine"],
                condition=Q(status__in=list(LIVE_STATUSES)),
                name="one_live_run_a_routine",
            ),
            models.CheckConstraint(condition=Q(spent__gte=0), name="run_spent_not_negative"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-finished_at"], name="run_by_workspace"),
            models.Index(fields=["agent", "-queued_at"], name="run_by_agent"),
            models.Index(
                fields=["agent", "-finished_at"],
                condition=Q(turn_at__isnull=False, finished_at__isnull=False),
                name="run_turned_by_agent",
            ),
            models.Index(
                fields=["machine"],
                condition=Q(status__in=list(LIVE_STATUSES)),
                name="run_live_on_machine",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.number} of {self.routine_id}"

    @property
    def state(self) -> RunStatus:
        """The status as the enum's member."""
        return RunStatus(self.status)

    @property
    def duration(self) -> timedelta | None:
        """From leaving the queue to the end; None while it waits or when nothing began."""
        if self.waking_at is None or self.finished_at is None:
            return None
        return self.finished_at - self.waking_at


class Step(models.Model):
    """One thing that happened in a run, in order; its number is what a live page asks after."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12)
    title = models.CharField(max_length=500)
    content = models.TextField(blank=True)
    cost = models.BigIntegerField(default=0)
    seconds = models.FloatField(default=0)
    facts = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="step_number_unique")]

    def __str__(self) -> str:
        return f"{self.number}. {self.title}"
