"""Whether a shell command only looks: so plainly that nothing can have come of it but its output.

It errs towards "may have changed something": a run that did its work in silence isn't a failure.
"""

import re

_LOOKERS = frozenset(
    (
        "basename", "cat", "cd", "cmp", "column", "comm", "cut", "date", "df", "diff", "dirname",
        "du", "echo", "expr", "false", "fold", "grep", "egrep", "fgrep", "head", "jq", "ls",
        "md5sum", "nl", "od", "printf", "pwd", "readlink", "realpath", "rev", "seq", "sha256sum",
        "sleep", "stat", "strings", "tac", "tail", "test", "tr", "true", "type", "uname", "uptime",
        "wc", "which", "whoami",
    )
)  # fmt: skip
_GIT_LOOKERS = frozenset(("log", "status", "diff", "show", "rev-parse", "ls-files", "blame"))
_HARMLESS = re.compile(r"[12&]?>{1,2}\s*/dev/null\b|2>&1")
_JOINTS = re.compile(r"\|\||&&|[|;\n]")
# Anything that could run, write or send more than its first word says.
_DEEPER = re.compile(r"[`>&]|\$\(|<\(|--output|--ext-diff|--textconv")


def only_looks(command: str) -> bool:
    """Whether each part of a command is a program that only reads and prints."""
    plain = _HARMLESS.sub(" ", command)
    parts = [part.split() for part in _JOINTS.split(plain) if part.strip()]
    if not parts or _DEEPER.search(re.sub("&&", "", plain)):
        return False
    return all(_looks(words) for words in parts)


def _looks(words: list[str]) -> bool:
    match words:
        case ["git", verb, *_]:
            return verb in _GIT_LOOKERS
        case ["date", *rest]:
            return not any(word.startswith(("-s", "--set")) for word in rest)
        case ["find", *rest]:
            acts = ("-exec", "-ok", "-delete", "-fprint", "-fls")
            return not any(word.startswith(acts) for word in rest)
        case ["uniq" | "tree", *rest]:
            # `uniq` writes into its second file, `tree` into that of -o
            return not any(word == "-o" or not word.startswith("-") for word in rest)
        case [name, *_]:
            return name in _LOOKERS
    return False
