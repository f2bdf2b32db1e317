"""The order of a run's tests: none is lost, and each worker begins with its long ones."""

import pytest

from tests.order import long_ones_first


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_no_test_is_lost_or_taken_twice(workers: int) -> None:
    for count in range(40):
        for every in (1, 3, 50):
            ordered = long_ones_first(range(count), lambda item, n=every: item % n == 0, workers)
            assert sorted(ordered) == list(range(count))


def test_each_workers_stretch_begins_with_its_share_of_the_long_ones() -> None:
    ordered = long_ones_first(range(30), lambda item: item >= 24, 3)
    assert [ordered[start : start + 3] for start in (0, 10, 20)] == [
        [24, 27, 0],
        [25, 28, 8],
        [26, 29, 16],
    ]
