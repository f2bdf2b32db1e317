"""A standing instruction with its trigger."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models import User, Workspace
from foundation import clock
from machines.models import Machine
from routines_app.models.agent import Agent
from routines_app.rules.kinds import Schedule, ScheduleKind

DEFAULT_CAP = 500_000  # micro-dollars


class RoutineQueries(models.QuerySet["Routine"]):
    def present(self) -> RoutineQueries:
        """Those that aren't deleted."""
        return self.filter(deleted_at__isnull=True)


class Routine(models.Model):
    """What to do, when, by whom and where, and the limits of one run.

    The slug is set once from the first name; it names the folder on the machine. The schedule's
    truth is its kind and values with the zone; `expressions` is the cron made from them.
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # Its own index would only cost: `routine_slug_unique` begins with it.
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="routines", db_index=False
    )
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="routines")
    name = models.CharField(max_length=80)
    slug = models.SlugField(max_length=60, db_index=False)
    version = models.PositiveIntegerField(default=1)

    agent = models.ForeignKey(
        Agent, null=True, blank=True, on_delete=models.PROTECT, related_name="routines"
    )
    model = models.CharField(max_length=160, blank=True)  # provider/model, when no agent is named
    machine = models.ForeignKey(
        Machine, null=True, blank=True, on_delete=models.PROTECT, related_name="routines"
    )
    instructions = models.TextField()
    folder = models.CharField(max_length=300, blank=True)  # empty: ~/routines/<slug>
    check_command = models.TextField(blank=True)
    # the apps that it may use, in the order of their slugs: {"app": slug, "required": true}
    apps = models.JSONField(
        default=list, blank=True, db_default=models.Value([], models.JSONField())
    )

    schedule_kind = models.CharField(max_length=24)
    schedule_values = models.JSONField(default=dict, blank=True)
    zone = models.CharField(max_length=64, default="UTC")
    expressions = ArrayField(models.CharField(max_length=256), default=list, blank=True)
    schedule_version = models.PositiveIntegerField(default=1)
    next_fire_at = models.DateTimeField(null=True, blank=True)
    evaluated_until = models.DateTimeField(null=True, blank=True)
    grace = models.DurationField(null=True, blank=True)

    enabled = models.BooleanField(default=False)
    off_reason = models.CharField(max_length=16, blank=True)  # person, failures, once, never_on
    off_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    off_at = models.DateTimeField(null=True, blank=True)

    cap = models.BigIntegerField(default=DEFAULT_CAP)  # micro-dollars a run
    time_limit = models.DurationField(default=timedelta(minutes=20))
    step_limit = models.PositiveIntegerField(default=100)
    conversation = models.CharField(max_length=9, default="fresh")  # fresh, continued
    notify = models.CharField(max_length=8, default="change")  # change, every, failure
    # days without anything useful until somebody is told; None: ten due times, 0: never
    quiet_days = models.PositiveIntegerField(null=True, blank=True)

    streak = models.PositiveIntegerField(default=0)
    run_counter = models.PositiveIntegerField(default=0)
    starter = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager[Routine]] = RoutineQueries.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "slug"], name="routine_slug_unique"),
            models.CheckConstraint(
                condition=models.Q(conversation__in=["fresh", "continued"]),
                name="routine_conversation_known",
            ),
            models.CheckConstraint(
                condition=models.Q(notify__in=["change", "every", "failure"]),
                name="routine_notify_known",
            ),
            models.CheckConstraint(condition=models.Q(cap__gte=0), name="routine_cap_not_negative"),
        ]
        indexes = [
            models.Index(
                fields=["next_fire_at"],
                condition=models.Q(enabled=True, deleted_at__isnull=True),
                name="routine_due",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def schedule(self) -> Schedule:
        """Its schedule as a value for the rules."""
        return Schedule(ScheduleKind(self.schedule_kind), self.schedule_values, self.zone)

    @property
    def who(self) -> str:
        """Who does it: an agent's name, a model's, or Assistant, which then works that out."""
        return self.agent.name if self.agent else self.model or "Assistant"

    @property
    def working_folder(self) -> str:
        """Where its check and turn start, beneath the machine's home."""
        return self.folder or self.memory_folder

    @property
    def memory_folder(self) -> str:
        """Its own folder, which holds state.md."""
        return f"~/routines/{self.slug}"


class RoutineVersion(models.Model):
    """What a routine was at one version, whole, so that a run can say which it ran."""

    routine = models.ForeignKey(Routine, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    changed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField(default=clock.now)
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["routine", "number"], name="routine_version_unique")
        ]

    def __str__(self) -> str:
        return f"{self.routine} v{self.number}"


class OnSpan(models.Model):
    """One stretch in which a routine was on with one schedule: what it owed, and so what an audit
    looks for. Owed is what was due after `started_at` and up to `ended_at`, None while it goes on.

    `schedule` is as `rules.schedule.to_json` writes it.
    """

    routine = models.ForeignKey(Routine, on_delete=models.CASCADE, related_name="on_spans")
    schedule = models.JSONField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["routine"],
                condition=models.Q(ended_at__isnull=True),
                name="one_open_on_span_a_routine",
            )
        ]
        indexes = [models.Index(fields=["routine", "started_at"], name="on_span_in_order")]

    def __str__(self) -> str:
        return f"{self.routine} since {self.started_at}"


class RoutineTotals(models.Model):
    """Counters of a routine, moved in the transaction that records a run.

    `runs` counts rows in which a check or a turn began; refusals are counted beside them.
    `heard_at` is when a run last brought something or failed.
    """

    routine = models.OneToOneField(
        Routine, on_delete=models.CASCADE, primary_key=True, related_name="totals"
    )
    runs = models.PositiveIntegerField(default=0)
    refusals = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    spent = models.BigIntegerField(default=0)
    heard_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.routine}: {self.runs}"


class Trigger(models.Model):
    """An event source of a routine beside its schedule; `kind` is a producer's name."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    routine = models.ForeignKey(Routine, on_delete=models.CASCADE, related_name="triggers")
    kind = models.CharField(max_length=24)
    config = models.JSONField(default=dict, blank=True)
    state = models.JSONField(default=dict, blank=True)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return f"{self.kind} of {self.routine}"
