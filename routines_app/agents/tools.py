"""The tools a model has, and what each does on the machine.

`TOOLS` is plain data, the same in each turn. `use_tool` does one call and gives back the step to
store and the text to tell the model; what the machine refuses is told to the model, which can
try something else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from foundation import clock
from routines_app.agents.prompt import as_data
from routines_app.agents.turn import Computer, ComputerFailed, ComputerRefused, NewStep, StepKind
from routines_app.agents.wording import HEADLINE, as_text, middle_cut, one_line

COMMAND_SECONDS = 120.0
MOST_COMMAND_SECONDS = 600.0
MOST_NAMES = 500
MOST_READ = 200_000  # bytes
TOLD = 16_000  # characters of a result that the model is told


@dataclass(frozen=True)
class Tool:
    """One tool as it's offered to a model; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: dict[str, object]


@dataclass(frozen=True)
class ToolResult:
    """What came of one call: the step to store, and what the model is told.

    `failed` is the machine's failure when it ended the turn.
    """

    step: NewStep
    told: str
    failed: ComputerFailed | None = None


class BadArguments(ValueError):
    """A model called a tool wrongly; the text tells it what to do."""


def _schema(required: list[str], **properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, object]:
    return {"type": "string", "description": description}


FINISH = "finish"

TOOLS = (
    Tool(
        "run_command",
        "Run a bash command in the routine's folder and get its output and exit code.",
        _schema(
            ["command"],
            command=_text("The command, as for bash -c."),
            seconds={
                "type": "integer",
                "description": "End it after so many seconds, 1 to 600; 120 if left out.",
            },
        ),
    ),
    Tool(
        "read_file",
        "Read a text file.",
        _schema(["path"], path=_text("Relative to the routine's folder, or starting with ~.")),
    ),
    Tool(
        "write_file",
        "Write a text file, replacing what was in it. Its folders are made if they aren't there.",
        _schema(
            ["path", "text"],
            path=_text("Relative to the routine's folder, or starting with ~."),
            text=_text("All of the file's new text."),
        ),
    ),
    Tool(
        "list_files",
        "List a folder: each name's kind and size.",
        _schema([], path=_text("The folder; the routine's own if left out.")),
    ),
    Tool(
        FINISH,
        "End the run and say how it went. Call it exactly once, as the last thing you do.",
        _schema(
            ["changed", "headline", "body"],
            changed={
                "type": "boolean",
                "description": "True if there is something to tell the person.",
            },
            headline=_text("The result as one plain sentence."),
            body=_text("What you made, as Markdown; may be empty."),
            blocked=_text("Only if you couldn't do the work: why, as one sentence."),
        ),
    ),
)


def offered(names: tuple[str, ...] | None) -> tuple[Tool, ...]:
    """The tools of these names, always in one order; None: every tool. `finish` is always there."""
    return tuple(tool for tool in TOOLS if names is None or tool.name in (*names, FINISH))


@dataclass(frozen=True)
class Workplace:
    """Where tools work: a machine, the routine's folder, and when the turn's time is up.

    `check` raises TurnInterrupted when the turn has to end; `ends_at` is by `clock.monotonic`.
    """

    computer: Computer
    folder: str
    ends_at: float
    check: Callable[[], None]

    def path(self, given: str) -> str:
        """A path as the machine takes it: one that isn't rooted is beneath the folder."""
        if not given or given == ".":
            return self.folder
        return given if given.startswith(("~", "/")) else f"{self.folder}/{given}"


def doing(name: str, arguments: dict[str, object]) -> str:
    """What a call does, as a participle: "running make", "reading notes.md"."""
    match name:
        case "run_command":
            return f"running {one_line(str(arguments.get('command', 'a command')), 80)}"
        case "read_file":
            return f"reading {one_line(str(arguments.get('path', 'a file')), 80)}"
        case "write_file":
            return f"writing {one_line(str(arguments.get('path', 'a file')), 80)}"
        case "list_files":
            return f"listing {one_line(str(arguments.get('path', 'its folder')), 80)}"
        case _:
            return "thinking"


def opened(name: str, arguments: dict[str, object]) -> tuple[StepKind, str]:
    """The step that a call will be, before it ends: its kind and its title."""
    return _KINDS.get(name, StepKind.NOTE), one_line(_about(name, arguments))


def use_tool(name: str, arguments: dict[str, object], place: Workplace) -> ToolResult:
    """Do one call of any tool but `finish`.

    Raises TurnInterrupted from `place.check`, and nothing else.
    """
    began = clock.monotonic()
    kind = _KINDS.get(name, StepKind.NOTE)
    try:
        place.check()
        action = _ACTIONS.get(name)
        if action is None:
            raise BadArguments(f"There is no tool called {name}. Use one of the tools you have.")
        title, content, facts = action(arguments, place)
        told = as_data(f"{name}: {title}", middle_cut(content, TOLD))
        if "exit_code" in facts:
            told = f"exit code {facts['exit_code']} ({facts['reason']})\n{told}"
        failed = _failure(facts)
    except (ComputerRefused, BadArguments) as error:
        title = one_line(_about(name, arguments))
        content, facts, failed = str(error), {"refused": True}, None
        told = f"That didn't work. {error}"
    except ComputerFailed as error:
        title = one_line(_about(name, arguments))
        content, facts, failed, told = str(error), {"refused": True}, error, ""
    step = NewStep(kind, title, middle_cut(content), seconds=clock.monotonic() - began, facts=facts)
    return ToolResult(step, told, failed)


