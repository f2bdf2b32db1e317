"""Reading and cutting what a script or a model wrote."""

import pytest

from routines_app.agents.wording import (
    first_sentence,
    last_line,
    middle_cut,
    one_line,
    says_nothing_changed,
    storable,
)


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("nothing changed", True),
        ("  Nothing\nchanged. ", True),
        ("“Nothing changed!”", True),
        ("- **NOTHING CHANGED**", True),
        ("", False),
        ("nothing", False),
        ("Nothing changed since Monday.", False),
        ("Nothing changed. But look at this.", False),
        ("nothing-changed", False),
        ("NOTHING CHANGED", True),
        ("Nothing  changed…", True),
        ("«Nothing changed»", True),
        ("「Nothing changed。」", True),
        ("Ｎｏｔｈｉｎｇ ｃｈａｎｇｅｄ．", True),
        ("Nothing\u00a0changed", True),
        ("\ufeffNothing changed\u200b", True),
        ("> Nothing changed.", True),
        ("# Nothing changed", True),
        ("`nothing changed`", True),
        ("_Nothing_ **changed**", True),
        ("(Nothing changed.)", True),
        ("Nothing changed, except production is down", False),
        ("Nothing changed: production is down", False),
        ("Nothing has changed.", False),
        ("Nothing changed?? Everything did", False),
        ("Nothing\nchanged\nbut this", False),
        ("Hardly nothing changed", False),
        ("Not nothing changed", False),
        ("~~Nothing changed~~", False),
        ("nothingchanged", False),
        ("nothing_changed", False),
        ("Nothing changed 1", False),
        ("Nothing changed. Nothing changed.", False),
        ("⚠ Nothing changed", False),
    ],
)
def test_the_one_sentence(text: str, yes: bool) -> None:
    assert says_nothing_changed(text) is yes


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Sales rose.", "Sales rose."),
        ("Sales rose 4.2% in May. Costs fell.", "Sales rose 4.2% in May."),
        ("# Sales rose\n\nThe rest.", "Sales rose"),
        ("- **Two new issues!** See below.", "Two new issues!"),
        ("He said “done.” Then he left.", "He said “done.”"),
        ("\n\n  Is it on? Yes.", "Is it on?"),
        ("", ""),
        ("a" * 400, "a" * 299 + "…"),
    ],
)
def test_the_first_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_the_last_line_that_says_something() -> None:
    assert last_line("one\n two \n\n  \n") == "two"
    assert last_line(" \n") == ""


def test_a_title_is_one_bounded_line() -> None:
    assert one_line("\n  git log\n--all") == "git log"
    assert one_line("x" * 300, 10) == "x" * 9 + "…"


def test_a_long_text_keeps_its_start_and_its_end() -> None:
    cut = middle_cut("start" + "x" * 5_000 + "end", 300)
    assert cut.startswith("start")
    assert cut.endswith("end")
    assert "4,708 characters left out" in cut
    assert middle_cut("short", 300) == "short"


def test_text_that_a_database_refuses_is_mended() -> None:
    assert storable("a\x00b\ud800c é") == "a\ufffdb?c é"
