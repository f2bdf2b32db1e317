"""What every page's frame needs."""

from django.http import HttpRequest


def shell(request: HttpRequest) -> dict[str, object]:
    """Template context of the frame: the workspace and the person's membership, if any."""
    return {
        "workspace": getattr(request, "workspace", None),
        "membership": getattr(request, "membership", None),
    }
