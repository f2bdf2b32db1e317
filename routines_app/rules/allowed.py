"""Which apps an agent may use at most, and which of their tools; a routine can allow less."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AllowedApp:
    """An app that an agent may use, by its slug, with the names of those of its tools."""

    app: str
    tools: tuple[str, ...]


Allowed = tuple[AllowedApp, ...] | None
"""The apps that an agent may use at most; None: whatever its routine gives it."""


def allowed_json(allowed: Allowed) -> list[dict[str, object]] | None:
    """What a row keeps, always in one order."""
    if allowed is None:
        return None
    kept = sorted(allowed, key=lambda each: each.app)
    return [{"app": each.app, "tools": list(each.tools)} for each in kept]


def allowed_of(kept: Iterable[Mapping[str, Any]] | None) -> Allowed:
    """What a row keeps, as `allowed_json` wrote it."""
    if kept is None:
        return None
    return tuple(AllowedApp(each["app"], tuple(each["tools"])) for each in kept)


def in_order(allowed: Allowed) -> Allowed:
    """The same with each app once, in the order of slugs, and each tool once, in that of names.

    An app of which no tool is chosen isn't among them.

    >>> in_order((AllowedApp("b", ("y", "x", "x")), AllowedApp("a", ()), AllowedApp("b", ("z",))))
    (AllowedApp(app='b', tools=('x', 'y', 'z')),)
    """
    if allowed is None:
        return None
    found: dict[str, set[str]] = {}
    for each in allowed:
        found.setdefault(each.app, set()).update(each.tools)
    return tuple(AllowedApp(app, tuple(sorted(found[app]))) for app in sorted(found) if found[app])


def tools_within(allowed: Allowed, app: str, tools: Iterable[str]) -> tuple[str, ...]:
    """Those of an app's tools that may be used, in the order that they came in.

    >>> tools_within((AllowedApp("helpdesk", ("find", "gone")),), "helpdesk", ("close", "find"))
    ('find',)
    >>> tools_within(None, "helpdesk", ("close", "find"))
    ('close', 'find')
    """
    if allowed is None:
        return tuple(tools)
    chosen = {name for each in allowed if each.app == app for name in each.tools}
    return tuple(name for name in tools if name in chosen)


def may_use(allowed: Allowed, app: str, tools: Iterable[str]) -> bool:
    """Whether anything of an app may be used, when these are the tools that it has."""
    return allowed is None or bool(tools_within(allowed, app, tools))


def said_of_apps(before: Allowed, after: Allowed, names: Mapping[str, str]) -> list[str]:
    """What an edit did to the apps, in a few words each. `names` are the apps' by their slugs.

    >>> one, names = AllowedApp("helpdesk", ("find",)), {"helpdesk": "Helpdesk"}
    >>> said_of_apps(None, (one,), names), said_of_apps((one,), (), names)
    (['may use Helpdesk at most'], ['may no longer use Helpdesk'])
    >>> said_of_apps((), (one,), names), said_of_apps((one,), None, names)
    (['may use Helpdesk'], ['may use any app of its routines'])
    """
    if before == after:
        return []
    if after is None:
        return ["may use any app of its routines"]
    has = {each.app: set(each.tools) for each in after}
    if before is None:
        listed = " and ".join(names.get(app, app) for app in has)
        return [f"may use {listed} at most" if listed else "may use no app"]
    had = {each.app: set(each.tools) for each in before}
    said = [f"may use {names.get(app, app)}" for app in has if app not in had]
    said += [f"may no longer use {names.get(app, app)}" for app in had if app not in has]
    changed = [app for app in has if app in had and has[app] != had[app]]
    return said + [f"other tools of {names.get(app, app)}" for app in changed]
