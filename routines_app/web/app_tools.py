"""The tools of an app, each to be ticked, on the forms of agents and of routines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from routines_app.models import Connector
from routines_app.rules.terminal import without_escapes

LIMITED = "some"  # only what is ticked; else all of it
DESCRIBED = 80  # characters of what an app says of a tool
_GONE = "It doesn’t have this one now"


@dataclass(frozen=True)
class AppTool:
    """One tool of an app: `value` is what the form sends, `does` what is said beneath it.

    `changes` None: the app doesn't list it any more.
    """

    value: str
    name: str
    does: str
    chosen: bool
    changes: bool | None


def tools_to_tick(
    slug: str, app: Connector | None, chosen: Sequence[str], *, described: bool = False
) -> tuple[AppTool, ...]:
    """An app's tools, and after them those that are chosen and that it doesn't have now; None: the
    app isn't connected any more."""
    there = app.tools if app is not None else []
    names = {tool["name"] for tool in there}
    tools = [
        AppTool(
            f"{slug}/{tool['name']}",
            tool["name"],
            does_said(tool, described=described),
            tool["name"] in chosen,
            bool(tool["changes"]),
        )
        for tool in there
    ]
    gone = [AppTool(f"{slug}/{n}", n, _GONE, True, None) for n in chosen if n not in names]
    return (*tools, *gone)


def does_said(tool: dict[str, object], *, described: bool) -> str:
    """What a tool does, in a few words: "Reads. Find a ticket by its words."."""
    does = "Changes things" if tool["changes"] else "Reads"
    words = " ".join(without_escapes(str(tool["description"])).split()) if described else ""
    if len(words) > DESCRIBED:
        words = f"{words[:DESCRIBED].rpartition(' ')[0] or words[:DESCRIBED]}…"
    return f"{does}. {words}" if words else does


def ticked_of(slug: str, values: Collection[str]) -> tuple[str, ...]:
    """The names of one app's tools among what a form sent."""
    pairs = (value.partition("/") for value in values)
    return tuple(name for of, _, name in pairs if of == slug and name)
