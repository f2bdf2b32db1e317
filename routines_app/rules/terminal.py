"""What a program prints for a terminal, as text: without colours, cursor moves and bells.

A line that a program writes over and over, as a bar of progress, reads as it stood last.
"""

import codecs
import re

_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # a control: colour, cursor, erasing
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # a string: a title, a link
    r"|[ -/]+[0-~]"  # a character set
    r"|[0-OQ-WYZ\\`-~]"  # a single letter
    r")"
)
_OPEN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")
_LONGEST_OPEN = 4_096  # characters: what began so long ago and never ended is no sequence
_CONTROLS = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Each begins at the first of them and never tries again: what prints a million is read in no time.
_LINE_ENDS = re.compile(r"(?<!\r)\r++\n")


def without_escapes(text: str) -> str:
    """The text without what only a terminal understands. A carriage return ends a line.

    >>> without_escapes("\\x1b[32mok\\x1b[0m [32m\\x07")
    'ok [32m'
    """
    return _plain(text).replace("\r", "\n").replace("\b", "")


def as_printed(text: str) -> str:
    """What a program printed, without escapes; lines that it wrote over, as they stood last.

    >>> as_printed("10 %\\r100 %\\r\\ndone\\x07")
    '100 %\\ndone'
    """
    return _written_over(_plain(text).rstrip("\r"))


def _plain(text: str) -> str:
    """Without escape sequences and controls but tab, line end, carriage return and backspace."""
    if "\x1b" in text:
        text = _SEQUENCE.sub("", text)
    return _LINE_ENDS.sub("\n", _CONTROLS.sub("", text))


def _written_over(text: str) -> str:
    """Each line as it stood last. Nothing follows a carriage return at its end."""
    if "\b" in text:
        text = _rubbed_out(text)
    if "\r" not in text:
        return text
    # no pattern: one would look through the rest of a long line from each of its characters
    return "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))


def _rubbed_out(text: str) -> str:
    kept: list[str] = []
    for char in text:
        if char != "\b":
            kept.append(char)
        elif kept and kept[-1] not in "\n\r":
            kept.pop()
    return "".join(kept)


class Paper:
    """What a running program has printed: its newest part as text, in pieces of any length.

    `most` bounds the characters of `text`, `lines` its lines. Memory stays within a few times that,
    and within what was added since `text` was last read.
    """

    def __init__(self, most: int, lines: int) -> None:
        self._most = most
        self._lines = lines
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._added: list[bytes] = []
        self._held = ""  # of a sequence, or a line's end, whose rest is still to come
        self._text = ""
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Take the next piece. Cheap: it is read when somebody asks."""
        self._added.append(data)

    def read(self) -> tuple[str, int]:
        """The newest part, whole lines of it where it's cut, and how many characters came before.

        Half a character, half an escape sequence and a carriage return wait for what follows.
        """
        if self._added:
            new = self._held + self._decoder.decode(b"".join(self._added))
            self._added.clear()
            self._take(new)
        start = self._start()
        return self._text[start:], self._dropped + start

    def _take(self, new: str) -> None:
        found = _OPEN.search(new, max(len(new) - _LONGEST_OPEN, 0))
        end = found.start() if found else len(new)
        plain = _plain(new[:end])
        whole = plain.rstrip("\r")
        self._held = plain[len(whole) :] + new[end:]
        self._text = _written_over(self._text + whole)
        more = len(self._text) - 2 * self._most
        if more > 0:
            self._text = self._text[more:]
            self._dropped += more

    def _start(self) -> int:
        """Where the shown part begins: at a line, unless the last one alone is too long."""
        text = self._text
        start = max(len(text) - self._most, 0)
        if start and text[start - 1] != "\n":
            line = text.find("\n", start, len(text) - 1)
            start = start if line < 0 else line + 1
        end = len(text.rstrip("\n"))
        for _ in range(self._lines):
            end = text.rfind("\n", 0, end)
            if end < 0:
                return start
        return max(start, end + 1)