def _failure(facts: dict[str, object]) -> ComputerFailed | None:
    """The machine's failure, where it is one that a command was ended."""
    match facts.get("reason"):
        case "oom":
            return ComputerFailed("memory", "The command ran out of memory.")
        case "disk":
            return ComputerFailed("disk", "The command filled the disk.")
        case _:
            return None


Done = tuple[str, str, dict[str, object]]


def _run(arguments: dict[str, object], place: Workplace) -> Done:
    command = _string(arguments, "command")
    left = place.ends_at - clock.monotonic()
    result = place.computer.run(
        ["bash", "-c", command],
        cwd=place.folder,
        timeout=max(min(_seconds(arguments), left), 0.1),
        check=place.check,
    )
    facts: dict[str, object] = {
        "exit_code": result.exit_code,
        "reason": result.reason,
        "lines": len(result.output.splitlines()),
    }
    return one_line(command), result.output, facts


def _read(arguments: dict[str, object], place: Workplace) -> Done:
    path = _string(arguments, "path")
    text = as_text(place.computer.read_file(place.path(path), MOST_READ))
    return one_line(path), text, {"lines": len(text.splitlines())}


def _write(arguments: dict[str, object], place: Workplace) -> Done:
    path, text = _string(arguments, "path"), _string(arguments, "text", empty=True)
    data = text.encode("utf-8", errors="replace")
    place.computer.write_file(place.path(path), data)
    return one_line(path), f"Written: {len(data):,} bytes.", {"bytes": len(data)}


def _list(arguments: dict[str, object], place: Workplace) -> Done:
    path = _string(arguments, "path", empty=True) if "path" in arguments else ""
    entries = list(islice(place.computer.list_files(place.path(path)), MOST_NAMES + 1))
    lines = [f"{each.kind:6} {each.size:>10} {each.path}" for each in entries[:MOST_NAMES]]
    if len(entries) > MOST_NAMES:
        lines.append(f"[more than {MOST_NAMES}: the rest isn't shown]")
    text = "\n".join(lines) or "The folder is empty."
    return one_line(path) or ".", text, {"files": min(len(entries), MOST_NAMES)}


_ACTIONS: dict[str, Callable[[dict[str, object], Workplace], Done]] = {
    "run_command": _run,
    "read_file": _read,
    "write_file": _write,
    "list_files": _list,
}
_KINDS = {
    "run_command": StepKind.RAN,
    "read_file": StepKind.READ,
    "write_file": StepKind.WROTE,
    "list_files": StepKind.LISTED,
}


@dataclass(frozen=True)
class Finish:
    """What a model said at the end. `blocked` is why it couldn't do the work, else empty."""

    changed: bool
    headline: str
    body: str
    blocked: str


def read_finish(arguments: dict[str, object]) -> Finish:
    """Read a call of `finish`. Raises BadArguments when it doesn't say whether anything changed."""
    changed = arguments.get("changed")
    if isinstance(changed, str) and changed.casefold() in ("true", "false"):
        changed = changed.casefold() == "true"
    blocked = _optional(arguments, "blocked")
    if not isinstance(changed, bool):
        if not blocked:
            raise BadArguments("Call finish again, with changed as true or false.")
        changed = False
    return Finish(
        changed=changed,
        headline=one_line(_optional(arguments, "headline"), HEADLINE),
        body=_optional(arguments, "body"),
        blocked=one_line(blocked, HEADLINE),
    )


def _optional(arguments: dict[str, object], name: str) -> str:
    value = arguments.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadArguments(f"Give {name} as a text.")
    return value


def _about(name: str, arguments: dict[str, object]) -> str:
    return str(arguments.get("command") or arguments.get("path") or name)


def _string(arguments: dict[str, object], name: str, *, empty: bool = False) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not (value.strip() or empty):
        raise BadArguments(f"Give {name} as a text.")
    if "\x00" in value:
        raise BadArguments(f"Leave NUL characters out of {name}.")
    return value


def _seconds(arguments: dict[str, object]) -> float:
    value = arguments.get("seconds", COMMAND_SECONDS)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        # JSON as Python reads it has NaN, with which no deadline ever comes
        raise BadArguments("Give seconds as a number from 1 to 600.")
    return float(min(max(value, 1), MOST_COMMAND_SECONDS))  # a huge whole number fits no float
