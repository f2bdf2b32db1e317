"""Text that an agent wrote, made safe to show: Markdown without HTML, then an allow-list.

Every link is followed by its host, so that a disguised address shows itself.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from urllib.parse import urlsplit

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

MOST_TEXT = 20_000  # characters of Markdown
MOST_HTML = 48_000  # characters of what is made of it
LEAST_TEXT = 2_000
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "hr", "li", "ol", "p", "pre",
    "s", "small", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


@cache
def _parser(lines: bool) -> MarkdownIt:
    # Images would let a text fetch something; without the rule they stay a link.
    return (
        MarkdownIt("commonmark", {"html": False, "breaks": lines})
        .enable(["table", "strikethrough"])
        .disable("image")
    )


def agent_html(text: str, lines: bool = False) -> SafeString:
    """The Markdown as HTML that can't run anything, fetch anything, or hide where a link goes.

    `lines`: each of its lines stays one.
    """
    parser = _parser(lines)
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h3" if token.tag in ("h1", "h2", "h3") else "h4"
        if token.type in ("th_open", "td_open"):
            _lay_out(token)
        if token.type == "inline" and token.children:
            token.children = _with_hosts(token.children)
    html = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href"}, "th": {"scope"}},
        allowed_classes={"th": {"n"}, "td": {"n"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)


@dataclass(frozen=True)
class Made:
    """What an agent made, as a page shows it; `left_out` characters of it aren't shown."""

    html: SafeString
    left_out: int


@lru_cache(maxsize=64)
def made_of(text: str, lines: bool = False) -> Made:
    """The Markdown as HTML, as much of it as a page holds. The same text is read once.

    Reading Markdown takes a time that grows with it, and a table of small cells grows tenfold as
    HTML, so both are bounded; the cut is at the end of a line.
    """
    room = MOST_TEXT
    while True:
        shown = text if len(text) <= room else text[:room].rpartition("\n")[0] or text[:room]
        html = agent_html(shown, lines)
        if len(html) <= MOST_HTML or room <= LEAST_TEXT:
            return Made(html, len(text) - len(shown))
        room = max(min(room, len(shown)) * MOST_HTML * 9 // (len(html) * 10), LEAST_TEXT)


def _with_hosts(children: list[Token]) -> list[Token]:
    out: list[Token] = []
    host = ""
    for child in children:
        out.append(child)
        if child.type == "link_open":
            host = _host(str(child.attrGet("href") or ""))
        elif child.type == "link_close" and host:
            note = Token("html_inline", "", 0)
            note.content = f" <small>{escape(host)}</small>"
            out.append(note)
            host = ""
    return out


def _lay_out(cell: Token) -> None:
    """A column of figures stands at the right by a class, since the page allows no style."""
    at_right = "right" in str(cell.attrGet("style") or "")
    cell.attrs = {"class": "n"} if at_right else {}
    if cell.tag == "th":
        cell.attrs["scope"] = "col"


def _host(address: str) -> str:
    """The host that a browser would call. It reads `https:x`, `https:/x` and `https:///x` as
    `https://x`, which the standard library doesn't."""
    scheme, colon, rest = address.partition(":")
    if colon and scheme.casefold() in ("http", "https"):
        address = f"{scheme}://{rest.lstrip('/')}"
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
