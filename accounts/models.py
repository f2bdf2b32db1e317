"""People, workspaces and who may do what in them."""

from __future__ import annotations

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models

from foundation import clock


class PersonQueries(BaseUserManager["User"]):
    """Makes users by email; an email is kept in lower case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    """A person who signs in, by email."""

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120)
    zone = models.CharField(max_length=64, default="UTC")  # IANA name
    theme = models.CharField(max_length=8, default="system")  # system, light, dark
    single_keys = models.BooleanField(default=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    date_joined = models.DateTimeField(default=clock.now)

    objects: ClassVar[PersonQueries] = PersonQueries()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def initials(self) -> str:
        """One or two capitals for the round mark."""
        words = (self.name or self.email).split()
        return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()


class Role(StrEnum):
    """What a member may do: a viewer reads, a member runs and edits their own, an admin all."""

    VIEWER = "viewer"
    MEMBER = "member"
    ADMIN = "admin"
    OWNER = "owner"

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    def at_least(self, other: Role) -> bool:
        return self.rank >= other.rank


class Workspace(models.Model):
    """The tenant: every routine, machine, secret and bill belongs to exactly one."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=80)
    slug = models.SlugField(max_length=60, unique=True)
    zone = models.CharField(max_length=64, default="UTC")
    created_at = models.DateTimeField(default=clock.now)
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    deleted_at = models.DateTimeField(null=True, blank=True)
    members = models.ManyToManyField(User, through="Membership", related_name="workspaces")

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person in a workspace, with one role."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, default=Role.MEMBER)
    joined_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_each"),
            models.CheckConstraint(
                condition=models.Q(role__in=[role.value for role in Role]),
                name="membership_role_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"

    def may(self, needed: Role) -> bool:
        """Whether this role reaches `needed`."""
        return Role(self.role).at_least(needed)


class InvitationState(StrEnum):
    """Where an invitation is: it waits, or it has ended in one of three ways."""

    WAITING = "waiting"
    USED = "used"
    EXPIRED = "expired"
    TAKEN_BACK = "taken_back"


class Invitation(models.Model):
    """A way into a workspace for somebody who has its link. The link works once, until it expires.

    Only the digest of the link's secret is kept, so nobody can read the link afterwards.
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=8)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret, in hexadecimal
    invited_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    made_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    taken_back_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "email"],
                condition=models.Q(used_at__isnull=True, taken_back_at__isnull=True),
                name="one_open_invitation_each",
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=["viewer", "member", "admin"]),
                name="invitation_role_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.email} to {self.workspace}"

    def state(self, now: datetime) -> InvitationState:
        """Where it is at `now`."""
        if self.used_at is not None:
            return InvitationState.USED
        if self.taken_back_at is not None:
            return InvitationState.TAKEN_BACK
        return InvitationState.EXPIRED if self.expires_at <= now else InvitationState.WAITING
