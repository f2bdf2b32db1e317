"""How a path that somebody typed becomes a path beneath home: text only, no disk."""

import posixpath

from machines.providers.base import PathEscape, Unsupported

HOME = "/home/agent"


def beneath_home(path: str) -> str:
    """The path relative to home, without `..`; home itself is ".".

    `~/a`, `/home/agent/a` and `a` are the same. Raises PathEscape for any other place, Unsupported
    for text that can't be a path.

    >>> beneath_home("~/a/../b/"), beneath_home("/home/agent"), beneath_home("c")
    ('b', '.', 'c')
    """
    if not path or "\0" in path or len(path) > 4096:
        raise Unsupported("A path needs 1 to 4,096 characters, none of them NUL.")
    rest = path
    if path == "~" or path.startswith("~/"):
        rest = "./" + path[2:]
    elif path == HOME or path.startswith(HOME + "/"):
        rest = "./" + path[len(HOME) + 1 :]
    clean = posixpath.normpath(rest)
    if clean.startswith("/") or clean == ".." or clean.startswith("../"):
        raise escape(path)
    return clean


def shown(relative: str) -> str:
    """A path beneath home as people read it: `~`, `~/a`."""
    return "~" if relative == "." else f"~/{relative}"


def inside(relative: str) -> str:
    """A path beneath home as a command on the machine sees it."""
    return HOME if relative == "." else f"{HOME}/{relative}"


def escape(path: str) -> PathEscape:
    """The error for a path that leads elsewhere."""
    return PathEscape(f"{path} leads out of the machine's home. Use a path that starts with ~/.")
