"""The folders of a machine as a tree, open along the way to one path."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from machines.access import provider_for
from machines.models import Machine
from machines.providers.base import NotFound, PathEscape, Provider, Ref, Unsupported
from routines_app.configure.files import MOST_NAMES, Name, full_path, names_beneath, relative

MOST_IN_TREE = 60  # names of one folder; the folder's own page lists the rest
MOST_COUNTED = 20  # folders beside each other whose names are counted
DEEPEST = 12  # folders in each other: for a path beyond, the tree begins further down


@dataclass(frozen=True)
class Branch:
    """One name in the tree. `beneath` is None for what isn't open, `holds` how many names a
    closed folder has, None where that isn't counted."""

    name: Name
    beneath: Level | None = None
    holds: int | None = None


@dataclass(frozen=True)
class Level:
    """The names of one folder; `more` of them aren't shown."""

    path: str
    branches: tuple[Branch, ...]
    more: int = 0


def tree_of(machine: Machine, path: str) -> Level:
    """Home, and each folder on the way to the path, with what they hold. A folder that is gone
    meanwhile is a closed one. Raises MachineError when the disk can't be read."""
    provider, ref = provider_for(machine)
    way = relative(path)
    return _level(provider, ref, "/".join(way.split("/")[:-DEEPEST]), way)


def _level(provider: Provider, ref: Ref, folder: str, way: str) -> Level:
    names = names_beneath(provider, ref, folder)
    shown = names[:MOST_IN_TREE]
    shown += [name for name in names[MOST_IN_TREE:] if _leads(name, way)]
    counts = sum(name.kind == "folder" for name in shown) <= MOST_COUNTED
    branches = tuple(_branch(provider, ref, name, way, counts) for name in shown)
    return Level(folder, branches, len(names) - len(shown))


def _leads(name: Name, way: str) -> bool:
    return way == name.path or way.startswith(f"{name.path}/")


def _branch(provider: Provider, ref: Ref, name: Name, way: str, counts: bool) -> Branch:
    if name.kind != "folder" or not name.usable:
        return Branch(name)
    try:
        if _leads(name, way):
            return Branch(name, beneath=_level(provider, ref, name.path, way))
        return Branch(name, holds=_count(provider, ref, name.path) if counts else None)
    except (NotFound, PathEscape, Unsupported):
        return Branch(name)


def _count(provider: Provider, ref: Ref, folder: str) -> int | None:
    """How many names a folder has; None for so many that counting them would hold up the page."""
    entries = islice(provider.list_files(ref, full_path(folder)), MOST_NAMES + 1)
    count = sum(1 for _ in entries)
    return count if count <= MOST_NAMES else None
