"""Text that a machine's files hold, with its unseen characters made visible."""

# C0 and C1 controls, and what turns the direction of writing: it can make a name or a line read as
# another one.
_TURNS = (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_PICTURES = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "␡",
    **{code: f"⟨U+{code:04X}⟩" for code in (*range(0x80, 0xA0), 0x2028, 0x2029, *_TURNS)},
}
_BUT_TABS = {code: picture for code, picture in _PICTURES.items() if code != 0x09}


def visible_name(name: str) -> str:
    """A file's name on one line.

    >>> visible_name("a\\nb"), visible_name("report.md")
    ('a␊b', 'report.md')
    """
    return name.translate(_PICTURES)


def visible_line(line: str) -> str:
    """A line of a file, whose tabs stay."""
    return line.translate(_BUT_TABS)


def can_be_linked(path: str) -> bool:
    """Whether an address can carry this path of a file, and it is whole."""
    return path == visible_name(path) and "�" not in path and not path.endswith("…")
