"""Typed times settle to one form, ask when they are open, and read back as words."""

import pytest

from routines_app.rules.times import Question, Settled, Unreadable, read_time
from routines_app.rules.wording import figures, o_clock, time_words

SETTLED = [
    ("8", "8:00"),
    ("8am", "8:00"),
    ("8 a.m.", "8:00"),
    ("8.30", "8:30"),
    ("08:30", "8:30"),
    ("0830", "8:30"),
    ("830", "8:30"),
    ("20:15", "20:15"),
    ("8pm", "20:00"),
    ("12am", "0:00"),
    ("12 pm", "12:00"),
    ("noon", "12:00"),
    ("Midday", "12:00"),
    ("midnight", "0:00"),
    ("0", "0:00"),
    ("half past 8", "8:30"),
    ("half past eight in the evening", "20:30"),
    ("quarter to nine", "8:45"),
    ("a quarter past ten", "10:15"),
    ("ten to six in the evening", "17:50"),
    ("twenty-five past nine", "9:25"),
    ("eight o’clock", "8:00"),
    ("1 at night", "1:00"),
    ("9 at night", "21:00"),
    ("5 in the afternoon", "17:00"),
    ("quarter past noon", "12:15"),
    ("quarter to midnight", "23:45"),
    ("1:00", "1:00"),
    ("07", "7:00"),
]


@pytest.mark.parametrize(("typed", "settled"), SETTLED)
def test_a_typed_time_settles_to_one_form(typed: str, settled: str) -> None:
    found = read_time(typed)
    assert isinstance(found, Settled)
    assert found.text == settled


@pytest.mark.parametrize(
    ("typed", "sentence", "choices"),
    [
        ("1", "1:00 at night, or 13:00?", ("1:00", "13:00")),
        ("7", "7:00 in the morning, or 19:00?", ("7:00", "19:00")),
        ("half past five", "5:30 in the morning, or 17:30?", ("5:30", "17:30")),
        ("three o'clock", "3:00 at night, or 15:00?", ("3:00", "15:00")),
    ],
)
def test_a_time_with_two_meanings_is_answered_with_a_question(
    typed: str, sentence: str, choices: tuple[str, str]
) -> None:
    assert read_time(typed) == Question(sentence, choices)


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "soon",
        "25",
        "24:00",
        "8:60",
        "8:5",
        "17:30 in the morning",
        "13 am",
        "half to nine",
        "8" * 5000,
        "-1",
    ],
)
def test_a_time_that_is_not_one_is_refused_with_an_example(typed: str) -> None:
    found = read_time(typed)
    assert isinstance(found, Unreadable)
    assert "8:00" in found.sentence


def test_every_minute_of_the_day_reads_back_to_itself() -> None:
    for minutes in range(1440):
        assert read_time(time_words(minutes)) == Settled(minutes)
        assert read_time(figures(minutes)) == Settled(minutes)


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (0, "midnight"),
        (15, "quarter past midnight"),
        (90, "half past one in the morning"),
        (480, "eight in the morning"),
        (525, "quarter to nine in the morning"),
        (580, "9:40"),
        (705, "quarter to twelve in the morning"),
        (720, "noon"),
        (750, "half past twelve in the afternoon"),
        (1065, "quarter to six in the afternoon"),
        (1080, "six in the evening"),
        (1260, "nine at night"),
        (1425, "quarter to midnight"),
    ],
)
def test_a_time_is_read_back_in_words(minutes: int, words: str) -> None:
    assert time_words(minutes) == words


def test_clocks_are_spoken_of_by_the_hour() -> None:
    assert [o_clock(minutes) for minutes in (480, 570, 720, 580)] == [
        "eight o'clock",
        "half past nine",
        "noon",
        "9:40",
    ]
