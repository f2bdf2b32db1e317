"""Computers of a workspace: a persistent disk plus the right to compute."""

import uuid
from datetime import timedelta

from django.db import models

from accounts.models import User, Workspace
from foundation import clock
from machines.lifecycle import MachineState


class Machine(models.Model):
    """One computer. `ref` is what its provider calls it; the slug never changes."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="machines")
    name = models.CharField(max_length=60)
    slug = models.SlugField(max_length=60)
    provider = models.CharField(max_length=16)
    ref = models.CharField(max_length=200, blank=True)  # empty until created there
    spec = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=12, default=MachineState.ASLEEP)
    state_since = models.DateTimeField(default=clock.now)
    state_reason = models.CharField(max_length=200, blank=True)
    archive = models.JSONField(default=dict, blank=True)  # sha256, size and since when, if cold
    used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    created_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "slug"], name="machine_slug_unique"),
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in MachineState]),
                name="machine_state_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AwakeSpan(models.Model):
    """One stretch of being awake: who or what woke it, and until when."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="spans")
    started_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    woken_by = models.CharField(max_length=200)

    class Meta:
        indexes = [models.Index(fields=["machine", "-started_at"])]
        constraints = [
            models.UniqueConstraint(
                fields=["machine"],
                condition=models.Q(ended_at__isnull=True),
                name="one_open_span_a_machine",
            )
        ]

    def __str__(self) -> str:
        return f"{self.machine} since {self.started_at:%H:%M}"

    @property
    def length(self) -> timedelta | None:
        """How long it was; None while it goes on."""
        return None if self.ended_at is None else self.ended_at - self.started_at
