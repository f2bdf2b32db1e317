"""What a run learnt: its state.md before and after, line by line."""

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_AROUND = 2  # unchanged lines shown beside a change
_LONGEST = 2_000  # lines; comparing more takes too long for a page


@dataclass(frozen=True)
class DiffLine:
    """One line of the difference. `kind` is same, added or removed."""

    kind: Literal["same", "added", "removed"]
    text: str


def memory_diff(before: str, after: str) -> list[DiffLine]:
    """What changed with a little of what surrounds it; empty when nothing did."""
    if before == after:
        return []
    old, new = before.splitlines()[:_LONGEST], after.splitlines()[:_LONGEST]
    lines: list[DiffLine] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(_AROUND):
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += [DiffLine("same", text) for text in old[old_from:old_to]]
                continue
            lines += [DiffLine("removed", text) for text in old[old_from:old_to]]
            lines += [DiffLine("added", text) for text in new[new_from:new_to]]
    return lines
