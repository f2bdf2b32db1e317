"""What a program prints for a terminal reads as text, whole or as it comes."""

import time

import pytest

from routines_app.rules.terminal import Paper, as_printed, without_escapes

PRINTED = [
    ("\x1b[1;32mok\x1b[0m", "ok"),
    ("\x1b[38;5;208mwarm\x1b[K\x1b[2J", "warm"),
    ("\x1b]0;a title\x07text", "text"),
    ("\x1b]8;;https://example.org\x1b\\a link\x1b]8;;\x1b\\", "a link"),
    ("\x1b(Bplain\x1b7\x1bM", "plain"),
    ("[32m isn't one, nor is a\ttab or ü", "[32m isn't one, nor is a\ttab or ü"),
    ("bell\x07, nul\x00, half a sequence\x1bé", "bell, nul, half a sequenceé"),
]
WRITTEN_OVER = [
    ("10 %\r50 %\r100 %\r\ndone\r\n", "100 %\ndone\n"),
    ("50 %\r\x1b[K", "50 %"),
    ("|\b/\b-\b done\n\b\bnext", " done\nnext"),
    ("first\nold\rnew", "first\nnew"),
]


@pytest.mark.parametrize(("printed", "shown"), PRINTED)
def test_only_what_a_terminal_alone_understands_goes(printed: str, shown: str) -> None:
    assert without_escapes(printed) == as_printed(printed) == shown


def test_in_a_text_that_is_no_terminals_a_carriage_return_ends_a_line() -> None:
    assert without_escapes("one\rtwo\r\nthree") == "one\ntwo\nthree"


@pytest.mark.parametrize(("printed", "shown"), WRITTEN_OVER)
def test_a_line_that_was_written_over_reads_as_it_stood_last(printed: str, shown: str) -> None:
    assert as_printed(printed) == shown


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
@pytest.mark.parametrize(
    ("printed", "shown"), [*PRINTED, *WRITTEN_OVER, ("四つ🪶é\n", "四つ🪶é\n")]
)
def test_in_pieces_it_reads_as_whole(printed: str, shown: str, size: int) -> None:
    data, paper = printed.encode(), Paper(1_000, 50)
    for start in range(0, len(data), size):
        paper.add(data[start : start + size])
        text, before = paper.read()
        assert before == 0
        assert "\ufffd" not in text and not any(c in text for c in "\x1b\r\b\x07\x00")
    assert text == shown


def test_the_newest_lines_are_shown_and_what_came_before_is_counted() -> None:
    paper = Paper(most=100, lines=3)
    whole = "".join(f"line {number}\n" for number in range(1_000))
    for start in range(0, len(whole), 37):
        paper.add(whole[start : start + 37].encode())
        text, before = paper.read()
        assert whole[: start + 37] == whole[:before] + text
    assert (text, before) == (whole[-27:], len(whole) - 27)


def test_a_line_without_an_end_is_cut_where_it_has_to_be() -> None:
    paper = Paper(most=100, lines=3)
    for _ in range(5):
        paper.add(b"a" * 1_000)
        text, before = paper.read()
    assert (text, before) == ("a" * 100, 4_900)
    paper.add(b"b\nlast\n")
    assert paper.read() == ("last\n", 5_002)


def test_a_sequence_that_never_ends_holds_nothing_back_for_long() -> None:
    paper = Paper(most=10_000, lines=50)
    paper.add(b"before \x1b]0;")
    for _ in range(10):
        paper.add(b"and on" * 100)
        text, _ = paper.read()
    assert text.startswith("before ]0;and on")


def test_hostile_output_takes_no_time() -> None:
    paper = Paper(most=2_000, lines=18)
    for piece in (b"\b" * 100_000, b"\x1b[" * 50_000, b"\x1b]" * 50_000, b"a\r" * 50_000,
                  b"\n" * 100_000, b"x\b" * 50_000, b"\xf0\x9f" * 50_000):  # fmt: skip
        paper.add(piece)
        text, _ = paper.read()
        assert len(text) <= 2_000


@pytest.mark.parametrize("printed", ["a\r" + "b" * 200_000, "\r" * 200_000, "\x1b]" * 100_000])
def test_as_much_as_a_command_may_print_is_read_at_once(printed: str) -> None:
    """A pattern that holds the interpreter holds up every other run of the process."""
    paper = Paper(most=2_000, lines=18)
    paper.add(printed.encode())
    began = time.perf_counter()
    as_printed(printed)
    without_escapes(printed)
    paper.read()
    assert time.perf_counter() - began < 2
