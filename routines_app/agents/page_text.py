"""A web page as plain text with its links, for a model to read.

nh3 (a browser's own parser) first mends the page and leaves a few tags, so that what is walked
here is small and well-formed, whatever was sent.
"""

import codecs
import re
from html.parser import HTMLParser

import nh3

_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_BLOCKS = {"p", "div", "section", "article", "blockquote", "ul", "ol", "dl", "dt", "dd", "table"}
_LINES = {"br", "tr", "li", *_HEADINGS}
_TAGS = {"a", "pre", "td", "th", "title", "img", *_BLOCKS, *_LINES}
# Their content is nothing that a reader sees.
_DROPPED = {"script", "style", "noscript", "template", "svg", "iframe", "object", "select"}
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset=["']?([\w.:-]{1,40})""", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>(.{0,2000}?)</title", re.IGNORECASE | re.DOTALL)
_HEAD = 20_000  # characters in which a title is looked for
# Codecs that take time out of proportion, or aren't of texts at all, aren't among these.
_SAFE = re.compile(
    r"utf-?(8|16)|ascii|us-ascii|iso-?8859-\d+|latin-?1|windows-125\d|cp125\d|koi8-[ru]"
    r"|gb2312|gbk|gb18030|big5|euc-(jp|kr)|shift_jis|iso-2022-jp",
    re.IGNORECASE,
)


def decoded(body: bytes, charset: str) -> str:
    """A body as text: by the charset that was named, else by the page's own, else UTF-8."""
    if not charset:
        named = _CHARSET.search(body[:2048])
        charset = named.group(1).decode("ascii", "replace") if named else ""
    if not _SAFE.fullmatch(charset):
        charset = "utf-8"
    try:
        codecs.lookup(charset)
    except LookupError:
        charset = "utf-8"
    return body.decode(charset, errors="replace").removeprefix("\ufeff")


def page_text(html: str) -> str:
    """The text of a page: its title, headings marked by #, list items by -, links by their address
    in brackets."""
    title = _TITLE.search(html[:_HEAD])
    clean = nh3.clean(
        html,
        tags=_TAGS - {"title"},
        clean_content_tags=_DROPPED | {"title"},
        attributes={"a": {"href"}, "img": {"alt"}},
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
        strip_comments=True,
    )
    walk = _Walk()
    walk.feed(clean)
    walk.close()
    text = _tidy("".join(walk.out))
    if title is None:
        return text
    named = " ".join(nh3.clean(title.group(1), tags=set()).split())
    return f"{_unescaped(named)}\n\n{text}".strip() if named else text


def _unescaped(text: str) -> str:
    walk = _Walk()
    walk.feed(text)
    walk.close()
    return "".join(walk.out)


def _tidy(text: str) -> str:
    lines = (line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Walk(HTMLParser):
    """Writes a clean page's text into `out`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self._links: list[tuple[str, int]] = []
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _BLOCKS:
            self._break(2)
        elif tag in _LINES:
            self._break(2 if tag in _HEADINGS else 1)
        match tag:
            case "a":
                self._links.append((given.get("href") or "", len(self.out)))
            case "li":
                self.out.append("- ")
            case "td" | "th":
                self.out.append(" | " if self.out and not self.out[-1].endswith("\n") else "")
            case "pre":
                self._break(2)
                self._pre += 1
            case "img" if given.get("alt"):
                self.out.append(f"[image: {given['alt']}]")
            case _ if tag in _HEADINGS:
                self.out.append(_HEADINGS[tag])

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._links:
            address, start = self._links.pop()
            said = "".join(self.out[start:]).strip()
            if said and address and address != said and not address.startswith("#"):
                self.out.append(f" ({address})")
        elif tag == "pre":
            self._pre -= 1
            self._break(2)
        elif tag in _BLOCKS or tag in _HEADINGS:
            self._break(2)

    def handle_data(self, data: str) -> None:
        if self._pre:
            self.out.append(data)
            return
        text = re.sub(r"\s+", " ", data)
        if text.startswith(" ") and (not self.out or self.out[-1].endswith(("\n", " "))):
            text = text[1:]
        if text:
            self.out.append(text)

    def _break(self, lines: int) -> None:
        if self.out and not self._pre:
            self.out.append("\n" * lines)
