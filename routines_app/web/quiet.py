"""Routines from which nothing useful has come for too long, as pages say it."""

from django.urls import reverse

from accounts.models import Workspace
from routines_app.delivery.attention import quiet_notices
from routines_app.models import Notice, Routine
from routines_app.rules.quiet import from_facts, quiet_sentence
from routines_app.rules.sentences import Sentence
from routines_app.web.acts import ActLink


def sentence_of_quiet(notice: Notice) -> Sentence:
    """What a notice says, with the figures of when they were last counted."""
    quiet, at = from_facts(notice.facts)
    return quiet_sentence(quiet, at)


def quiet_now(workspace: Workspace) -> dict[int, Sentence]:
    """What is said of each routine that is on and too quiet, by its id."""
    found = quiet_notices().filter(workspace=workspace, routine__enabled=True)
    return {
        notice.routine_id: sentence_of_quiet(notice)
        for notice in found
        if notice.routine_id is not None
    }


def quiet_act(routine: Routine) -> ActLink:
    """Where its owner says how long it may be quiet."""
    edit = reverse("routine_edit", args=[routine.workspace.slug, routine.slug])
    return ActLink("Change how long", f"{edit}#quiet_days", edits=True)
