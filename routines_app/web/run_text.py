"""What a run made and what a step printed, whole and as text: pages show a bounded part of it."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.models import Role
from routines_app.rules.terminal import without_escapes
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.run_page import find_run


@in_workspace(Role.VIEWER)
@require_safe
def run_body(
    request: WorkspaceRequest, workspace_slug: str, slug: str, number: int
) -> HttpResponse:
    """The Markdown that it made."""
    return _text(find_run(request, slug, number).body)


@in_workspace(Role.VIEWER)
@require_safe
def run_step(
    request: WorkspaceRequest, workspace_slug: str, slug: str, number: int, step: int
) -> HttpResponse:
    """What one of its steps printed, read or said."""
    run = find_run(request, slug, number)
    return _text(get_object_or_404(run.steps, number=step).content)


def _text(content: str) -> HttpResponse:
    """Plain text, which no browser takes for a page: what a model wrote runs nowhere."""
    answer = HttpResponse(without_escapes(content), content_type="text/plain; charset=utf-8")
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
