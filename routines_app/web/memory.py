"""What a run learnt: its state.md before and after, line by line.

A machine's file may hold anything, so the work is bounded: comparing two texts of the same few
lines over and over takes a time that grows with the cube of their length.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_AROUND = 2  # unchanged lines shown beside a change
_LONGEST = 400  # lines of each that are compared, once what both begin and end with is left out
_EXACT = 150  # lines up to which repeated ones are matched one by one
SHOWN = 200  # lines of the difference
LINE = 1_000  # characters of a line


@dataclass(frozen=True)
class DiffLine:
    """One line of the difference. `kind` is same, added, removed, or more: so many aren't shown."""

    kind: Literal["same", "added", "removed", "more"]
    text: str


def memory_diff(before: str, after: str) -> list[DiffLine]:
    """What changed with a little of what surrounds it; empty when nothing did."""
    if before == after:
        return []
    old, new = before.splitlines(), after.splitlines()
    start, end = _alike(old, new)
    context = max(start - _AROUND, 0)
    old, new = old[context : len(old) - end + _AROUND], new[context : len(new) - end + _AROUND]
    longest = max(len(old), len(new))
    matcher = SequenceMatcher(None, old[:_LONGEST], new[:_LONGEST], autojunk=longest > _EXACT)
    lines = list(_lines(matcher, old, new))
    left_out = max(len(lines) - SHOWN, 0) + max(longest - _LONGEST, 0)
    shown = lines[:SHOWN]
    if left_out:
        shown.append(DiffLine("more", f"{left_out:,} more line{'' if left_out == 1 else 's'}"))
    return shown


def lines_changed(before: str, after: str) -> tuple[int, int]:
    """How many lines came and how many went; one that only moved did neither."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return (new - old).total(), (old - new).total()


def first_new_line(before: str, after: str) -> str:
    """The first line that came, without what makes it an item or a heading; "" when none did.

    >>> first_new_line("- a", "- a\\n- b")
    'b'
    """
    new = Counter(after.splitlines()) - Counter(before.splitlines())
    bare = (line.strip(" \t#*-") for line in after.splitlines() if line in new)
    return next((line for line in bare if line), "")


def _alike(old: list[str], new: list[str]) -> tuple[int, int]:
    """How many lines both begin with, and how many of the rest both end with."""
    most = min(len(old), len(new))
    start = next((place for place in range(most) if old[place] != new[place]), most)
    rest = most - start
    end = next((place for place in range(rest) if old[-1 - place] != new[-1 - place]), rest)
    return start, end


def _lines(matcher: "SequenceMatcher[str]", old: list[str], new: list[str]) -> Iterator[DiffLine]:
    for group in matcher.get_grouped_opcodes(_AROUND):
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                for text in old[old_from:old_to]:
                    yield DiffLine("same", text[:LINE])
                continue
            for text in old[old_from:old_to]:
                yield DiffLine("removed", text[:LINE])
            for text in new[new_from:new_to]:
                yield DiffLine("added", text[:LINE])
