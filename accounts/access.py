"""Who belongs to which workspace. The one question that every door asks first."""

from accounts.models import Membership, Role, User, Workspace


def membership_of(user: User, workspace_slug: str) -> Membership | None:
    """The person's membership, with its workspace loaded.

    None for a stranger, for a workspace that doesn't exist and for a deleted one alike, so that
    no caller can tell these apart.
    """
    return (
        Membership.objects.select_related("workspace")
        .filter(user=user, workspace__slug=workspace_slug, workspace__deleted_at__isnull=True)
        .first()
    )


def workspaces_of(user: User) -> list[Workspace]:
    """The person's workspaces, the one joined first at the front."""
    return list(
        Workspace.objects.filter(memberships__user=user, deleted_at__isnull=True).order_by(
            "memberships__joined_at", "id"
        )
    )


def who_can_help(workspace: Workspace) -> list[User]:
    """The people who may give somebody another role: owners first, then admins."""
    rows = Membership.objects.select_related("user").filter(
        workspace=workspace, role__in=[Role.OWNER, Role.ADMIN], user__is_active=True
    )
    return [row.user for row in sorted(rows, key=lambda row: (-Role(row.role).rank, row.id))]
