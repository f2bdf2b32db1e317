"""Which tool refused a turn's last calls, and why: what a turn that came to nothing failed of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from routines_app.agents.connectors import App
from routines_app.agents.mcp_session import AppTrouble
from routines_app.agents.wording import last_line, one_line
from routines_app.agents.workplace import Workplace
from routines_app.rules.terminal import as_printed, without_escapes

# What one can do about it, by which the run's page names its action.
What = Literal["app", "sign_in", "command", "machine", "other"]

SIGN_IN = "it doesn’t take our sign-in any more"
_ON_THE_MACHINE = ("read_file", "write_file", "edit_file", "list_files", "search_files")


@dataclass(frozen=True)
class RefusedCall:
    """A call that its tool refused, or that failed.

    `by` is who, as the sentence "… refused:" begins, and `reason` one line in its own words. `tool`
    tells tools apart: all tools of one app are one.
    """

    tool: str
    by: str
    reason: str
    what: What = "other"

    @property
    def facts(self) -> dict[str, object]:
        """What the run's sentence needs."""
        return {"variant": self.by, "reason": self.reason, "what": self.what}


class LastCalls:
    """Sees which tools refused the calls since the last one that worked."""

    def __init__(self) -> None:
        self._refused: list[RefusedCall] = []

    def called(self, refused: RefusedCall | None) -> None:
        """Note a call: None, it worked, or the model called it wrongly."""
        if refused is None:
            self._refused.clear()
        else:
            self._refused.append(refused)

    @property
    def by_one_tool(self) -> RefusedCall | None:
        """The last call, if none has worked since and one tool refused each of them."""
        tools = {each.tool for each in self._refused}
        return self._refused[-1] if len(tools) == 1 else None


def refused_by(
    name: str, arguments: Mapping[str, object], place: Workplace, reason: str
) -> RefusedCall:
    """A call as its tool refused it, for `reason`."""
    said = one_line(without_escapes(reason)) or "it gave no reason"
    app = place.apps.app_of(name) if place.apps is not None else None
    if app is not None:
        return RefusedCall(f"{app.slug}__", app.name, said, "app")
    if name == "run_command":
        return RefusedCall(name, "The command", said, "command")
    if name in _ON_THE_MACHINE:
        return RefusedCall(name, place.computer.name, said, "machine")
    if name == "fetch_url":
        return RefusedCall(name, _host(str(arguments.get("url", ""))), said)
    return RefusedCall(name, name, said)


def app_is_gone(app: App, trouble: AppTrouble) -> RefusedCall:
    """An app that nothing more can be asked of."""
    if trouble.refused:
        return RefusedCall(f"{app.slug}__", app.name, SIGN_IN, "sign_in")
    said = one_line(trouble.sentence)
    first = said.partition(". ")[0]  # what follows is for the model
    return RefusedCall(f"{app.slug}__", app.name, first[:1].lower() + first[1:], "app")


def failed_by_itself(facts: Mapping[str, object], content: str) -> str | None:
    """Why a call failed that was done, by what came of it; None when it didn't fail.

    A command that ends with 1 and says nothing has often just found nothing.
    """
    code, status = facts.get("exit_code"), facts.get("status")
    if isinstance(code, int) and code != 0:
        if facts.get("reason") == "timeout":
            return "it took too long"
        said = last_line(as_printed(content))
        return said or (None if code == 1 else f"it ended with exit {code}")
    if isinstance(status, int) and status >= 400:
        return f"it answered with HTTP status {status}"
    return one_line(content) if facts.get("refused") else None


def _host(url: str) -> str:
    """Whose page it is; the rest of an address may hold a key."""
    try:
        return urlsplit(url).hostname or "The page"
    except ValueError:
        return "The page"
