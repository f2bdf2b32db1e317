"""What a program printed for a terminal, as a page shows it: without colours and cursor moves."""

import re

_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"  # a control: colour, cursor, erasing
    r"|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # a string: a title, a link
    r"|[ -/]+[0-~]"  # a character set
    r"|[0-OQ-WYZ\\`-~]"  # a single letter
    r")"
)


def without_escapes(text: str) -> str:
    """The text without its escape sequences; every other character stays.

    >>> without_escapes("\\x1b[32mok\\x1b[0m [32m")
    'ok [32m'
    """
    return _SEQUENCE.sub("", text) if "\x1b" in text else text
