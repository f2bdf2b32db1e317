"""Working out who is needed: one small request, within the run's cap, that names an agent.

What it costs is the run's, kept by the same budget and asked by the same code as a turn's
requests. Where no name can be read from the answer, whoever was asked does the work itself, or the
first who may, where that one may not use an app that the work requires.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from foundation import clock
from routines_app.agents.answer import Reply, Said
from routines_app.agents.asking import Answered, Asking, CapReached, TimeUp
from routines_app.agents.budget import TurnBudget, bytes_of
from routines_app.agents.journal import Journal
from routines_app.agents.line import Conversation, ModelLine
from routines_app.agents.turn import (
    ModelChoice,
    NewStep,
    StepKind,
    StepSink,
    TurnRequest,
    Usage,
)
from routines_app.agents.wording import middle_cut, one_line
from routines_app.rules.allowed import Allowed

SECONDS = 60.0  # for the whole of it
MOST_OUTPUT = 1_024  # tokens: enough for a model that reasons before it says a word
TOLD = 4_000  # characters of the routine's instructions that it reads
REASON = 160  # characters

SYSTEM = """\
You decide which agent does a piece of work. You don't do the work.

Answer with one line and nothing else: the agent's name exactly as it is written in the list, a \
colon, and the reason in at most twelve words, such as:
Writer: it turns notes into a letter

Choose the one whose purpose fits best. If none fits better than another, choose {else_who}.

The agents:
{agents}"""


@dataclass(frozen=True)
class Candidate:
    """An agent that may be picked, with all that its turn would need; `choice` is its model.

    `allowed` are the apps that it may use at most, `agent_id` its row.
    """

    slug: str
    name: str
    version: int
    purpose: str
    persona: str
    tools: tuple[str, ...]
    choice: ModelChoice
    key_id: int | None = None  # the key that its model is reached with, None for the environment's
    allowed: Allowed = None
    agent_id: int | None = None


@dataclass(frozen=True)
class Candidates:
    """Who is asked, and who may be picked: `able`, the one first that does it if nobody is named.

    `needs`: the required apps, in words, because of which somebody isn't among `able`; "" when
    nobody had to be left out. `able` may be empty then, and so nobody can do the work.
    """

    asked: Candidate
    able: tuple[Candidate, ...]
    needs: str = ""


@dataclass(frozen=True)
class Picked:
    """Who does the work, and what asking has cost. `reason` "" when nothing could be read.

    `seconds` is how long it took; `spent` and `usage` are the run's so far.
    """

    candidate: Candidate
    reason: str
    spent: int
    usage: Usage
    seconds: float


def pick(request: TurnRequest, among: Candidates, steps: StepSink) -> Picked:
    """Ask who is needed of those who may be picked, of whom there is one at least; a step says who
    and why.

    Nothing is asked when there's nobody to choose from. Raises only TurnInterrupted.
    """
    asked, able = among.asked, among.able
    if len(able) == 1 or asked.choice.price is None:
        return _without_asking(request, among, steps)
    began = clock.monotonic()
    system, first = _system(able), _first(request)
    budget = TurnBudget(request.cap, asked.choice.price, request.spent, request.usage)
    budget.add_text(bytes_of(system, first), parts=2)
    journal = Journal(steps, budget)
    ends_at = began + min(SECONDS, request.seconds)
    with ModelLine(asked.choice.connection, asked.choice.name, (), longest=SECONDS) as line:
        asking = Asking(
            line,
            budget,
            journal,
            pauses=(),
            tick=_until(ends_at, steps),
            ends_at=ends_at,
            most_output=MOST_OUTPUT,
        )
        picked, reason, unread = _answer(asking, system, first, able)
    who = picked or able[0]
    title = f"{asked.name} picked {who.name}: {reason}" if picked else _does_it(asked, who, unread)
    seconds = clock.monotonic() - began
    journal.record(replace(_picked_step(who, title, reason), seconds=seconds))
    return Picked(who, reason, budget.spent, budget.usage, clock.monotonic() - began)


def _without_asking(request: TurnRequest, among: Candidates, steps: StepSink) -> Picked:
    """Who does it where there is nothing to ask; a step says so where an app is the reason."""
    asked, who = among.asked, among.able[0]
    reason = f"only it may use {among.needs}" if among.needs and len(among.able) == 1 else ""
    if reason:
        itself = f"no other agent may use {among.needs}"
        title = (
            _does_it(asked, who, itself)
            if who.slug == asked.slug
            else f"{asked.name} picked {who.name}: {reason}"
        )
        steps.record(_picked_step(who, title, reason))
    return Picked(who, reason, request.spent, request.usage, 0.0)


def _does_it(asked: Candidate, who: Candidate, why: str) -> str:
    itself = " itself" if who.slug == asked.slug else ""
    return f"{who.name} does it{itself}: {why}"


def _picked_step(who: Candidate, title: str, reason: str) -> NewStep:
    facts: dict[str, object] = {"picked": who.slug, "version": who.version, "reason": reason}
    return NewStep(StepKind.NOTE, one_line(title), facts=facts)


def _answer(
    asking: Asking, system: str, first: str, candidates: tuple[Candidate, ...]
) -> tuple[Candidate | None, str, str]:
    """Who was named and why; or None, and why nobody could be read."""
    try:
        answer = asking.answer(Conversation(system, first))
    except CapReached:
        return None, "", "the cap leaves no room to ask who is needed"
    except TimeUp:
        return None, "", "no time was left to ask who is needed"
    if not isinstance(answer, Answered):
        return None, "", "the question who is needed got no answer"
    found = read_pick(_text(answer.reply), [each.name for each in candidates])
    if found is None:
        return None, "", "its answer named none of the agents"
    name, reason = found
    return next(each for each in candidates if each.name == name), reason, ""


def read_pick(text: str, names: list[str]) -> tuple[str, str] | None:
    """The name that an answer begins with, and the reason after it; None when it names none.

    Case and marks don't matter; a name inside a sentence doesn't count.

    >>> read_pick("**analyst**: It's about numbers.", ["Analyst", "Writer"])
    ('Analyst', "it's about numbers")
    >>> read_pick("I would ask Analyst.", ["Analyst"]) is None
    True
    """
    line = one_line(text, 1_000).lstrip("#>*-_`\"“' \t")
    for name in sorted(names, key=len, reverse=True):
        match = re.match(rf"{re.escape(name)}(?!\w)[\s*_`\"”':,.–—-]*", line, re.IGNORECASE)
        if match:
            reason = one_line(line[match.end() :].strip("*_` "), REASON).rstrip(".")
            return name, _small(reason) or "it fits best"
    return None


def _small(reason: str) -> str:
    """A reason as it goes on after a colon: "It's about …" begins small, "SQL …" doesn't."""
    first, _, _ = reason.partition(" ")
    return reason[:1].lower() + reason[1:] if first[1:] == first[1:].lower() else reason


def _system(able: tuple[Candidate, ...]) -> str:
    agents = "\n".join(f"- {each.name}: {one_line(each.purpose)}" for each in able)
    return SYSTEM.format(else_who=able[0].name, agents=agents)


def _first(request: TurnRequest) -> str:
    told = middle_cut(request.instructions.strip(), TOLD)
    return f"The work is called {request.routine_name}. Its instructions:\n{told}"


def _text(reply: Reply) -> str:
    return "\n".join(part.text for part in reply.parts if isinstance(part, Said)).strip()


def _until(ends_at: float, steps: StepSink) -> Callable[[], None]:
    def tick() -> None:
        steps.check()
        if clock.monotonic() >= ends_at:
            raise TimeUp

    return tick
