"""Scripted providers: each way in which one may behave, in each wire format, with the status in
which a turn with it has to end."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from routines_app.agents.model import ModelRuntime
from tests.agents.support import PROVIDERS, KeptSteps, choice_of, request
from tests.fakes.computer import FolderComputer
from tests.fakes.model_provider import (
    Answer,
    Fail,
    FakeProvider,
    Garbage,
    Hang,
    Meter,
    Move,
    Redirect,
    Script,
    call,
    finish,
)
from tests.fakes.model_wire import Seen

RATES = (1.0, 1.7, 2.9, 4.0)  # bytes for one token
CAPS = (2_000, 4_000, 8_000, 20_000, 45_000, 80_000, 120_000, 200_000, 300_000, 450_000)
AMPLE = 20_000_000


@dataclass(frozen=True)
class Scripted:
    """One provider, and the status in which a turn with it ends.

    `script` makes its script anew; `silence` and `longest` are seconds.
    """

    shape: str
    wire: str
    script: Callable[[], Script]
    status: str
    rate: float = 4.0
    cap: int = AMPLE
    silence: float = 30.0
    longest: float = 60.0
    shares: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Played:
    """How a turn with one provider ended; money in micro-dollars, `billed` by its own meter."""

    scripted: Scripted
    status: str
    spent: int
    billed: int
    steps_cost: int
    requests: int
    problems: tuple[str, ...] = field(default=())

    @property
    def faults(self) -> list[str]:
        """What isn't as it has to be; none, where all is well."""
        wanted, cap = self.scripted.status, self.scripted.cap
        found = list(self.problems)
        if self.status != wanted:
            found.append(f"it ended as {self.status}, not {wanted}")
        if self.spent > cap:
            found.append(f"it spent {self.spent} of {cap}")
        if self.billed > self.spent:
            found.append(f"{self.billed} was billed and {self.spent} counted")
        if self.steps_cost != self.spent:
            found.append(f"its steps cost {self.steps_cost}, and it spent {self.spent}")
        return found


def play(scripted: Scripted, home: Path, fake: FakeProvider | None = None) -> Played:
    """Take one turn with a provider. `fake` is one that runs already; its meter begins anew."""
    if fake is None:
        with FakeProvider() as fresh:
            return play(scripted, home, fresh)
    cached, written = scripted.shares
    fake.meter = Meter(scripted.rate, cached_share=cached, written_share=written)
    fake.script = scripted.script()
    fake.seen.clear()
    steps = KeptSteps()
    runtime = ModelRuntime(pauses=(0.01, 0.01), silence=scripted.silence, longest=scripted.longest)
    wanted = request(
        model=choice_of(fake, scripted.wire), cap=scripted.cap, seconds=120.0, max_steps=500
    )
    outcome = runtime.take_turn(wanted, FolderComputer(home), steps)
    problems, fake.problems = tuple(map(repr, fake.problems)), []
    return Played(
        scripted,
        outcome.code,
        outcome.spent,
        fake.meter.billed,
        steps.cost,
        len(fake.seen),
        problems,
    )


def spender() -> Script:
    """It talks to its limit, reads much, calls a lot at once, and thinks where nobody sees it."""
    numbers = itertools.count()

    def script(seen: Seen) -> Move:
        number = next(numbers)
        match number % 4:
            case 0:
                return call("run_command", command=f"seq {2_000 + number}")
            case 1:
                again = ("run_command", {"command": f"seq {number}"})
                return Answer(text="And another thing. " * 400, calls=(again,))
            case 2:
                return Answer(thinking=3_000, calls=(("read_file", {"path": "big"}),) * 3)
            case _:
                return call("write_file", path="big", text=f"{number}" + 'é"\\\n' * 3_000)

    return script


def always(move: Move) -> Callable[[], Script]:
    return lambda: lambda seen: move


def first(*moves: Move) -> Callable[[], Script]:
    """These, and then it finishes."""
    return lambda: list(moves)


def _rate_limit(wait: str | None, message: str = "Slow down.") -> Fail:
    return Fail(429, message, headers={} if wait is None else {"retry-after": wait})


LONG = Answer(text="word " * 9_000)
LOOK = call("run_command", command="ls")
HANG = {"silence": 0.6, "longest": 1.5}

