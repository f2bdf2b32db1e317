"""What a measurement says: a goal, whether it was met, and the numbers that say so."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Result:
    """One row of the table.

    `met` None means that nothing was measured; `why` then says why, and otherwise names the
    cause of a gap. `numbers` are medians and ratios; each name ends with its unit.
    """

    name: str
    goal: str
    found: str
    met: bool | None
    why: str = ""
    numbers: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The row as JSON's values."""
        return asdict(self)


def median(values: Sequence[float]) -> float:
    """The middle of at least one value."""
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least `share` (0 to 1) of them don't exceed.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.0
    """
    ranked = sorted(values)
    place = max(-(-len(ranked) * share // 1), 1)
    return ranked[int(place) - 1]


def milliseconds(seconds: float) -> str:
    """A duration as the table shows it: "3.2 ms"."""
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds * 1000:,.0f} ms"


def table(results: Sequence[Result]) -> str:
    """The rows one below the other; a gap's cause stands on a line of its own."""
    lines = []
    for each in results:
        mark = {True: "met", False: "GAP", None: "-"}[each.met]
        lines.append(f"{mark:<5}{each.name}")
        lines.append(f"     goal  {each.goal}")
        lines.append(f"     found {each.found}")
        if each.why:
            lines.append(f"     why   {each.why}")
    return "\n".join(lines)
