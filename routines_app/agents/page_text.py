"""A web page as plain text with its links, for a model to read.

It goes through a page once and never back: a library's parser takes minutes for some pages that
are made to be slow (one million bytes of open tags), and the turn would be deaf to Stop meanwhile.
"""

import html
import re

_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_BLOCKS = frozenset(
    (
        "p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "blockquote",
        "ul", "ol", "dl", "dt", "dd", "table", "form", "figure", "hr", "pre", *_HEADINGS,
    )
)  # fmt: skip
_LINES = frozenset(("br", "tr", "li", "option"))
# Nothing in them is text that a reader sees; `title` is, and comes first.
_HIDDEN = frozenset(
    ("script", "style", "noscript", "template", "svg", "iframe", "object", "select", "textarea")
)
_ENDS = {name: re.compile(f"</{name}", re.IGNORECASE) for name in (*_HIDDEN, "title")}
_NAME = re.compile(r"/?[a-zA-Z][a-zA-Z0-9]{0,30}")
_INSIDE = re.compile(r"=\s{0,20}([\"'])|>")  # of a tag: where a quoted value begins, or its end
_HREF = re.compile(r"\bhref\s{0,20}=\s{0,20}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_ALT = re.compile(r"\balt\s{0,20}=\s{0,20}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"&#\d{8,};?")
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset=["']?([\w.:-]{1,40})""", re.IGNORECASE)
# Codecs that take time out of proportion, or aren't of texts at all, aren't among these.
_SAFE = re.compile(
    r"utf-?(8|16)|ascii|us-ascii|iso-?8859-([1-9]|1[0-6])|latin-?1|windows-125[0-8]|cp125[0-8]"
    r"|koi8-[ru]|gb2312|gbk|gb18030|big5|euc-(jp|kr)|shift_jis|iso-2022-jp",
    re.IGNORECASE,
)


def decoded(body: bytes, charset: str) -> str:
    """A body as text: by the charset that was named, else by the page's own, else UTF-8."""
    if not charset:
        named = _CHARSET.search(body[:2048])
        charset = named.group(1).decode("ascii", "replace") if named else ""
    known = charset if _SAFE.fullmatch(charset) and charset.lower() != "iso-8859-12" else "utf-8"
    return body.decode(known, errors="replace").removeprefix("\ufeff")


def page_text(page: str) -> str:
    """The text of a page: its title, headings marked by #, list items by -, links with their
    address in brackets."""
    walk = _Walk(page)
    walk.through()
    lines = (line.rstrip() for line in "".join(walk.out).splitlines())
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return f"{walk.title}\n\n{text}".strip()


class _Walk:
    """Goes through a page from its start to its end, and writes its text into `out`."""

    def __init__(self, page: str) -> None:
        self.out: list[str] = []
        self.title = ""
        self._page = page
        self._link: tuple[str, int] | None = None  # its address, and where in `out` its text begins
        self._pre = 0

    def through(self) -> None:
        page, at = self._page, 0
        while (mark := page.find("<", at)) >= 0:
            self._text(page[at:mark])
            at = self._markup(mark)
        self._text(page[at:])
        self._end_link()

    def _markup(self, at: int) -> int:
        """Read what begins with a `<`, and return where the page goes on."""
        page = self._page
        if page.startswith("<!--", at):
            return _after(page, "-->", at + 4)
        name = _NAME.match(page, at + 1)
        if name is None:
            if page[at + 1 : at + 2] in ("!", "?", "/"):
                return _after(page, ">", at + 1)
            self.out.append("<")
            return at + 1
        end = self._tag_end(name.end())
        word = name.group().lower()
        if word.startswith("/"):
            self._ended(word[1:])
        elif word in _ENDS:
            return self._skipped(word, end)
        else:
            self._began(word, page[name.end() : min(end, name.end() + 4_000)])
        return end

    def _tag_end(self, at: int) -> int:
        """Where a tag ends; a `>` inside a quoted value isn't its end."""
        page = self._page
        while (found := _INSIDE.search(page, at)) is not None:
            quote = found.group(1)
            closed = page.find(quote, found.end()) if quote else -1
            if not quote:
                return found.end()
            at = closed + 1 if closed >= 0 else found.end()
        return len(page)

    def _skipped(self, name: str, at: int) -> int:
        """Pass over an element whose content isn't shown, and keep what is a title."""
        closing = _ENDS[name].search(self._page, at)
        end = closing.start() if closing else len(self._page)
        if name == "title" and not self.title:
            self.title = " ".join(_plain(self._page[at : min(end, at + 500)]).split())
        return self._tag_end(end + 2) if closing else end

    def _began(self, name: str, attributes: str) -> None:
        if name in _BLOCKS:
            self._break(2)
        elif name in _LINES:
            self._break(1)
        match name:
            case "a":
                self._end_link()
                self._link = (_value(_HREF, attributes), len(self.out))
            case "li":
                self.out.append("- ")
            case "td" | "th":
                if self.out and not self.out[-1].endswith("\n"):
                    self.out.append(" | ")
            case "pre":
                self._pre += 1
            case "img" if described := _value(_ALT, attributes):
                self.out.append(f"[image: {described}]")
            case _ if name in _HEADINGS:
                self.out.append(_HEADINGS[name])

    def _ended(self, name: str) -> None:
        if name == "a":
            self._end_link()
        elif name in _BLOCKS:
            self._break(2)
        if name == "pre":
            self._pre = max(self._pre - 1, 0)

    def _end_link(self) -> None:
        if self._link is None:
            return
        (address, start), self._link = self._link, None
        said = "".join(self.out[start:]).strip()
        if said and address.startswith(("http:", "https:", "/", "mailto:")) and address != said:
            self.out.append(f" ({address})")

    def _text(self, raw: str) -> None:
        if not raw:
            return
        text = _plain(raw)
        if not self._pre:
            text = re.sub(r"\s+", " ", text)
            if text.startswith(" ") and (not self.out or self.out[-1].endswith(("\n", " "))):
                text = text[1:]
        if text:
            self.out.append(text)

    def _break(self, lines: int) -> None:
        if self.out:
            self.out.append("\n" * lines)


def _after(page: str, mark: str, at: int) -> int:
    found = page.find(mark, at)
    return found + len(mark) if found >= 0 else len(page)


def _plain(raw: str) -> str:
    """A text without its escapes. Python reads no whole number of thousands of figures."""
    return html.unescape(_LONG_NUMBER.sub("�", raw)) if "&" in raw else raw


def _value(pattern: re.Pattern[str], attributes: str) -> str:
    found = pattern.search(attributes)
    return " ".join(_plain(next(filter(None, found.groups()), "")).split()) if found else ""
