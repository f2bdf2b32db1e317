"""What a turn is given and what it gives back: values only, no rows.

A runtime (`script`, `model`) takes a `TurnRequest`, works through a `Computer`, reports each step
to a `StepSink` as it ends, and returns one `TurnOutcome`. It never raises for something that
belongs on the run's row; `TurnInterrupted` from the sink passes through untouched.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

from billing.prices import Price

if TYPE_CHECKING:
    from routines_app.agents.connectors import OpenApps
    from routines_app.agents.kept import KeptTurn, Talk


class StepKind(StrEnum):
    """What a step was; the run page draws each in its own way."""

    WOKE = "woke"  # the machine woke, or was awake
    CHECK = "check"  # the zero-token check ran
    SAID = "said"  # text from the model
    RAN = "ran"  # a command on the machine
    READ = "read"  # a file was read
    WROTE = "wrote"  # a file was written
    EDITED = "edited"  # a text in a file was replaced
    LISTED = "listed"  # a folder was listed
    SEARCHED = "searched"  # a folder's files were searched
    FETCHED = "fetched"  # a page was read from the web
    WAITED = "waited"  # the agent's own timer ran
    CALLED = "called"  # a tool of an app was called
    FINISHED = "finished"  # the agent called finish, or the script's last line said so
    NOTE = "note"  # a remark of ours: a retry, a limit reached


@dataclass(frozen=True)
class NewStep:
    """One step of a turn, ready to be stored.

    `title` is one line (a command, a path, the first line of text); `content` is bounded text;
    `cost` is micro-dollars: a request's cost sits on the first step that came of it, so that the
    steps' costs add up to what the turn spent. `seconds` is wall time; `facts` holds small JSON
    values such as `exit_code`, `lines`, `input_tokens`; where `content` was written for the model,
    `told` is why: "wrongly" (it called a tool so), "unwilling" (the tool didn't do it).
    """

    kind: StepKind
    title: str
    content: str = ""
    cost: int = 0
    seconds: float = 0.0
    facts: dict[str, object] = field(default_factory=dict)


class TurnInterrupted(Exception):
    """The turn has to end now: someone pressed Stop, the runner drains, or its claim is lost.

    `partial` is the command that was ended by it, with what it had printed; None: none ran.
    """

    partial: "CommandResult | None" = None


class StepSink(Protocol):
    """Where a turn reports. Each method raises TurnInterrupted when the turn has to end."""

    def begin(self, kind: StepKind, title: str) -> None:
        """Tell what begins now, before it may have an effect: a request, a command, a file.

        Until the next `record` it's the step that is open; should the turn die, that is shown
        as a step whose outcome nobody knows.
        """

    def record(self, step: NewStep) -> None:
        """Store one ended step; none is open then. Its cost is already in what `spent` told."""

    def spent(self, micro: int, usage: "Usage") -> None:
        """Tell the run's spending so far (absolute, micro-dollars): after each request to a model,
        before its steps, and once more when a request is broken off by an interruption."""

    def streaming(self, text: str) -> None:
        """Tell the text of the answer that is coming in, as far as it has come. It stands in place
        of the open step until the next `record`. Each call is a write: once a second is enough."""

    def printed(self, text: str, before: int) -> None:
        """Tell the newest part of what the open step's command has printed, and how many characters
        came before it. It stands beside the open step until the next `record`; a write each."""

    def check(self) -> None:
        """Raise TurnInterrupted when the turn has to end. Cheap: call it often (each 0.5 s)."""


@dataclass(frozen=True)
class CommandResult:
    """How one command ended. `output` is stdout and stderr as they came, cut at the bound.

    `reason`: exit (it ended; see `exit_code`), timeout, output (cut at the bound), oom,
    disk (it was ended because the disk is full), cancelled.
    A command ended by signal N has `exit_code` 128 + N.
    """

    exit_code: int
    reason: Literal["exit", "timeout", "output", "oom", "disk", "cancelled"]
    output: str
    stderr: str
    seconds: float


class ComputerRefused(Exception):
    """The machine refused one call: no such file, too large, outside home. The turn can go on.

    Its text is the reason, a sentence that a person or a model can act on.
    """


class NotThere(ComputerRefused):
    """The machine has no such file or folder."""


class ComputerFailed(Exception):
    """The machine itself failed, so the turn can't go on. Its text is the reason, a sentence.

    `partial` is the command that was lost with it, with what it had printed; None: none ran.
    """

    partial: CommandResult | None = None

    def __init__(self, variant: Literal["memory", "disk", "silent"], reason: str) -> None:
        super().__init__(reason)
        self.variant = variant


class Computer(Protocol):
    """One machine, as a turn may use it. Paths may start with `~`; all stay beneath home.

    Each method is called on the thread that took the turn, and raises ComputerRefused or
    ComputerFailed, nothing else of its own.
    """

    name: str

    def run(
        self,
        argv: list[str],
        *,
        cwd: str,
        timeout: float,
        check: Callable[[], None],
        heard: Callable[[bytes], None] | None = None,
        max_output: int = 200_000,
    ) -> CommandResult:
        """Run one command to its end, creating `cwd` if it isn't there.

        Calls `check` at least each 0.5 s meanwhile, however much the command prints; whatever that
        raises ends the command and passes through, with `partial` set if it is a TurnInterrupted.
        Calls `heard` with each piece of both outputs as it comes, up to the bound; all of it has
        been heard when this returns. Both are called on the thread that called.
        """

    def read_file(self, path: str, max_bytes: int = 1_000_000) -> bytes: ...
    def write_file(self, path: str, data: bytes) -> None: ...
    def list_files(self, path: str) -> "Iterator[FileEntry]": ...


@dataclass(frozen=True)
class FileEntry:
    """One name in a folder. `size` in bytes, `modified` in Unix seconds."""

    path: str
    kind: Literal["file", "folder", "link", "other"]
    size: int
    modified: float


@dataclass(frozen=True)
class ModelConnection:
    """How to reach a model: whose wire format, where, with which key.

    `base_url` None means the provider's own address. `openai-compatible` needs one.
    `nearby`: it may be on this computer or its private network, as where one owner runs it all.
    """

    provider: Literal["anthropic", "openai", "google", "openai-compatible"]
    api_key: str
    base_url: str | None = None
    nearby: bool = False


@dataclass(frozen=True)
class ModelChoice:
    """A model that a turn may use, with the price that its cap is kept by; None: it won't run."""

    connection: ModelConnection
    name: str
    price: Price | None


@dataclass(frozen=True)
class Usage:
    """Tokens so far, as the provider counted them."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0


@dataclass(frozen=True)
class TurnRequest:
    """All that a turn needs. Money in micro-dollars, time in seconds.

    `folder` is where it works (`~/routines/<slug>`), `state` the text of its state.md at the
    start, `model` None for a script. `tools` are the names of those that it may use, None: all;
    `finish` is always among them. `apps` are those that it may call, whose tools come after its
    own. `spent` and `usage` are what the run has used before the turn,
    beneath the same cap. `earlier` are the turns that its conversation goes on from, the oldest
    first; None: it starts fresh, and leaves nothing.
    """

    run_id: str
    routine_name: str
    instructions: str
    folder: str
    state: str
    cap: int
    seconds: float
    max_steps: int = 100
    persona: str = ""
    model: ModelChoice | None = None
    tools: tuple[str, ...] | None = None
    spent: int = 0
    usage: Usage = field(default_factory=Usage)
    apps: "OpenApps | None" = None
    earlier: "tuple[KeptTurn, ...] | None" = None


@dataclass(frozen=True)
class TurnOutcome:
    """How a turn ended.

    `code` is a status code of `rules.status.RunStatus` (done_changed, done_unchanged, stop_cost,
    stop_time, fail_model, fail_tool, fail_script, fail_agent, fail_empty, fail_machine).
    `headline` may be empty: it left no summary. `spent` is micro-dollars, absolute.

    `facts` are what its sentence needs. stop_cost, stop_time, fail_machine: `doing`, the step it
    was at as a participle ("running make"); stop_time: `variant` "seconds" or "steps";
    fail_machine: `variant` "memory", "disk", "silent" or "refused", and `reason`. fail_model:
    `variant`, a predicate for "The model …" ("said no"), and `reason`, the provider's words.
    fail_tool: `variant`, who refused, as a sentence begins with it, `reason`, one line in its own
    words, and `what` it was (`refused_calls.What`).
    fail_script: `exit_code`, `last_line`. fail_agent: `reason`. fail_empty: `variant`, a predicate
    for "It …" (those of `fruitless`; none: it produced nothing), and `reason`, one sentence more.

    `talk` is what it leaves for later runs, None where nothing of it goes on.
    """

    code: str
    changed: bool
    headline: str
    body: str
    spent: int
    usage: Usage
    facts: dict[str, object] = field(default_factory=dict)
    talk: "Talk | None" = None


class Runtime(Protocol):
    """One way to do a turn."""

    def take_turn(
        self, request: TurnRequest, computer: Computer, steps: StepSink
    ) -> TurnOutcome: ...
