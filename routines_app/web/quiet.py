"""Routines from which nothing useful has come for too long, as pages say it."""

from django.urls import reverse

from accounts.models import Workspace
from routines_app.delivery.attention import quiet_notices
from routines_app.models import Notice, Routine
from routines_app.rules.quiet import DUE_TIMES, from_facts, quiet_sentence
from routines_app.rules.sentences import Sentence
from routines_app.web.acts import ActLink
from routines_app.web.dates import count_words
from routines_app.web.templatetags.words import counted


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


def quiet_words(routine: Routine) -> str:
    """Whether a routine is quiet for too long now, else when it would be."""
    notice = quiet_notices().filter(routine=routine, routine__enabled=True).first()
    if notice is not None:
        return (
            f"{sentence_of_quiet(notice).text} It is under Needs you until something useful comes."
        )
    match routine.quiet_days:
        case 0:
            return "Quiet is right for this one: that alone never puts it under Needs you."
        case None:
            after = f"{count_words(DUE_TIMES)} times in a row"
        case days:
            after = counted(days, "day")
    return f"After {after} with nothing useful it is shown under Needs you, once."


def quiet_act(routine: Routine) -> ActLink:
    """Where its owner says how long it may be quiet."""
    edit = reverse("routine_edit", args=[routine.workspace.slug, routine.slug])
    return ActLink("Change how long", f"{edit}#quiet_days", edits=True)
