"""In which order a run takes its tests."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def long_ones_first(items: Sequence[T], is_long: Callable[[T], bool], workers: int) -> list[T]:
    """The tests with each worker's share of the long ones at its beginning, else in their order.

    A worker gets an equal stretch of them at first, and takes over from another's end when it
    has none left; a long one there would leave the others idle.
    """
    long = [item for item in items if is_long(item)]
    rest = [item for item in items if not is_long(item)]
    ordered: list[T] = []
    for number in range(workers):
        share = long[number::workers]
        stretch = (len(items) - len(ordered)) // (workers - number)
        others = max(stretch - len(share), 0)
        ordered += share + rest[:others]
        rest = rest[others:]
    return ordered + rest
