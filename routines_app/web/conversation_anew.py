"""Starting a routine's conversation anew."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.models import Role
from routines_app.configure.conversation import start_anew
from routines_app.rules.talk import runs_words
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.routine_page import find_routine, may_edit


@in_workspace(Role.MEMBER)
@require_POST
def conversation_anew(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Forget what its runs said, and say how many runs that were."""
    routine = find_routine(request, slug)
    if not may_edit(request, routine):
        return role_too_low(request, Role.ADMIN)
    forgotten = start_anew(routine, request.user)
    kept = f" It forgot {runs_words(forgotten)}; state.md stays." if forgotten else ""
    messages.info(request, f"{routine.name} starts its conversation anew.{kept}")
    return redirect("routine", workspace_slug, slug)
