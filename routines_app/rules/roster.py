"""The seven agents that each workspace comes with, the tools that an agent may be given, and how
deep it thinks, as data."""

from dataclasses import dataclass
from enum import StrEnum


class Tier(StrEnum):
    """How an agent thinks, as a word that a workspace's models give a meaning to."""

    FAST = "fast"
    BALANCED = "balanced"
    DEEP = "deep"


@dataclass(frozen=True)
class ToolGroup:
    """Tools that are given together: `tools` are their names as a model calls them.

    `short` is for lists, such as "Commands, files".
    """

    code: str
    name: str
    does: str
    short: str
    tools: tuple[str, ...]


TOOL_GROUPS = (
    ToolGroup(
        "commands",
        "Run commands",
        "Changes things, on the machine",
        "commands",
        ("run_command",),
    ),
    ToolGroup("read", "Read files", "Reads", "files", ("read_file", "list_files")),
    ToolGroup(
        "write",
        "Write and edit files",
        "Changes things, on the machine",
        "files",
        ("write_file", "edit_file"),
    ),
    ToolGroup("search", "Search files", "Reads", "files", ("search_files",)),
    ToolGroup("web", "Fetch web pages", "Reads", "web", ("fetch_url",)),
    ToolGroup(
        "timer",
        "Set itself a timer",
        "Changes things, within one run; it ends with the run",
        "a timer",
        ("schedule",),
    ),
)
ALL_TOOLS = tuple(tool for group in TOOL_GROUPS for tool in group.tools)


def tools_of(*codes: str) -> tuple[str, ...]:
    """The tools of the groups with these codes, in the order of `TOOL_GROUPS`."""
    return tuple(tool for group in TOOL_GROUPS if group.code in codes for tool in group.tools)


def groups_of(tools: tuple[str, ...]) -> tuple[ToolGroup, ...]:
    """The groups of which at least one tool is among `tools`."""
    return tuple(group for group in TOOL_GROUPS if set(group.tools) & set(tools))


def tools_in_words(tools: tuple[str, ...]) -> str:
    """What an agent may use, in a few words.

    >>> tools_in_words(tools_of("commands", "read", "write"))
    'Commands, files'
    >>> tools_in_words(ALL_TOOLS), tools_in_words(())
    ('Every tool', 'Nothing')
    """
    if set(ALL_TOOLS) <= set(tools):
        return "Every tool"
    words = list(dict.fromkeys(group.short for group in groups_of(tools)))
    said = ", ".join(words) or "nothing"
    return said[:1].upper() + said[1:]


@dataclass(frozen=True)
class Member:
    """One of the seven. `tier` None: it needs no model, so it runs the routine's own command."""

    slug: str
    name: str
    purpose: str
    persona: str
    tools: tuple[str, ...]
    tier: Tier | None


ASSISTANT = "assistant"

THE_SEVEN = (
    Member(
        ASSISTANT,
        "Assistant",
        "Works out who is needed, and does small things itself.",
        "You are Assistant. You do what is asked in the fewest steps that do it well, and nothing "
        "beside it. Where the instructions leave something open, take the plainest reading and "
        "say in the body which one you took.",
        ALL_TOOLS,
        Tier.BALANCED,
    ),
    Member(
        "researcher",
        "Researcher",
        "Reads pages and files, compares with last time, reports in a line.",
        "You are Researcher. Compare what is there now with what state.md says was there before. "
        "Report the differences, the most important first, each with where you saw it. Never "
        "guess a figure: say that you couldn’t find it. A page that didn’t load isn’t a page "
        "without news; say which one it was. When nothing differs, finish with changed false.",
        tools_of("read", "write", "search", "web"),
        Tier.BALANCED,
    ),
    Member(
        "developer",
        "Developer",
        "Works in a repository: reads, changes, tests; never merges or pushes unasked.",
        "You are Developer. Read the code around a change before you make it, and keep to its "
        "style. Make the smallest change that does the job, and run the tests that cover it "
        "before you finish. Never merge, push, publish or rewrite history unless the instructions "
        "say so in words. Report what you changed by file, what you ran and what it printed; a "
        "test that you didn’t run is one that you name.",
        ALL_TOOLS,
        Tier.DEEP,
    ),
    Member(
        "analyst",
        "Analyst",
        "Adds up what is in files and says what moved.",
        "You are Analyst. Compute with a command or a short script, never in your head, and check "
        "each total a second way. Say what moved since last time, by how much and against what. "
        "Give figures with their unit and their date. Name the rows that you left out and why. "
        "Where data is missing, say so; never fill a gap with an estimate.",
        tools_of("commands", "read", "write", "search"),
        Tier.BALANCED,
    ),
    Member(
        "writer",
        "Writer",
        "Turns notes into something a person would send.",
        "You are Writer. Say the main thing in the first sentence. Use short sentences, plain "
        "words, and the names and figures of the material; add none of your own. Keep the tone "
        "that the instructions ask for, and if they ask for none, write as to a colleague. No "
        "headings for less than a screen of text, and no closing phrases.",
        tools_of("read", "write", "search"),
        Tier.BALANCED,
    ),
    Member(
        "operator",
        "Operator",
        "Looks after services: restarts, cleans up, checks again.",
        "You are Operator. Look before you act: measure, then do the one thing that the "
        "instructions allow for what you found, then measure again. Never delete what you can’t "
        "name, and never do twice what didn’t work once. If something is wrong that the "
        "instructions don’t cover, change nothing and report it. Give each figure before and "
        "after.",
        tools_of("commands", "read", "write", "search", "web", "timer"),
        Tier.FAST,
    ),
    Member(
        "script",
        "Script",
        "Runs your command and reports what it printed. No model.",
        "",
        tools_of("commands"),
        None,
    ),
)


def member_of(slug: str) -> Member | None:
    """The one of the seven that comes with this slug."""
    return next((member for member in THE_SEVEN if member.slug == slug), None)
