"""Reading and cutting text that a script or a model wrote: one-line titles, headlines, bounds."""

import re
import unicodedata

HEADLINE = 300  # characters
TITLE = 200  # characters
CONTENT = 20_000  # characters of one step that are kept
BODY = 60_000  # characters of what a run made

_SENTENCE = re.compile(r".+?[.!?][\"'”’)\]*_]*(?=\s|$)")
# Emphasis, code and quotation as Markdown marks them; a struck-out sentence isn't said.
_MARKDOWN = str.maketrans("", "", "*_`")
_AROUND = "+>#="


def says_nothing_changed(text: str) -> bool:
    """Whether a text is the one sentence "nothing changed", however it is cased or punctuated."""
    plain = unicodedata.normalize("NFKC", text).translate(_MARKDOWN)
    words = "".join(char for char in plain if unicodedata.category(char) != "Cf").split()
    return _bare(" ".join(words)).casefold() == "nothing changed"


def says_nothing(text: str) -> bool:
    """Whether a text holds no letter and no figure: blank, or marks alone."""
    return not any(char.isalnum() for char in text)


def _bare(text: str) -> str:
    """A text without the punctuation and spaces around it."""
    start, end = 0, len(text)
    while start < end and _is_mark(text[start]):
        start += 1
    while end > start and _is_mark(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_mark(char: str) -> bool:
    return char.isspace() or char in _AROUND or unicodedata.category(char).startswith("P")


_REFUSAL = re.compile(
    r"(?:(?:i[' ]?a?m |i am )?(?:so |very |really )?sorry|i apologi[sz]e|unfortunately)?"
    r"[,.;:!]*\s*(?:but |however,? )?(?:as an ai[\w ]{0,30},? )?"
    r"i(?: can ?not| can't| cant| won't| will not|'m unable to| am unable to|'m not able to"
    r"| am not able to|'m not going to| am not going to| must decline to| have to decline to)\s+"
    r"(?:help|assist|comply|engage|participate|take part"
    r"|(?:do|fulfil|fulfill|complete|continue with|go along with|support|process)\s+"
    r"(?:that|this|it|your request|the request|these instructions))\b"
    r"|i (?:must |have to )?(?:decline|refuse)\b",
    re.IGNORECASE,
)
REFUSAL = 600  # characters: whoever writes more has answered something


def refuses(text: str) -> bool:
    """Whether a text declines the work and says nothing else: "I'm sorry, but I can't help with
    that." What couldn't be found or reached is a result, not a refusal."""
    plain = " ".join(text.replace("’", "'").translate(_MARKDOWN).split())
    return len(plain) <= REFUSAL and _REFUSAL.match(plain) is not None


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


def text_of(data: bytes) -> str | None:
    """These bytes as text; None when they are none."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def as_text(data: bytes) -> str:
    """Bytes as text, whatever they hold."""
    return data.decode("utf-8", errors="replace")
