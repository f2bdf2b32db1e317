"""How a person comes to have a workspace."""

import secrets

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from accounts.models import Membership, Role, User, Workspace

TRIES = 20  # readable slugs that are tried before one with random letters


def found_workspace(user: User, zone: str) -> Workspace:
    """A workspace of the person's own, named after them, with them as its owner.

    `zone` is an IANA name. The slug is readable and unique: `ada`, then `ada-2`, and so on.
    """
    first = (user.name.split() or [user.email.partition("@")[0]])[0]
    possessive = f"{first}’" if first.endswith("s") else f"{first}’s"
    stem = slugify(first)[:40] or "workspace"
    for number in range(1, TRIES + 2):
        ending = "" if number == 1 else f"-{number}"
        slug = f"{stem}{ending if number <= TRIES else '-' + secrets.token_hex(4)}"
        if Workspace.objects.filter(slug=slug).exists():
            continue
        try:
            with transaction.atomic():
                workspace = Workspace.objects.create(
                    name=f"{possessive} workspace"[:80], slug=slug, zone=zone
                )
                Membership.objects.create(workspace=workspace, user=user, role=Role.OWNER)
        except IntegrityError:
            # somebody of the same name signed up in this very moment
            if not Workspace.objects.filter(slug=slug).exists():
                raise
            continue
        return workspace
    raise RuntimeError(f"No free slug for {stem!r} was found.")
