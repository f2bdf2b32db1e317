"""A line that leads to the deleted routines."""

from django import template

from accounts.models import Workspace
from routines_app.models import Routine

register = template.Library()


@register.simple_tag
def deleted_count(workspace: Workspace) -> int:
    """How many routines of the workspace were deleted."""
    return Routine.objects.filter(workspace=workspace, deleted_at__isnull=False).count()
