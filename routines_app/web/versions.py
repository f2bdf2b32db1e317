"""Two versions of a routine side by side, in words."""

from collections.abc import Iterable
from dataclasses import replace

from accounts.models import Workspace
from routines_app.configure.agent_apps import app_names
from routines_app.configure.content import RoutineContent
from routines_app.rules.money import dollars, took
from routines_app.rules.schedule import read_back
from routines_app.web.form_controls import Roster


def with_app_names(
    roster: Roster, workspace: Workspace, contents: Iterable[RoutineContent]
) -> Roster:
    """The roster with the names of all apps that these routines use, also of removed ones."""
    slugs = {use.app for content in contents for use in content.apps}
    return replace(roster, apps=app_names(workspace, slugs)) if slugs else roster


def differences(
    theirs: RoutineContent, yours: RoutineContent, roster: Roster
) -> list[tuple[str, str, str]]:
    """Name, theirs and yours of every field that differs."""
    theirs_said, yours_said = _said(theirs, roster), _said(yours, roster)
    return [
        (name, words, yours_said[name])
        for name, words in theirs_said.items()
        if words != yours_said[name]
    ]


def _said(content: RoutineContent, roster: Roster) -> dict[str, str]:
    nobody = content.model or "Assistant works it out"
    agent = next((a.name for a in roster.agents if a.pk == content.agent_id), nobody)
    machine = next((m.name for m in roster.machines if m.pk == content.machine_id), "none")
    return {
        "Name": content.name,
        "When": read_back(content.schedule),
        "Agent": agent,
        "Machine": machine,
        "What it does": content.instructions,
        "Check": content.check_command or "none",
        "Folder": content.folder or "its own",
        "Cost of one run": dollars(content.cap),
        "Time for one run": took(content.time_limit.total_seconds()),
        "Steps": str(content.step_limit),
        "Conversation": content.conversation,
        "Tells": content.notify,
        "Quiet too long": _quiet(content.quiet_days),
        "Apps": _apps(content, roster),
    }


def _apps(content: RoutineContent, roster: Roster) -> str:
    """Each app with the tools that are chosen of it: "find, close of Helpdesk (required)"."""
    said = []
    for use in sorted(content.apps, key=lambda use: use.app):
        name = roster.apps.get(use.app, use.app)
        chosen = f"{', '.join(use.tools)} of {name}" if use.tools else name
        said.append(f"{chosen}{' (required)' if use.required else ''}")
    return "; ".join(said) or "none"


def _quiet(days: int | None) -> str:
    if days is None:
        return "after ten due times"
    return took(days * 86_400) if days else "never said"
