"""Who does the work, and the keys that models are reached with."""

from __future__ import annotations

import uuid
from enum import StrEnum

from django.contrib.postgres.functions import RandomUUID
from django.db import models

from accounts.models import User, Workspace
from foundation import clock
from routines_app.rules.roster import Tier


class AgentRuntime(StrEnum):
    """How an agent works: a script without a model, or a model with tools."""

    SCRIPT = "script"
    MODEL = "model"


class Agent(models.Model):
    """One member of a workspace's roster. An edit makes a new version.

    `key` names it to programs. `came_as` is the slug of one of the seven that each workspace
    comes with (`rules.roster`), empty for one that the workspace made itself.
    """

    key = models.UUIDField(default=uuid.uuid4, db_default=RandomUUID(), unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="agents")
    came_as = models.CharField(max_length=16, blank=True, default="")
    made_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    name = models.CharField(max_length=60)
    slug = models.SlugField(max_length=60)
    purpose = models.CharField(max_length=200, blank=True)
    runtime = models.CharField(max_length=8, default=AgentRuntime.MODEL)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "slug"], name="agent_slug_unique"),
            models.CheckConstraint(
                condition=models.Q(runtime__in=[r.value for r in AgentRuntime]),
                name="agent_runtime_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AgentVersion(models.Model):
    """What an agent was at one version: its instructions, model and tools.

    `model` is `provider/model`, one particular model that is never replaced by another. Without
    it `tier` is fast, balanced or deep, and the workspace's models say what that means; both
    empty: balanced, or no model for a script. `tools` are names as a model calls them. `apps` are
    those that it may use at most, in the order of their slugs: {"app": slug, "tools": [names]};
    null: whatever its routine gives it.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=60, blank=True, default="")
    purpose = models.CharField(max_length=200, blank=True, default="")
    persona = models.TextField(blank=True)
    tier = models.CharField(max_length=8, blank=True, default="")
    model = models.CharField(max_length=160, blank=True)
    tools = models.JSONField(default=list, blank=True)
    apps = models.JSONField(null=True, blank=True)
    note = models.CharField(max_length=200, blank=True, default="")
    changed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "number"], name="agent_version_unique"),
            models.CheckConstraint(
                condition=models.Q(tier__in=["", *(tier.value for tier in Tier)]),
                name="agent_tier_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent} v{self.number}"


class ModelKey(models.Model):
    """A workspace's own way to a model provider; its key is encrypted and never read back.

    `own_input` and `own_output` are its price where the price table has none (a server of its
    own), in micro-dollars per million tokens.
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="model_keys")
    provider = models.CharField(max_length=24)
    base_url = models.CharField(max_length=300, blank=True)
    model = models.CharField(max_length=120)  # the one that agents use unless they name another
    own_input = models.BigIntegerField(null=True, blank=True)
    own_output = models.BigIntegerField(null=True, blank=True)
    sealed = models.BinaryField(default=b"")
    last_four = models.CharField(max_length=4, blank=True)
    added_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=clock.now)
    used_at = models.DateTimeField(null=True, blank=True)
    tested_at = models.DateTimeField(null=True, blank=True)
    test_answer = models.CharField(max_length=300, blank=True)
    test_ok = models.BooleanField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "provider", "base_url"], name="one_key_a_provider"
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider} …{self.last_four}"


class ModelWord(models.Model):
    """What fast, balanced or deep means in a workspace that has said so: one `provider/model`."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="model_words")
    word = models.CharField(max_length=8)
    model = models.CharField(max_length=160)
    changed_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "word"], name="one_model_a_word"),
            models.CheckConstraint(
                condition=models.Q(word__in=[tier.value for tier in Tier]),
                name="model_word_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.word}: {self.model}"
