"""Which of an app's tools a routine is given, and how that is said."""

from collections.abc import Iterable, Sequence

Choice = tuple[str, ...] | None
"""The names of the tools that were chosen; None: all of the app's, also those of later."""


def chosen_of(choice: Choice, tools: Iterable[str]) -> tuple[str, ...]:
    """Those of an app's tools that a routine is given, in the order that they came in.

    >>> chosen_of(("find", "gone"), ["close", "find"]), chosen_of(None, ["close", "find"])
    (('find',), ('close', 'find'))
    >>> chosen_of((), ["close"])
    ()
    """
    return tuple(name for name in tools if choice is None or name in choice)


def gone_of(choice: Choice, tools: Iterable[str]) -> tuple[str, ...]:
    """The tools that were chosen and that the app doesn't list now.

    >>> gone_of(("find", "gone"), ["close", "find"]), gone_of(None, [])
    (('gone',), ())
    """
    there = set(tools)
    return tuple(name for name in choice or () if name not in there)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names as a sentence has them, the third and those after it counted where they are many.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], "or")
    ('a', 'a, b and c', 'a, b or 2 more')
    """
    first = [name[:60] for name in names]
    if len(first) > 3:
        first = [*first[:2], f"{len(first) - 2} more"]
    return f" {word} ".join(filter(None, [", ".join(first[:-1]), *first[-1:]]))


def said_of(name: str, choice: Choice, word: str = "and") -> str:
    """An app with what is chosen of it.

    >>> said_of("Helpdesk", None), said_of("Helpdesk", ("find", "close"))
    ('Helpdesk', 'find and close of Helpdesk')
    """
    return f"{listed(choice, word)} of {name}" if choice else name


def count_said(name: str, offered: int, of: int, gone: Sequence[str] = ()) -> str:
    """An app with how many of its tools are offered, and what of them it doesn't have any more.

    >>> count_said("Helpdesk", 2, 3), count_said("Helpdesk", 3, 3), count_said("Helpdesk", 0, 3)
    ('Helpdesk, 2 of 3 tools', 'Helpdesk', 'Helpdesk not offered')
    >>> count_said("Helpdesk", 0, 0)
    'Helpdesk'
    >>> count_said("Helpdesk", 1, 3, ["find"])
    'Helpdesk, 1 of 3 tools (it no longer has find)'
    >>> count_said("Helpdesk", 0, 0, ["find"])
    'Helpdesk not offered (it no longer has find)'
    """
    said = name
    if offered != of:
        said = f"{name}, {offered} of {of} tools"
    if not offered and (of or gone):
        said = f"{name} not offered"
    return f"{said} (it no longer has {listed(gone, 'or')})" if gone else said
