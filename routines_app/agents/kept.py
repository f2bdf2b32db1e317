"""A conversation that goes on from run to run: what a turn leaves, and how the next one is told it.

What is kept belongs to no provider: what was said, called, and told. It is cut to what a later
run may need, once, when its turn ends: from then on it is the same bytes in each request, which
providers can serve from their cache. A tool's result stays between the data marks that it had.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from billing.prices import MILLION, worst_cost_of
from routines_app.agents.answer import Called, Reply, Said
from routines_app.agents.budget import MIN_OUTPUT, SLACK_PART, TurnBudget, bytes_of
from routines_app.agents.wording import middle_cut, storable
from routines_app.rules.talk import MOST_BYTES, how_many_to_drop

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

TOLD = 2_000  # characters of one result that stay
SAID = 4_000  # characters of one text that stay
ASKED = 1_000  # characters of the instructions that a run had
ARGUMENTS = 4_000  # characters of one call's arguments, as JSON
LONGEST = 40_000  # tokens of one turn at most, as the cap counts them
SHARE = 4  # the part of what is left beneath the cap that the first request may risk on it: 1/4
DEEPEST = 20  # levels of a call's arguments

OVER = "The run ended here."
ENDED_BY_ITSELF = ("done_changed", "done_unchanged", "fail_agent", "stop_cost", "stop_time")


@dataclass(frozen=True)
class KeptCall:
    """One tool call with what the model was told of it."""

    name: str
    arguments: dict[str, object]
    told: str


@dataclass(frozen=True)
class Exchange:
    """One answer of the model, and what was said to it afterwards besides its calls' results."""

    parts: tuple[Said | KeptCall, ...]
    prompted: str = ""


@dataclass(frozen=True)
class Talk:
    """What one turn leaves: what it was asked, and each answer with what came of it."""

    asked: str
    exchanges: tuple[Exchange, ...]

    @property
    def weight(self) -> tuple[int, int]:
        """(a bound on its tokens as it's sent, in bytes; in how many parts)."""
        texts = list(_texts(self))
        return bytes_of(*texts), len(texts)

    @property
    def bound(self) -> int:
        """The most tokens that a request holds of it, as the cap counts them."""
        size, parts = self.weight
        return size + SLACK_PART * parts

    def as_text(self) -> str:
        """As it is stored; `read_talk` reads it."""
        exchanges = [
            {"parts": [_part_json(part) for part in each.parts], "prompted": each.prompted}
            for each in self.exchanges
        ]
        return json.dumps({"asked": self.asked, "exchanges": exchanges})


@dataclass(frozen=True)
class KeptTurn:
    """A turn that goes on into later runs; `number` is its run's."""

    number: int
    talk: Talk


class TalkKeeper:
    """Keeps one turn's talk while it goes on."""

    def __init__(self, instructions: str) -> None:
        self._asked = middle_cut(instructions.strip(), ASKED)
        self._exchanges: list[Exchange] = []

    def answered(self, reply: Reply) -> None:
        """Keep an answer; each of its calls counts as not done until its result is told."""
        parts = tuple(
            Said(middle_cut(part.text, SAID))
            if isinstance(part, Said)
            else KeptCall(part.name, _plain_arguments(part), OVER)
            for part in reply.parts
        )
        if parts:
            self._exchanges.append(Exchange(parts))

    def told(self, place: int, text: str) -> None:
        """Keep what the model was told of one part of its last answer."""
        last = self._exchanges[-1]
        call = last.parts[place]
        assert isinstance(call, KeptCall)  # only calls have results
        parts = (*last.parts[:place], replace(call, told=middle_cut(text, TOLD)))
        self._exchanges[-1] = replace(last, parts=(*parts, *last.parts[place + 1 :]))

    def prompted(self, text: str) -> None:
        """Keep one thing more that was said from the person's side."""
        if self._exchanges:
            self._exchanges[-1] = replace(self._exchanges[-1], prompted=text)

    def talk(self, code: str) -> Talk | None:
        """What the turn leaves that ended as `code`; None: nothing goes on.

        A turn goes on where the model ended it itself or a limit did. One that failed, refused or
        went round in circles would only teach the next run to do so again.
        """
        if code not in ENDED_BY_ITSELF or not self._exchanges:
            return None
        talk = Talk(self._asked, tuple(self._exchanges))
        left_out = 0
        while talk.bound > LONGEST and len(talk.exchanges) > 1:
            left_out += 1
            said = f"{self._asked}\n\n(Its first {left_out} answers are left out here.)"
            talk = Talk(said, talk.exchanges[1:])
        return talk if talk.bound <= LONGEST else None


