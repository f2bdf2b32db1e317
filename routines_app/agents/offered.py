"""The tools as they are offered to a model: plain data, the same bytes in each turn of one agent,
so that providers can serve them from their cache."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tool:
    """One tool as it's offered to a model; `parameters` is a JSON Schema.

    `changes`: it may change something, on the machine or beyond; the others only read or wait.
    """

    name: str
    description: str
    parameters: dict[str, object]
    changes: bool = False


def offered(names: tuple[str, ...] | None) -> tuple[Tool, ...]:
    """The tools of these names, always in one order; None: every tool. `finish` is always there."""
    return tuple(tool for tool in TOOLS if names is None or tool.name in (*names, FINISH))


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
_PATH = "Relative to the routine's folder, or starting with ~."

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
        changes=True,
    ),
    Tool(
        "read_file",
        "Read a text file.",
        _schema(["path"], path=_text(_PATH)),
    ),
    Tool(
        "write_file",
        "Write a text file, replacing what was in it. Its folders are made if they aren't there.",
        _schema(["path", "text"], path=_text(_PATH), text=_text("All of the file's new text.")),
        changes=True,
    ),
    Tool(
        "edit_file",
        "Replace one exact text in a file by another. The old text must be there exactly once.",
        _schema(
            ["path", "old", "new"],
            path=_text(_PATH),
            old=_text("The text that is there now, with its spaces and line ends."),
            new=_text("What takes its place; empty to take it out."),
        ),
        changes=True,
    ),
    Tool(
        "list_files",
        "List a folder: each name's kind and size.",
        _schema([], path=_text("The folder; the routine's own if left out.")),
    ),
    Tool(
        "search_files",
        "Find the lines that match a pattern in the text files beneath a folder. Each line comes "
        "with its file and its number.",
        _schema(
            ["pattern"],
            pattern=_text("An extended regular expression, as for grep -E."),
            path=_text("The folder; the routine's own if left out."),
            names=_text("Only in files whose names match, such as *.md."),
            any_case={"type": "boolean", "description": "True to ignore case."},
        ),
    ),
    Tool(
        "fetch_url",
        "Read a public web page or text by GET. A page comes as plain text with its links.",
        _schema(["url"], url=_text("The whole address, with https:// or http://.")),
    ),
    Tool(
        "schedule",
        "Wait inside this run, then go on with it: a timer of yours that ends with the run and "
        "counts towards its time. It doesn't change when the routine runs; only a person does "
        "that.",
        _schema(
            [],
            seconds={"type": "integer", "description": "How long to wait."},
            until=_text("Instead of seconds: a time such as 2027-03-22T08:00:00+01:00."),
        ),
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
