"""Any page, whole or broken, becomes some text; any charset that a page may name is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routines_app.agents.page_text import decoded, page_text

PIECES = st.sampled_from(
    ["<", ">", "</", "<!--", "-->", "<!", "<?", "<a href=", "<a href='", '"', "'", "=", "/>", "&",
     "&#", "&#x41;", "&amp;", "&nbsp;", "9" * 9, "<p>", "</p>", "<pre>", "</pre>", "<title>",
     "</title>", "<script>", "</script", "<svg>", "</SVG>", "<img alt=x>", "<td>", "<li>", "<h2>",
     "\x00", "\r\n", "\ud800", "é", " ", "text", "http://x.y/", "<textarea>", "<A\nHREF = z>"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=5), max_size=60))
def test_any_page_becomes_text(pieces: list[str]) -> None:
    page = "".join(pieces)
    text = page_text(page)
    assert len(text) <= 8 * len(page) + 20
    assert text == text.strip()
    assert "\n\n\n" not in text or "<pre>" in page


@given(st.text(alphabet=st.characters(blacklist_characters="<>&\x00"), max_size=200))
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert " ".join(page_text(text).split()) == " ".join(text.split())


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>one<p>two", "one\n\ntwo"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<SCRIPT>x</SCRIPT >y", "y"),
        ("<script>x", ""),
        ("<!-- x", ""),
        ("a <!-- > --> b", "a b"),
        ("<a href='https://x.y/'>here</a>", "here (https://x.y/)"),
        ("<a href=https://x.y/>https://x.y/</a>", "https://x.y/"),
        ("<a href='javascript:x()'>here</a>", "here"),
        ("<a href=/1>one<a href=/2>two</a>", "one (/1)two (/2)"),
        ("<a title='>' href='/1'>one</a>", "one (/1)"),
        ("1 < 2 & 3 > 2", "1 < 2 & 3 > 2"),
        ("&lt;p&gt; &eacute; &#8364; &#99999999999;", "<p> é € �"),
        ("<title> A\n B </title>c", "A B\n\nc"),
        ("<h1>A</h1>b", "# A\n\nb"),
        ("<p title=it's>x</p>y", "x\n\ny"),
    ],
)
def test_what_a_page_says(page: str, text: str) -> None:
    assert page_text(page) == text


CHARSETS = [
    "utf-8", "utf8", "UTF-16", "ascii", "us-ascii", "latin1", "latin-1", "windows-1250",
    "windows-1258", "cp1252", "koi8-r", "koi8-u", "gb2312", "gbk", "gb18030", "big5", "euc-jp",
    "euc-kr", "shift_jis", "iso-2022-jp", *(f"iso-8859-{number}" for number in range(1, 17)),
]  # fmt: skip


@pytest.mark.parametrize(
    "charset", [*CHARSETS, "idna", "punycode", "zip", "rot13", "none", "utf-7"]
)
def test_every_charset_is_read_or_taken_for_utf_8(charset: str) -> None:
    body = b"heron \xff\xfe\xe9 heron"
    assert "heron" in decoded(body, charset) or charset.lower() == "utf-16"
    assert decoded(b'<meta charset="%s">' % charset.encode() + body, "")
