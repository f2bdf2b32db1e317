"""How the path of a file that a run changed is kept: the routine's own folder is left out of it."""

_HOME = "~/"


def kept_path(path: str, own: str) -> str:
    """A file's path beneath home as it is kept: relative to the routine's own folder, if it lies
    there, else whole. Only a whole one begins with `~/`.

    >>> kept_path("~/routines/brief/a.md", "~/routines/brief"), kept_path("~/b/a.md", "~/c")
    ('a.md', '~/b/a.md')
    """
    within = path.removeprefix(f"{own}/")
    return path if within.startswith(_HOME) else within


def whole_path(kept: str, own: str) -> str:
    """The path beneath home of a file whose path was kept.

    >>> whole_path("a.md", "~/routines/brief"), whole_path("~/b/a.md", "~/routines/brief")
    ('~/routines/brief/a.md', '~/b/a.md')
    """
    return kept if kept.startswith(_HOME) else f"{own}/{kept}"
