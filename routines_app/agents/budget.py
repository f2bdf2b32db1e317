"""The cost cap of one turn: what is spent plus the worst case of the next request must fit.

No request goes out that could cross the cap. A tokenizer makes at most one token of a byte, so
bytes bound tokens. The first request is bounded by the bytes of all that it holds; each later
one by the provider's own count of the one before, plus the bytes of what is new.
"""

import json
from dataclasses import dataclass, replace

from billing.prices import Price, cost_of, output_within, worst_cost_of
from routines_app.agents.turn import Usage

# What a provider adds unseen: its tool preamble, the marks around messages.
SLACK_FIRST = 1_500  # tokens
SLACK_PART = 192  # tokens for each new part of the conversation

# The longest answer that is asked for, and the shortest that is worth paying for.
MAX_OUTPUT = 8_192  # tokens
MIN_OUTPUT = 128  # tokens


@dataclass(frozen=True)
class Tokens:
    """One request's tokens as its provider counted them; `cached` and `written` are of `input`."""

    input: int
    output: int
    cached: int = 0
    written: int = 0


@dataclass(frozen=True)
class Reservation:
    """Room for one request: at most so many tokens each way, which cost at most `worst`."""

    input_tokens: int
    max_tokens: int
    worst: int


def bytes_of(*texts: str) -> int:
    """A bound on the tokens of texts as they are sent: their bytes as JSON strings."""
    return sum(len(json.dumps(text)) for text in texts)


class TurnBudget:
    """Keeps one turn's spending under its cap. Micro-dollars; used by one thread.

    `spent` and `usage` are what the run has used before it: both are counted on.
    """

    def __init__(self, cap: int, price: Price, spent: int = 0, usage: Usage | None = None) -> None:
        self.cap = cap
        self.price = price
        self.spent = spent
        self.usage = usage or Usage()
        self._input_bound = SLACK_FIRST

    @property
    def input_bound(self) -> int:
        """The most tokens that the next request can hold."""
        return self._input_bound

    @property
    def left(self) -> int:
        """Micro-dollars that are left once the smallest useful next request has cost its worst."""
        return self.cap - self.spent - self.worst_of_next()

    def add_text(self, tokens: int, parts: int = 1) -> None:
        """Count new parts of the conversation that the next request will hold."""
        self._input_bound += tokens + SLACK_PART * parts

    def reserve(self, most_output: int = MAX_OUTPUT) -> Reservation | None:
        """Room for the next request, or None: too little is left for a useful answer."""
        fits = output_within(self.price, input_tokens=self._input_bound, left=self.cap - self.spent)
        max_tokens = min(fits, most_output)
        if max_tokens < min(MIN_OUTPUT, most_output):
            return None
        worst = worst_cost_of(self.price, input_tokens=self._input_bound, output_tokens=max_tokens)
        return Reservation(self._input_bound, max_tokens, worst)

    def worst_of_next(self) -> int:
        """The most that the smallest useful next request could cost."""
        return worst_cost_of(self.price, input_tokens=self._input_bound, output_tokens=MIN_OUTPUT)

    def charge(self, tokens: Tokens, answer_bytes: int, parts: int = 1) -> int:
        """Count an answered request at what it cost, and return that.

        `answer_bytes` bounds the answer, in `parts`, as it will be sent back; the provider's own
        count stands where it's higher, since an answer may hold reasoning that isn't shown.
        """
        cost = cost_of(
            self.price,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cached=tokens.cached,
            written=tokens.written,
        )
        self.spent += cost
        self._input_bound = tokens.input + max(tokens.output, answer_bytes)
        self.add_text(0, parts=parts + 1)
        self.usage = replace(
            self.usage,
            input_tokens=self.usage.input_tokens + tokens.input,
            cached_tokens=self.usage.cached_tokens + tokens.cached,
            output_tokens=self.usage.output_tokens + tokens.output,
            requests=self.usage.requests + 1,
        )
        return cost

    def charge_worst(self, reservation: Reservation) -> int:
        """Count a request whose cost isn't known at the most that it can be, and return that."""
        self.spent += reservation.worst
        self.usage = replace(self.usage, requests=self.usage.requests + 1)
        return reservation.worst

    def count_refused(self) -> None:
        """Count a request that its provider refused before doing any work: it costs nothing."""
        self.usage = replace(self.usage, requests=self.usage.requests + 1)
