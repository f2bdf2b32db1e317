"""Where the one useful action of a sentence leads."""

from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse

from routines_app.models import Run
from routines_app.rules.sentences import Act


@dataclass(frozen=True)
class ActLink:
    """An action as a page offers it: a link, or a form when `posts`. `run_now` needs a key."""

    words: str
    href: str
    posts: bool = False
    run_now: bool = False
    edits: bool = False  # only for those who may change the routine
    admin: bool = False  # only for those who set what holds for the whole workspace


def act_link(act: Act | None, run: Run) -> ActLink | None:
    """The action's address; None when there is none, or its page isn't part of this version."""
    if act is None:
        return None
    workspace = [run.workspace.slug]
    routine = [run.workspace.slug, run.routine.slug]
    edit = reverse("routine_edit", args=routine)
    match act.code:
        case "run_now":
            return ActLink(act.words, reverse("run_now", args=routine), posts=True, run_now=True)
        case "turn_on":
            return ActLink(
                act.words, reverse("routine_turn_on", args=routine), posts=True, edits=True
            )
        case "edit_check":
            return ActLink(act.words, f"{edit}#check_command", edits=True)
        case "edit_work":
            return ActLink(act.words, f"{edit}#instructions", edits=True)
        case "edit_apps":
            return ActLink(act.words, f"{edit}#apps", edits=True)
        case "edit_schedule":
            return ActLink(act.words, f"{edit}#every", edits=True)
        case "raise_cap":
            return ActLink(act.words, f"{edit}#cap", edits=True)
        case "allow_longer":
            return ActLink(act.words, f"{edit}#time_limit", edits=True)
        case "choose_machine":
            return ActLink(act.words, f"{edit}#machine", edits=True)
        case "resume":
            return ActLink(act.words, reverse("resume", args=workspace), posts=True, admin=True)
        case "raise_budget":
            return ActLink(act.words, f"{reverse('plan', args=workspace)}#budget", admin=True)
        case "change_plan":
            return _optional(act.words, "plan", workspace)
        case "see_output":
            return ActLink(act.words, f"{_page(run, run.number)}#how")
        case "see_run":
            other = run.facts.get("other_number")
            return ActLink(act.words, _page(run, other)) if isinstance(other, int) else None
        case "see_failures":
            return ActLink(act.words, reverse("routine", args=routine))
        case "agent":
            slug = run.facts.get("barred_slug")
            if slug:
                return _optional(act.words, "agent", [*workspace, str(slug)])
            return _optional(act.words, "agents", workspace)
        case "apps":
            return _optional(act.words, "apps", workspace)
        case "models":
            return _optional(act.words, "models", workspace)
        case "start_machine" | "restore" if run.machine:
            machine = [run.workspace.slug, run.machine.slug]
            return _optional(act.words, "machine", machine)
        case _:
            return None


def _optional(words: str, name: str, args: list[str]) -> ActLink | None:
    """A link to a page that may not be served here; None when it isn't."""
    try:
        return ActLink(words, reverse(name, args=args))
    except NoReverseMatch:
        return None


def _page(run: Run, number: int) -> str:
    return reverse("run", args=[run.workspace.slug, run.routine.slug, number])
