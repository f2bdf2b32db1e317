"""A sample of the scripted providers; all of them by `python -m tests.agents.table`."""

import pytest

from tests.agents.scripted import CLOSING, five_hundred
from tests.agents.table import play_all, play_cuts


def test_there_are_five_hundred_and_each_shape_in_each_format() -> None:
    every = five_hundred()
    assert len(every) >= 500
    shapes = {each.shape for each in every}
    assert {(each.shape, each.wire) for each in every} == {
        (shape, wire) for shape in shapes for wire in CLOSING
    }


def test_a_sample_keeps_beneath_its_caps_and_ends_as_it_has_to() -> None:
    sample = five_hundred()[::17]
    assert len({each.shape for each in sample}) > 12
    wrong = [(each.scripted, each.faults) for each in play_all(sample) if each.faults]
    assert wrong == []


@pytest.mark.parametrize("wire", CLOSING)
def test_a_sample_of_cuts_is_never_taken_for_a_whole_answer(wire: str) -> None:
    wrong = [(each.scripted, each.faults) for each in play_cuts(wire, 97) if each.faults]
    assert wrong == []
