"""What a model's calls do. `use_tool` does one call and gives back the step to store and the text
to tell the model; what is refused is told to the model, which can try something else.
"""

from collections.abc import Callable
from dataclasses import dataclass

from foundation import clock
from routines_app.agents import tool_files
from routines_app.agents.connectors import is_of_an_app
from routines_app.agents.looking import only_looks
from routines_app.agents.offered import Tool
from routines_app.agents.prompt import as_data
from routines_app.agents.refused_calls import (
    RefusedCall,
    app_is_gone,
    failed_by_itself,
    refused_by,
)
from routines_app.agents.tool_apps import AppUnusable, call_app, call_title
from routines_app.agents.tool_fetch import fetch_url
from routines_app.agents.tool_wait import schedule
from routines_app.agents.turn import ComputerFailed, ComputerRefused, NewStep, StepKind
from routines_app.agents.wording import HEADLINE, first_sentence, middle_cut, one_line
from routines_app.agents.workplace import BadArguments, Done, Unwilling, Workplace

TOLD = 16_000  # characters of a result that the model is told


@dataclass(frozen=True)
class ToolResult:
    """What came of one call: the step to store, and what the model is told.

    `effect`: it may have changed something that isn't the agent's own memory. `failed` is the
    machine's failure when it ended the turn. `refused`: its tool refused it, or it failed; `over`:
    by an app that the run needs and that is gone, so the turn ends.
    """

    step: NewStep
    told: str
    effect: bool = False
    failed: ComputerFailed | None = None
    refused: RefusedCall | None = None
    over: bool = False


def doing(name: str, arguments: dict[str, object]) -> str:
    """What a call does, as a participle: "running make", "reading notes.md"."""
    if is_of_an_app(name):
        return f"calling {one_line(name, 80)}"
    if name not in _CALLS:
        return "thinking"
    participle, usual = _CALLS[name].participle, _CALLS[name].usual
    return f"{participle} {one_line(_about(name, arguments) or usual, 80)}"


def opened(name: str, arguments: dict[str, object]) -> tuple[StepKind, str]:
    """The step that a call will be, before it ends: its kind and its title."""
    if is_of_an_app(name):
        return StepKind.CALLED, call_title(name, arguments)
    kind = _CALLS[name].kind if name in _CALLS else StepKind.NOTE
    return kind, one_line(_about(name, arguments) or name)


def use_tool(
    name: str, arguments: dict[str, object], place: Workplace, tools: tuple[Tool, ...]
) -> ToolResult:
    """Do one call of any of `tools` but `finish`.

    Raises TurnInterrupted from `place.check`, and nothing else.
    """
    began = clock.monotonic()
    kind, title = opened(name, arguments)
    tool = next((each for each in tools if each.name == name), None)
    failed, effect, refused, over = None, False, None, False
    try:
        place.check()
        if tool is None or not (name in _CALLS or is_of_an_app(name)):
            raise BadArguments(f"There is no tool called {name}. Use one of the tools you have.")
        if name in _CALLS:
            title, content, facts = _CALLS[name].act(arguments, place)
        else:
            title, content, facts = call_app(name, arguments, place)
        source = title if is_of_an_app(name) else f"{name}: {title}"
        told = f"{_status(facts)}{as_data(source, middle_cut(content, TOLD))}"
        failed = _failure(facts)
        done = facts.get("exit_code", 0) == 0 and not facts.get("refused")
        effect = tool.changes and done and _may_matter(name, arguments, place)
        why = failed_by_itself(facts, content)
        refused = None if why is None else refused_by(name, arguments, place, why)
    except (ComputerRefused, BadArguments, Unwilling) as error:
        content, facts = str(error), {"refused": True}
        if not isinstance(error, ComputerRefused):  # then the text is for the model
            facts["told"] = "wrongly" if isinstance(error, BadArguments) else "unwilling"
        told = f"That didn't work. {error}"
        if isinstance(error, AppUnusable):
            refused, over = app_is_gone(error.app, error.trouble), error.over
        elif not isinstance(error, BadArguments):  # those are the model's own mistake
            refused = refused_by(name, arguments, place, first_sentence(str(error)))
    except ComputerFailed as error:
        printed = error.partial.output.rstrip() if error.partial else ""
        content = f"{printed}\n{error}".lstrip()
        facts, failed, told = {"refused": True}, error, ""
    step = NewStep(kind, title, middle_cut(content), seconds=clock.monotonic() - began, facts=facts)
    return ToolResult(step, told, effect, failed, refused, over)


def _status(facts: dict[str, object]) -> str:
    """The line of ours above a result, for those that have one."""
    if "exit_code" in facts:
        return f"exit code {facts['exit_code']} ({facts['reason']})\n"
    if facts.get("refused"):
        return "The app says that this call failed:\n"
    return f"HTTP status {facts['status']}\n" if "status" in facts else ""


def _may_matter(name: str, arguments: dict[str, object], place: Workplace) -> bool:
    """Whether a call that was done may have left something besides the agent's own memory."""
    if is_of_an_app(name):
        return True
    if name == "run_command":
        return not only_looks(str(arguments.get("command", "")))
    return place.path(str(arguments.get("path", ""))) != place.path("state.md")


def _failure(facts: dict[str, object]) -> ComputerFailed | None:
    """The machine's failure, where it is one that a command was ended."""
    match facts.get("reason"):
        case "oom":
            return ComputerFailed("memory", "The command ran out of memory.")
        case "disk":
            return ComputerFailed("disk", "The command filled the disk.")
        case _:
            return None


@dataclass(frozen=True)
class _Call:
    """How one tool is called: what it is as a step, what names it, and what it does."""

    kind: StepKind
    participle: str
    names: str
    usual: str
    act: Callable[[dict[str, object], Workplace], Done]


_CALLS = {
    "run_command": _Call(StepKind.RAN, "running", "command", "a command", tool_files.run_command),
    "read_file": _Call(StepKind.READ, "reading", "path", "a file", tool_files.read_file),
    "write_file": _Call(StepKind.WROTE, "writing", "path", "a file", tool_files.write_file),
    "edit_file": _Call(StepKind.EDITED, "editing", "path", "a file", tool_files.edit_file),
    "list_files": _Call(StepKind.LISTED, "listing", "path", "its folder", tool_files.list_files),
    "search_files": _Call(
        StepKind.SEARCHED, "searching for", "pattern", "a text", tool_files.search_files
    ),
    "fetch_url": _Call(StepKind.FETCHED, "fetching", "url", "a page", fetch_url),
    "schedule": _Call(StepKind.WAITED, "waiting", "until", "a while", schedule),
}


def _about(name: str, arguments: dict[str, object]) -> str:
    """What a call is about, by its main argument; empty where it has none."""
    if name == "schedule":
        seconds, until = arguments.get("seconds"), arguments.get("until")
        return f"until {until}" if until else f"{seconds} seconds" if seconds else ""
    return str(arguments.get(_CALLS[name].names) or "") if name in _CALLS else ""


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
