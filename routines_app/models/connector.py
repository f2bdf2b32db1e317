"""Apps: servers whose tools a workspace lends to its agents."""

from __future__ import annotations

import uuid
from enum import StrEnum

from django.db import models

from accounts.models import User, Workspace
from foundation import clock


class ConnectorState(StrEnum):
    """How an app was when it was last asked."""

    NEW = "new"  # it was never asked
    CONNECTED = "connected"
    REFUSED = "refused"  # it turned our sign-in away
    SILENT = "silent"  # it couldn't be reached, or answered with nothing that can be used


class Connector(models.Model):
    """An MCP server of a workspace, reached over streamable HTTP with headers of its own.

    `slug` is what stands before the names of its tools, and how routines name it; once removed,
    another may take it. `sealed` holds the headers as JSON, encrypted and never read back;
    `header_names` are their names alone. `tools` is what it listed last, each `name`,
    `description`, `schema`, `changes`, and `by_person` where a person said whether it changes
    things. `trouble` says in a sentence what is wrong, empty when nothing is.
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="connectors")
    name = models.CharField(max_length=60)
    slug = models.SlugField(max_length=24)
    address = models.CharField(max_length=500)
    sealed = models.BinaryField(default=b"")
    header_names = models.JSONField(default=list, blank=True)
    tools = models.JSONField(default=list, blank=True)
    state = models.CharField(max_length=9, default=ConnectorState.NEW)
    trouble = models.CharField(max_length=300, blank=True, default="")
    checked_at = models.DateTimeField(null=True, blank=True)
    called_at = models.DateTimeField(null=True, blank=True)
    added_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=clock.now)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "slug"],
                condition=models.Q(removed_at__isnull=True),
                name="connector_slug_unique",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=[state.value for state in ConnectorState]),
                name="connector_state_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AppSignIn(models.Model):
    """How an app is signed in to with OAuth: where, as which client, and what was handed over.

    `offer` is where it may be signed in to, as its server said last; {} when it said nothing.
    `client` and `held` are JSON, encrypted and never shown: as whom we ask there, and the tokens
    with the server that gave them, since only that one is ever shown them again. A token is
    renewed from `renew_at` on, while this row is locked: who comes second takes the first one's.
    `ends_at` is when the sign-in itself ends, None when the server didn't say.
    """

    connector = models.OneToOneField(
        Connector, primary_key=True, on_delete=models.CASCADE, related_name="sign_in"
    )
    offer = models.JSONField(default=dict, blank=True)
    client = models.BinaryField(default=b"")
    held = models.BinaryField(default=b"")
    renew_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    signed_in_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    signed_in_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"sign-in of {self.connector_id}"


class SignInAttempt(models.Model):
    """A person on their way to an app's sign-in and back: once, within ten minutes.

    It is found by what the answer brings back, and belongs to one person, one session of theirs
    and one app; of both secrets only a digest is kept. `sealed` is what the answer is exchanged
    with, as it was when the person left, whatever the app says meanwhile.
    """

    state_digest = models.CharField(max_length=64, unique=True)
    session_digest = models.CharField(max_length=64)
    connector = models.ForeignKey(Connector, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    sealed = models.BinaryField(default=b"")
    began_at = models.DateTimeField(default=clock.now)
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"sign-in to {self.connector_id}, begun {self.began_at}"