def read_talk(text: str) -> Talk:
    """A talk as `Talk.as_text` wrote it."""
    stored = json.loads(text)
    return Talk(
        stored["asked"],
        tuple(
            Exchange(tuple(_part_of(part) for part in each["parts"]), each["prompted"])
            for each in stored["exchanges"]
        ),
    )


def size_of(turns: tuple[KeptTurn, ...]) -> int:
    """Bytes of these turns, which bound their tokens."""
    return sum(turn.talk.weight[0] for turn in turns)


def going_on(turns: tuple[KeptTurn, ...], budget: TurnBudget) -> tuple[KeptTurn, ...]:
    """Those of the kept turns, the oldest first, that a turn goes on from; `budget` counts all
    else that its first request holds. The work itself needs the greater part of the cap."""
    price, room = budget.price, budget.left // SHARE
    dearest = max(price.input, price.cache_write or 0, price.cached_input or 0)
    most = room * MILLION // dearest if dearest else MOST_BYTES
    kept = turns[how_many_to_drop([turn.talk.bound for turn in turns], most) :]
    while kept and _adds_at_worst(kept, budget) > room:
        kept = kept[1:]  # a price that rises with a request's length
    return kept


def _adds_at_worst(turns: tuple[KeptTurn, ...], budget: TurnBudget) -> int:
    whole = budget.input_bound + sum(turn.talk.bound for turn in turns)
    worst = worst_cost_of(budget.price, input_tokens=whole, output_tokens=MIN_OUTPUT)
    return worst - budget.worst_of_next()


def as_messages(turns: tuple[KeptTurn, ...], system: str, first: str) -> "list[ModelMessage]":
    """The messages that a turn begins with: the system prompt, the kept turns, its first message.

    What a call is known by is made from its run's number, whoever the provider was: the same in
    each later run, unique among them, and such as every provider takes.
    """
    from pydantic_ai.messages import (
        ModelRequest,
        ModelRequestPart,
        ModelResponse,
        ModelResponsePart,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    messages: list[ModelMessage] = []
    asking: list[ModelRequestPart] = [SystemPromptPart(system)]
    for turn in turns:
        asking.append(UserPromptPart(_asked_words(turn)))
        place = 0
        for each in turn.talk.exchanges:
            messages.append(ModelRequest(parts=asking))
            answer: list[ModelResponsePart] = []
            asking = []
            for part in each.parts:
                if isinstance(part, Said):
                    answer.append(TextPart(part.text))
                    continue
                place += 1
                known = f"r{turn.number % 10_000:04}{place % 10_000:04}"
                answer.append(ToolCallPart(part.name, part.arguments, tool_call_id=known))
                asking.append(
                    ToolReturnPart(tool_name=part.name, content=part.told, tool_call_id=known)
                )
            if each.prompted:
                asking.append(UserPromptPart(each.prompted))
            messages.append(ModelResponse(parts=answer))
    messages.append(ModelRequest(parts=[*asking, UserPromptPart(first)]))
    return messages


def _asked_words(turn: KeptTurn) -> str:
    return f"Run {turn.number}, which is over. Its instructions were:\n{turn.talk.asked}"


def _texts(talk: Talk) -> Iterator[str]:
    yield _asked_words(KeptTurn(1_000_000_000, talk))
    for each in talk.exchanges:
        for part in each.parts:
            if isinstance(part, Said):
                yield part.text
            else:
                yield f"{part.name}{json.dumps(part.arguments)}"
                yield f"{part.name}{part.told}"
        if each.prompted:
            yield each.prompted


def _part_json(part: Said | KeptCall) -> dict[str, object]:
    if isinstance(part, Said):
        return {"said": part.text}
    return {"called": part.name, "arguments": part.arguments, "told": part.told}


def _part_of(stored: dict[str, Any]) -> Said | KeptCall:
    if "said" in stored:
        return Said(stored["said"])
    return KeptCall(stored["called"], stored["arguments"], stored["told"])


def _plain_arguments(call: Called) -> dict[str, object]:
    """A call's arguments, cut; none of them where they are still too long, or no JSON at all."""
    found = _plain(call.arguments or {}, DEEPEST)
    if not isinstance(found, dict) or len(json.dumps(found, ensure_ascii=False)) > ARGUMENTS:
        return {"left_out": f"These arguments were longer than {ARGUMENTS:,} characters."}
    return found


def _plain(value: object, levels: int) -> object:
    """A JSON value without what no request can carry: half surrogates, NaN, endless depth."""
    if levels == 0:
        return "…"
    match value:
        case str():
            return middle_cut(value, TOLD // 2)
        case dict():
            return {storable(str(name)): _plain(each, levels - 1) for name, each in value.items()}
        case list():
            return [_plain(each, levels - 1) for each in value]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        case _:
            return value
