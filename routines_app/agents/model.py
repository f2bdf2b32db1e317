"""The model runtime: what keeps a turn from beginning, and the line to the model that it's given.

A request that brings no answer is tried twice more, each try counted at its worst case unless its
provider turned it away.
"""

from foundation import clock
from routines_app.agents.guarded import Judge, judge_of_pages
from routines_app.agents.line import LONGEST, SILENCE, ModelLine
from routines_app.agents.model_turn import ModelTurn
from routines_app.agents.opening import opening_of
from routines_app.agents.turn import (
    Computer,
    StepSink,
    TurnOutcome,
    TurnRequest,
    Usage,
)
from routines_app.agents.workplace import Workplace

PAUSES = (1.0, 4.0)  # seconds before the second and third try, unless the provider names its own


class ModelRuntime:
    """Takes a turn with a model.

    `silence` and `longest` are seconds: without a byte, and for one answer. `pauses` are the
    seconds before each further try, so their number is the number of retries. `judge` says which
    pages of the web a tool may read.
    """

    def __init__(
        self,
        *,
        silence: float = SILENCE,
        longest: float = LONGEST,
        pauses: tuple[float, ...] = PAUSES,
        judge: Judge = judge_of_pages,
    ) -> None:
        self._silence = silence
        self._longest = longest
        self._pauses = pauses
        self._judge = judge

    def take_turn(self, request: TurnRequest, computer: Computer, steps: StepSink) -> TurnOutcome:
        """Work until the model finishes or a limit is met. Raises only TurnInterrupted."""
        steps.check()
        choice = request.model
        if choice is None:
            return _refused("isn't chosen", "Choose a model for this routine.")
        if choice.price is None:
            return _refused(
                "has no price", f"Give {choice.name} a price: no cap holds without one."
            )
        opening = opening_of(request)
        tools = opening.tools
        ends_at = clock.monotonic() + request.seconds
        place = Workplace(
            computer,
            request.folder,
            ends_at,
            steps.check,
            self._judge,
            request.apps,
            steps.printed,
        )
        with ModelLine(
            choice.connection, choice.name, tools, silence=self._silence, longest=self._longest
        ) as line:
            return ModelTurn(
                request, choice.price, place, steps, line, opening, self._pauses
            ).take()


def _refused(variant: str, reason: str) -> TurnOutcome:
    facts: dict[str, object] = {"variant": variant, "reason": reason}
    return TurnOutcome("fail_model", False, "", "", 0, Usage(), facts)
