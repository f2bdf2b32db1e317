"""Reading and cutting text that a script or a model wrote: one-line titles, headlines, bounds."""

import re

HEADLINE = 300  # characters
TITLE = 200  # characters
CONTENT = 20_000  # characters of one step that are kept
BODY = 60_000  # characters of what a run made

_SENTENCE = re.compile(r".+?[.!?][\"'”’)\]*_]*(?=\s|$)")
_MARKS = " \t\r\n.!?…,;:*_`~#>\"'“”‘’()[]-–—"


def says_nothing_changed(text: str) -> bool:
    """Whether a text is the one sentence "nothing changed", however it is cased or punctuated."""
    return " ".join(text.strip(_MARKS).casefold().split()) == "nothing changed"


def last_line(text: str) -> str:
    """The last line that isn't blank, without its spaces; empty when there's none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def storable(text: str) -> str:
    """A text as a database takes it: without NUL and without halves of surrogate pairs."""
    return text.encode("utf-8", errors="replace").decode().replace("\x00", "�")


def one_line(text: str, limit: int = TITLE) -> str:
    """The first line that isn't blank, at most `limit` characters long, and storable."""
    lines = storable(text).splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    return first if len(first) <= limit else first[: limit - 1].rstrip() + "…"


def first_sentence(text: str) -> str:
    """The first sentence of a text's first line, without the marks of a heading or a list."""
    line = one_line(text, limit=10_000).lstrip("#>*-–— \t")
    match = _SENTENCE.match(line)
    return one_line((match.group() if match else line).rstrip("*_"), HEADLINE)


def middle_cut(text: str, limit: int = CONTENT) -> str:
    """A storable text of at most about `limit` characters: its start and its end, if longer."""
    text = storable(text)
    if len(text) <= limit:
        return text
    start, end = limit * 2 // 3, limit // 3
    left_out = len(text) - start - end
    return f"{text[:start]}\n[… {left_out:,} characters left out …]\n{text[-end:]}"


def as_text(data: bytes) -> str:
    """Bytes as text, whatever they hold."""
    return data.decode("utf-8", errors="replace")
