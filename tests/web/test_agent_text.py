"""What an agent wrote can't run, fetch, or hide where it leads."""

import re

import pytest

from foundation.clock import monotonic
from routines_app.rules.line_diff import SHOWN, DiffLine, lines_changed, memory_diff
from routines_app.web.agent_text import MOST_HTML, agent_html, made_of

PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://evil.example/pixel.gif)",
    "[x](javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](JaVaScRiPt:alert(1))",
    "<a href='javascript:alert(1)'>x</a>",
    "<svg/onload=alert(1)>",
    "<style>*{display:none}</style>",
    "<iframe src=https://evil.example></iframe>",
    '[a](https://x.example "onmouseover=alert(1)")',
    "<https://x.example/\"onmouseover='alert(1)'>",
    "```html\n<script>alert(1)</script>\n```",
    "# <b onclick=alert(1)>x</b>",
    "| <script>alert(1)</script> |\n|---|\n| <img onerror=x> |",
    "<form action=https://evil.example><input></form>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]
ALLOWED = re.compile(
    r"</?(a|blockquote|br|code|del|em|h3|h4|hr|li|ol|p|pre|s|small|strong|table|tbody|td|th|thead"
    r"|tr|ul)(\s(href|title|rel|class|scope)=\"[^\"<>]*\")*\s*/?>"
)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_markup_of_its_own_gets_through(payload: str) -> None:
    html = agent_html(payload)
    assert re.findall(r"<[^>]*>", ALLOWED.sub("", html)) == []
    for address in re.findall(r'href="([^"]*)"', html):
        assert address.startswith(("https://", "http://", "mailto:"))


def test_a_link_shows_its_host() -> None:
    html = agent_html("[your bank](https://evil.example/login)")
    assert "<small>evil.example</small>" in html and 'rel="noopener noreferrer nofollow"' in html


def test_headings_stand_below_the_pages_own() -> None:
    assert agent_html("# One\n\n#### Four") == "<h3>One</h3>\n<h4>Four</h4>\n"


def test_memory_shows_what_was_learnt() -> None:
    lines = memory_diff("a\nb\nc\n", "a\nB\nc\nd\n")
    assert lines == [
        DiffLine("same", "a"),
        DiffLine("removed", "b"),
        DiffLine("added", "B"),
        DiffLine("same", "c"),
        DiffLine("added", "d"),
    ]
    assert memory_diff("same", "same") == []


@pytest.mark.parametrize(
    "address",
    ["https:evil.example", "HTTPS:/evil.example/x", "https:///evil.example/", "//evil.example"],
)
def test_an_address_that_only_a_browser_understands_shows_its_host(address: str) -> None:
    assert "<small>evil.example</small>" in agent_html(f"[a](<{address}>)")


def test_figures_stand_at_the_right_without_a_style() -> None:
    html = agent_html("| a | b |\n|---|--:|\n| x | 2 |")
    assert '<th scope="col" class="n">b</th>' in html or '<th class="n" scope="col">b</th>' in html
    assert '<td class="n">2</td>' in html and "style" not in html


def test_a_long_text_is_cut_at_a_line_and_says_how_much_is_left() -> None:
    text = "\n".join(["|a|b|", "|-|-|", *["|x|y|"] * 11_000])
    made = made_of(text)
    assert len(made.html) <= MOST_HTML and made.html.endswith("</tbody>\n</table>\n")
    assert 0 < made.left_out < len(text)
    assert made_of(text) is made  # the same text is read once
    assert made_of("short").left_out == 0


def test_a_memory_of_a_few_lines_over_and_over_is_compared_in_a_moment() -> None:
    began = monotonic()
    lines = memory_diff("x\ny\n" * 1_000, "y\nx\nx\n" * 666)
    assert monotonic() - began < 5
    assert len(lines) == SHOWN + 1 and lines[-1].kind == "more"


def test_only_what_differs_of_a_long_memory_is_shown() -> None:
    same = [f"line {number}" for number in range(3_000)]
    lines = memory_diff("\n".join([*same, "old"]), "\n".join([*same, "new"]))
    assert lines == [
        DiffLine("same", "line 2998"),
        DiffLine("same", "line 2999"),
        DiffLine("removed", "old"),
        DiffLine("added", "new"),
    ]
    assert memory_diff("a\nb", "a\nb\n") == []


def test_lines_that_came_and_went_are_counted() -> None:
    assert lines_changed("a\nb\nc", "c\na\nd\ne") == (2, 1)


def test_a_scripts_lines_stay_lines() -> None:
    assert agent_html("inbox\nroutines") == "<p>inbox\nroutines</p>\n"
    assert agent_html("inbox\nroutines", lines=True) == "<p>inbox<br>\nroutines</p>\n"