# Shape, script, status; each in every wire format and at every rate.
_SHAPES: tuple[tuple[str, Callable[[], Script], str], ...] = (
    ("finishes at once", first(), "done_changed"),
    ("an answer up to the limit, then finishes", first(LONG), "done_changed"),
    ("each answer up to the limit", always(LONG), "fail_empty"),
    ("thinks up to the limit, unseen", always(Answer(thinking=9_000)), "fail_empty"),
    ("500 once, after the work", first(Fail(500, billed=True)), "done_changed"),
    ("500 always, after the work", always(Fail(500, billed=True)), "fail_model"),
    ("429 with retry-after, then well", first(_rate_limit("0")), "done_changed"),
    ("429 with retry-after past the limit", always(_rate_limit("3600")), "fail_model"),
    ("429 without retry-after, then well", first(_rate_limit(None)), "done_changed"),
    ("429 without retry-after, always", always(_rate_limit(None)), "fail_model"),
    ("429 for a spending limit", always(_rate_limit(None, "Spend limit reached.")), "fail_model"),
    ("no usage", first(replace(finish(), counted=False)), "fail_model"),
    ("no usage in a later answer", first(LOOK, replace(finish(), counted=False)), "fail_model"),
    ("an empty answer", first(Answer()), "fail_empty"),
    ("the same call for ever", always(LOOK), "fail_empty"),
)
_ERRORS = (400, 401, 403, 404, 413, 422)
_OVERLOADS = (502, 503, 529)
_HANGS: tuple[tuple[str, Callable[[], Script], str], ...] = (
    ("silent for ever", always(Hang(20.0)), "fail_model"),
    ("silent once, then well", first(Hang(20.0)), "done_changed"),
    ("heartbeats for ever", always(Hang(20.0, beats=True)), "fail_model"),
)
_ODD: tuple[tuple[str, Callable[[], Script], str], ...] = (
    ("a redirect", always(Redirect("http://127.0.0.1:9/")), "fail_model"),
    ("not of the format", always(Garbage()), "fail_model"),
    ("an empty stream", always(Garbage(b"")), "fail_model"),
)


def five_hundred() -> list[Scripted]:
    """All the shapes, in an order of their own."""
    return list(_all())


def _all() -> Iterator[Scripted]:
    for wire, rate in itertools.product(PROVIDERS, RATES):
        for shape, script, status in _SHAPES:
            yield Scripted(shape, wire, script, status, rate)
        for cap in CAPS:
            yield Scripted("spends without end", wire, spender, "stop_cost", rate, cap)
        yield Scripted(
            "spends without end, from its cache",
            wire, spender, "stop_cost", rate, 60_000, shares=(0.5, 0.5),
        )  # fmt: skip
    for wire in PROVIDERS:
        for status in _ERRORS:
            yield Scripted(f"answers {status}", wire, always(Fail(status)), "fail_model")
        for status in _OVERLOADS:
            overloaded = always(Fail(status))
            yield Scripted(f"answers {status} always", wire, overloaded, "fail_model")
        for shape, script, ended in (*_HANGS, *_ODD):
            limits = HANG if (shape, script, ended) in _HANGS else {}
            for rate in (1.0, 4.0):
                yield Scripted(shape, wire, script, ended, rate, **limits)
        for shape, script, ended in _HANGS:
            yield Scripted(shape, wire, script, ended, 2.0, **HANG)


# One answer of each format, cut at each of its bytes: what closes it, which no cut before it may
# be taken for a whole answer.
CLOSING = {
    "anthropic": b'"stop_reason": "tool_use"',
    "openai": b'"type": "response.completed"',
    "google": b'"finishReason"',
    "openai-compatible": b'"usage": {',
}
CUT = "cut at every byte of one answer"


def whole_stream(wire: str, home: Path) -> bytes:
    """The bytes of the answer that is cut, as a format sends them."""
    with FakeProvider() as fake:
        streams: list[bytes] = []
        fake.watch = streams.append
        played = play(Scripted(CUT, wire, first(), "done_changed"), home, fake)
    assert not played.faults
    return streams[0]


def cut_at(byte: int, wire: str, status: str) -> Scripted:
    """A provider whose one answer ends after so many bytes."""
    return Scripted(CUT, wire, always(replace(finish(), cut_byte=byte)), status)
