"""What a turn tells its sink: steps in order, each request's cost on the first step it led to."""

from dataclasses import replace

from routines_app.agents.budget import Tokens, TurnBudget
from routines_app.agents.turn import NewStep, StepKind, StepSink
from routines_app.agents.wording import middle_cut, one_line


class Journal:
    """Records one turn's steps. `doing` is what the turn is at, as a participle."""

    def __init__(self, steps: StepSink, budget: TurnBudget) -> None:
        self._steps = steps
        self._budget = budget
        self._owed = 0  # micro-dollars that no step has carried yet
        self._facts: dict[str, object] = {}
        self.recorded = 0
        self.doing = "reading its instructions"

    @property
    def owes(self) -> bool:
        """Whether money was spent that no step has carried yet."""
        return self._owed > 0

    def count(self, micro: int, tokens: Tokens | None = None) -> None:
        """Keep what a request cost for the next step. Tells the sink nothing yet."""
        self._owed += micro
        if tokens is not None:
            self._facts = {
                "input_tokens": tokens.input,
                "cached_tokens": tokens.cached,
                "output_tokens": tokens.output,
            }

    def tell_spent(self) -> None:
        """Tell the sink what the turn has spent so far."""
        self._steps.spent(self._budget.spent, self._budget.usage)

    def begin(self, kind: StepKind, title: str) -> None:
        """Tell the sink what begins now."""
        self._steps.begin(kind, title)

    def streaming(self, text: str) -> None:
        """Tell the sink the text that is coming in."""
        self._steps.streaming(text)

    def record(self, step: NewStep) -> None:
        """Store a step; the first one after a request carries its cost and its tokens."""
        whole = replace(step, cost=self._owed, facts={**step.facts, **self._facts})
        self._owed, self._facts = 0, {}
        self.recorded += 1
        self._steps.record(whole)

    def said(self, text: str) -> None:
        """Store a text of the model."""
        self.doing = "thinking"
        self.record(NewStep(StepKind.SAID, one_line(text), middle_cut(text)))

    def note(self, title: str, content: str = "", *, told: str = "") -> None:
        """Store a remark of ours. `told`: why the model was told `content`, as `NewStep` says."""
        facts: dict[str, object] = {"told": told} if told else {}
        self.record(NewStep(StepKind.NOTE, one_line(title), content, facts=facts))
