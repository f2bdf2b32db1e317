"""Getting an answer: one request, and further tries, each within the cap and the deadline."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from foundation import clock
from foundation.failpoints import failpoint
from routines_app.agents.answer import Reply
from routines_app.agents.budget import MAX_OUTPUT, Reservation, TurnBudget
from routines_app.agents.journal import Journal
from routines_app.agents.line import TICK, Conversation, ModelLine
from routines_app.agents.trouble import NO_ANSWER, Trouble
from routines_app.agents.turn import StepKind, TurnInterrupted
from routines_app.rules.said import full_stop

SHOWN_EACH = 1.0  # seconds between two looks at a text that is coming in
TRIES = {1: "one try", 2: "two tries", 3: "three tries"}
TIMES = {1: "once", 2: "twice", 3: "three times"}


class TimeUp(Exception):
    """The turn's own time ran out while it waited."""


@dataclass(frozen=True)
class Answered:
    """An answer, and the room that its request had."""

    reply: Reply
    reservation: Reservation


@dataclass(frozen=True)
class GivenUp:
    """No answer came. `variant` is a predicate for "The model …", `reason` in its provider's
    words, `partial` the text that had come.
    """

    variant: str
    reason: str
    partial: str


class CapReached(Exception):
    """Too little is left beneath the cap for a first try."""


class Asking:
    """Asks one turn's questions. `pauses` are the seconds before each further try.

    `tick` is called while it waits; it raises TurnInterrupted or TimeUp, which pass through.
    `ends_at` is by `clock.monotonic`, `most_output` the tokens that an answer may have.
    """

    def __init__(
        self,
        line: ModelLine,
        budget: TurnBudget,
        journal: Journal,
        *,
        pauses: tuple[float, ...],
        tick: Callable[[], None],
        ends_at: float,
        most_output: int = MAX_OUTPUT,
    ) -> None:
        self._line = line
        self._budget = budget
        self._journal = journal
        self._pauses = pauses
        self._tick = tick
        self._ends_at = ends_at
        self._shown = 0  # characters of the answer that is coming in
        self._shown_at = 0.0
        self._most_output = most_output

    def answer(self, talk: Conversation) -> Answered | GivenUp:
        """The model's answer to a conversation, or why there's none.

        Raises CapReached when the first try has no room.
        """
        reservation = self._budget.reserve(self._most_output)
        if reservation is None:
            raise CapReached
        troubles: list[Trouble] = []
        for pause in (*self._pauses, None):
            answer = self._try(talk, reservation)
            if isinstance(answer, Reply):
                return Answered(answer, reservation)
            troubles.append(answer)
            if not answer.again or pause is None:
                return given_up(troubles)
            wait = pause if answer.wait is None else answer.wait
            if clock.monotonic() + wait >= self._ends_at:
                return given_up(troubles, f"No time is left to try again in {wait:.0f}s.")
            self._pause(wait)
            further = self._budget.reserve(self._most_output)
            if further is None:
                return given_up(troubles, "The cap leaves no room for another try.")
            reservation = further
        raise AssertionError("The last try always returns.")

    def _try(self, talk: Conversation, reservation: Reservation) -> Reply | Trouble:
        self._journal.begin(StepKind.NOTE, "Asking the model")
        self._shown = 0
        try:
            answer = self._line.ask(talk, reservation.max_tokens, self._listen)
        except TurnInterrupted:
            self._count_broken_off(reservation)
            # A sink says so to each call once a turn has to end; the first one stands.
            with suppress(TurnInterrupted):
                self._journal.tell_spent()
            raise
        except TimeUp:
            self._count_broken_off(reservation)
            self._journal.tell_spent()
            raise
        if isinstance(answer, Trouble):
            self._note(answer, reservation)
            return answer
        cost = self._budget.charge(answer.tokens, answer.heft, len(answer.parts))
        self._journal.count(cost, answer.tokens)
        failpoint("model.before")
        self._journal.tell_spent()
        failpoint("model.after")
        return answer

    def _listen(self) -> None:
        """While an answer comes in: look whether the turn has to end, and show the text so far."""
        self._tick()
        now = clock.monotonic()
        if now < self._shown_at + SHOWN_EACH:
            return
        heard = self._line.heard
        if len(heard.strip()) > self._shown:
            self._shown_at, self._shown = now, len(heard.strip())
            self._journal.streaming(heard.strip())

    def _count_broken_off(self, reservation: Reservation) -> None:
        # What was sent will be billed, however little of the answer was heard.
        if self._line.exchange.began is not None:
            self._journal.count(self._budget.charge_worst(reservation))

    def _note(self, trouble: Trouble, reservation: Reservation) -> None:
        if trouble.paid:
            self._journal.count(self._budget.charge_worst(reservation))
        else:
            self._budget.count_refused()
        self._journal.tell_spent()
        if trouble.partial.strip():
            self._journal.said(trouble.partial)
        self._journal.note(f"The model {trouble.variant}", trouble.reason)

    def _pause(self, seconds: float) -> None:
        until = clock.monotonic() + seconds
        while (left := until - clock.monotonic()) > 0:
            self._tick()
            time.sleep(min(TICK, left))


def given_up(troubles: list[Trouble], more: str = "") -> GivenUp:
    """What is said of all tries, by the last; that nothing came, only where nothing ever did."""
    last, tries = troubles[-1], len(troubles)
    said = next((each for each in reversed(troubles) if each.variant != NO_ANSWER), last)
    same = sum(each.variant == said.variant for each in troubles)
    if not last.again:
        variant = last.variant
    elif said.variant == NO_ANSWER:
        variant = f"{NO_ANSWER} after {TRIES.get(tries, f'{tries} tries')}"
    else:
        variant, last = f"{said.variant} {TIMES.get(same, f'{same} times')}", said
    reason = f"{full_stop(last.reason)} {more}" if more else last.reason
    return GivenUp(variant, reason.strip(), troubles[-1].partial)
