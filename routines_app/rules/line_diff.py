"""How a text differs from what it was, line by line: what a run learnt, what it changed.

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
_KINDS: dict[str, Literal["same", "added", "removed"]] = {"+": "added", "-": "removed"}
_CUT = "\0"  # marks a last line that no line break ends; no text holds it
_NO_BREAK = "\\ No line break at the end of the file"


@dataclass(frozen=True)
class DiffLine:
    """One line of the difference. `kind` is same, added, removed, or more: so many aren't shown."""

    kind: Literal["same", "added", "removed", "more"]
    text: str


@dataclass(frozen=True)
class Unified:
    """A unified diff without its two first lines, and how many lines came and went in all.

    A line of the text that begins with a backslash says something of the diff itself.
    """

    text: str
    added: int
    removed: int


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


def unified(before: str, after: str, room: int) -> Unified:
    """The unified diff of two texts, in at most about `room` characters.

    A line is what a line feed ends, and a long one is cut; neither text may hold NUL.

    >>> unified("a\\nb\\n", "a\\nc\\n", 100).text
    '@@ -1,2 +1,2 @@\\n a\\n-b\\n+c'
    """
    old, new = _ended_lines(before), _ended_lines(after)
    start, end = _alike(old, new)
    skipped = max(start - _AROUND, 0)
    old = old[skipped : len(old) - max(end - _AROUND, 0)]
    new = new[skipped : len(new) - max(end - _AROUND, 0)]
    longest = max(len(old), len(new))
    # where one of them is empty nothing is compared, so all of the other may be shown
    most = _LONGEST if old and new else longest
    matcher = SequenceMatcher(None, old[:most], new[:most], autojunk=longest > _EXACT)
    whole = list(_hunks(matcher, old, new, skipped))
    shown: list[str] = []
    for line in whole:
        room -= len(line) + 1
        if room < 0:
            break
        shown.append(line)
    left_out = len(whole) - len(shown) + longest - min(longest, most)
    if left_out:
        added, removed = lines_changed(before, after)
        shown.append(f"\\ {left_out:,} more line{'' if left_out == 1 else 's'}")
    else:
        added = sum(line.startswith("+") for line in shown)
        removed = sum(line.startswith("-") for line in shown)
    return Unified("\n".join(shown), added, removed)


def lines_of(diff: str) -> list[DiffLine]:
    """The lines of a unified diff, as `unified` makes it, for showing."""
    found: list[DiffLine] = []
    for line in diff.split("\n") if diff else []:
        if line.startswith("@@"):
            if found:
                found.append(DiffLine("more", "…"))
        elif line.startswith("\\"):
            found.append(DiffLine("more", line[2:]))
        else:
            found.append(DiffLine(_KINDS.get(line[:1], "same"), line[1:]))
    return found


def _ended_lines(text: str) -> list[str]:
    """The lines of a text, of which only a line feed ends one."""
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += _CUT
    else:
        lines.pop()
    return lines


def _hunks(
    matcher: "SequenceMatcher[str]", old: list[str], new: list[str], skipped: int
) -> Iterator[str]:
    """The lines of a unified diff; `skipped` lines at the start of both aren't in `old`, `new`."""
    for group in matcher.get_grouped_opcodes(_AROUND):
        first, last = group[0], group[-1]
        yield f"@@ -{_span(first[1], last[2], skipped)} +{_span(first[3], last[4], skipped)} @@"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from _marked(" ", old[old_from:old_to])
                continue
            yield from _marked("-", old[old_from:old_to])
            yield from _marked("+", new[new_from:new_to])


def _span(start: int, end: int, skipped: int) -> str:
    first = start + skipped + (1 if end > start else 0)
    return f"{first},{end - start}"


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        plain = line.removesuffix(_CUT)
        more = len(plain) - LINE
        yield mark + (f"{plain[:LINE]}… ({more:,} more characters)" if more > 0 else plain)
        if plain != line:
            yield _NO_BREAK
