"""The tools for files and commands, each on the machine alone."""

from collections import Counter
from itertools import islice

from foundation import clock
from routines_app.agents.turn import ComputerRefused, NotThere
from routines_app.agents.wording import as_text, one_line
from routines_app.agents.workplace import (
    BadArguments,
    Done,
    Unwilling,
    Workplace,
    seconds_of,
    text_of,
)

COMMAND_SECONDS = 120.0
MOST_COMMAND_SECONDS = 600.0
SEARCH_SECONDS = 60.0
MOST_NAMES = 500
MOST_READ = 200_000  # bytes
MOST_EDITED = 1_000_000  # bytes of a file that is edited
MOST_MATCHES = 200
MOST_IN_ONE_FILE = 50
MATCH = 300  # characters of one line that matched

# Bulk that nobody means when they search: what tools keep for themselves.
PASSED_OVER = (".git", "node_modules", ".venv", "__pycache__")


def run_command(arguments: dict[str, object], place: Workplace) -> Done:
    command = text_of(arguments, "command")
    seconds = seconds_of(arguments, COMMAND_SECONDS, MOST_COMMAND_SECONDS)
    live = place.live_output()
    result = place.computer.run(
        ["bash", "-c", command],
        cwd=place.folder,
        timeout=max(min(seconds, _left(place)), 0.1),
        check=live.check,
        heard=live.heard,
    )
    facts: dict[str, object] = {
        "exit_code": result.exit_code,
        "reason": result.reason,
        "lines": len(result.output.splitlines()),
    }
    return one_line(command), result.output, facts


def read_file(arguments: dict[str, object], place: Workplace) -> Done:
    path = text_of(arguments, "path")
    text = as_text(place.computer.read_file(place.path(path), MOST_READ))
    return one_line(path), text, {"lines": len(text.splitlines())}


def write_file(arguments: dict[str, object], place: Workplace) -> Done:
    path, text = text_of(arguments, "path"), text_of(arguments, "text", empty=True)
    data = text.encode("utf-8", errors="replace")
    before = _before(place, path)
    place.computer.write_file(place.path(path), data)
    facts = {"bytes": len(data), **_lines_moved(before, data)}
    return one_line(path), f"Written: {len(data):,} bytes.", facts


def _before(place: Workplace, path: str) -> bytes | None:
    """A file as it is before it's written: empty when it isn't there, None when it's too large to
    look at or can't be read."""
    try:
        return place.computer.read_file(place.path(path), MOST_READ)
    except NotThere:
        return b""
    except ComputerRefused:
        return None


def _lines_moved(before: bytes | None, after: bytes) -> dict[str, object]:
    """How many lines are new and how many are gone; nothing where one of them is no text."""
    if before is None or b"\0" in before + after:
        return {}
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return {"added": (new - old).total(), "removed": (old - new).total()}


def edit_file(arguments: dict[str, object], place: Workplace) -> Done:
    path = text_of(arguments, "path")
    old, new = text_of(arguments, "old", empty=True), text_of(arguments, "new", empty=True)
    if not old:
        raise BadArguments("Give the old text that is to be replaced; to write a file, write_file.")
    if old == new:
        raise BadArguments(
            "The old and the new text are the same. Give the new text as it is to be."
        )
    data = place.computer.read_file(place.path(path), MOST_EDITED)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unwilling(f"{path} isn't a UTF-8 text. Change it by run_command.") from None
    found = text.count(old)
    if found != 1:
        raise Unwilling(_not_once(path, text, old, found))
    changed = text.replace(old, new).encode("utf-8", errors="replace")
    place.computer.write_file(place.path(path), changed)
    line = text[: text.index(old)].count("\n") + 1
    facts = {"bytes": len(changed), "line": line, **_lines_moved(data, changed)}
    return one_line(path), f"Replaced at line {line}.", facts


def _not_once(path: str, text: str, old: str, found: int) -> str:
    if found:
        return (
            f"The old text is in {path} {found:,} times, so nothing was changed. Give more of the "
            "lines around it, so that it's there once."
        )
    crlf = "\r\n" in text and old.replace("\r\n", "\n").replace("\n", "\r\n") in text
    why = " Its lines end in CRLF: write \\r\\n." if crlf else ""
    return (
        f"The old text isn't in {path}, so nothing was changed.{why} Read the file and copy the "
        "text exactly, with its spaces and line ends."
    )


def list_files(arguments: dict[str, object], place: Workplace) -> Done:
    path = _folder(arguments)
    entries = list(islice(place.computer.list_files(place.path(path)), MOST_NAMES + 1))
    lines = [f"{each.kind:6} {each.size:>10} {each.path}" for each in entries[:MOST_NAMES]]
    if len(entries) > MOST_NAMES:
        lines.append(f"[more than {MOST_NAMES}: the rest isn't shown]")
    text = "\n".join(lines) or "The folder is empty."
    return one_line(path) or ".", text, {"files": min(len(entries), MOST_NAMES)}


def search_files(arguments: dict[str, object], place: Workplace) -> Done:
    pattern, path = text_of(arguments, "pattern"), _folder(arguments)
    if "\n" in pattern:
        raise BadArguments("Give a pattern of one line: each line is searched by itself.")
    where = place.path(path)
    next(iter(place.computer.list_files(where)), None)  # a command would make a missing folder
    result = place.computer.run(
        _grep(arguments, pattern),
        cwd=where,
        timeout=max(min(SEARCH_SECONDS, _left(place)), 0.1),
        check=place.check,
    )
    match result.reason, result.exit_code:
        case (("oom" | "disk" as reason), _):
            return one_line(pattern), result.output, {"reason": reason}
        case "timeout", _:
            raise Unwilling("It took too long. Search a smaller folder, or for a simpler pattern.")
        case "exit", 127:
            raise Unwilling("This machine has no grep. Search by run_command.")
        case "exit", code if code > 1 and result.output.startswith("grep: "):
            raise Unwilling(f"Mend the pattern. {one_line(result.output)}")
    lines = [_cut(line.removeprefix("./")) for line in result.output.splitlines()]
    shown = lines[:MOST_MATCHES]
    if len(lines) > len(shown) or result.reason == "output":
        shown.append(f"[more than {len(shown)}: search a smaller folder, or more exactly]")
    text = "\n".join(shown) or "No line matches."
    return one_line(f"{pattern} in {path or '.'}"), text, {"lines": min(len(lines), MOST_MATCHES)}


def _grep(arguments: dict[str, object], pattern: str) -> list[str]:
    argv = ["grep", "-rnIsE", "-m", str(MOST_IN_ONE_FILE), "--color=never"]
    argv += [f"--exclude-dir={name}" for name in PASSED_OVER]
    if arguments.get("any_case") is True:
        argv.append("-i")
    if arguments.get("names"):
        argv.append(f"--include={text_of(arguments, 'names')}")
    return [*argv, "-e", pattern, "--", "."]


def _cut(line: str) -> str:
    return line if len(line) <= MATCH else f"{line[:MATCH]}…"


def _folder(arguments: dict[str, object]) -> str:
    return text_of(arguments, "path", empty=True) if "path" in arguments else ""


def _left(place: Workplace) -> float:
    return place.ends_at - clock.monotonic()
