"""How a path that somebody typed becomes a path beneath home: text only, no disk."""

import posixpath

from machines.providers.base import NotFound, PathEscape, Unsupported

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


def no_such(path: str) -> NotFound:
    """The error for a file or folder that isn't there."""
    return NotFound(f"There is no {path}.")


def a_folder(path: str) -> Unsupported:
    """The error for a folder where a file is needed."""
    return Unsupported(f"{path} is a folder. Name a file.")


def no_folder(path: str) -> Unsupported:
    """The error for a file where a folder is needed."""
    return Unsupported(f"{path} isn't a folder, or lies beneath a file.")


def no_ordinary_file(path: str) -> Unsupported:
    """The error for a FIFO, a socket or a device."""
    return Unsupported(f"{path} isn't an ordinary file.")


def split(path: str) -> tuple[str, str]:
    """A path beneath home as folder and name. Raises Unsupported for home itself.

    >>> split("~/a/b"), split("c")
    (('a', 'b'), ('.', 'c'))
    """
    relative = beneath_home(path)
    if relative == ".":
        raise Unsupported("That is the machine's home itself. Name something in it.")
    folder, name = posixpath.split(relative)
    return folder or ".", name
