"""A model's turn: ask, do what it calls for on the machine, until it finishes or a limit is met.

Before each request the worst that it can cost must fit beneath the cap; otherwise the turn ends
there.
"""

from billing.prices import Price
from foundation import clock
from foundation.failpoints import failpoint
from routines_app.agents.answer import Called, Reply, Said
from routines_app.agents.asking import Answered, Asking, CapReached, GivenUp, TimeUp
from routines_app.agents.budget import MAX_OUTPUT, bytes_of
from routines_app.agents.fruitless import (
    EMPTY,
    HELD_BACK,
    NOTHING,
    REFUSED,
    WARNED_AT,
    WARNING,
    Progress,
    without_result,
)
from routines_app.agents.interrupted import keep_what_was_printed
from routines_app.agents.journal import Journal
from routines_app.agents.kept import TalkKeeper
from routines_app.agents.line import Conversation, ModelLine
from routines_app.agents.offered import FINISH
from routines_app.agents.opening import Opening, budget_of
from routines_app.agents.refused_calls import LastCalls
from routines_app.agents.tools import (
    doing,
    opened,
    read_finish,
    use_tool,
)
from routines_app.agents.turn import (
    NewStep,
    StepKind,
    StepSink,
    TurnInterrupted,
    TurnOutcome,
    TurnRequest,
)
from routines_app.agents.wording import (
    BODY,
    first_sentence,
    middle_cut,
    one_line,
    says_nothing,
    says_nothing_changed,
)
from routines_app.agents.workplace import BadArguments, Workplace

CUT = "Your answer was cut off at the limit on one answer, so it wasn't used. Use smaller pieces."
NOT_JSON = "Its arguments weren't a JSON object, so nothing was done. Call it again."


class ModelTurn:
    """One turn of a model in progress, once nothing keeps it from beginning."""

    def __init__(
        self,
        request: TurnRequest,
        price: Price,
        place: Workplace,
        steps: StepSink,
        line: ModelLine,
        opening: Opening,
        pauses: tuple[float, ...],
    ) -> None:
        self._most_steps = request.max_steps
        self._steps = steps
        self._ends_at = place.ends_at
        self._place = place
        self._tools = opening.tools
        self._progress = Progress()
        self._last_calls = LastCalls()
        self._effect = False
        self._budget = budget_of(request, opening, price)
        self._journal = Journal(steps, self._budget)
        self._asking = Asking(
            line,
            self._budget,
            self._journal,
            pauses=pauses,
            tick=self._tick,
            ends_at=self._ends_at,
        )
        earlier = request.earlier or ()
        self._talk = Conversation(opening.system, opening.first, earlier)
        self._keeper = None if request.earlier is None else TalkKeeper(request.instructions)
        for turn in earlier:
            self._budget.add_text(*turn.talk.weight)

    def take(self) -> TurnOutcome:
        """Ask and act until there's an outcome."""
        try:
            outcome = None
            while outcome is None:
                self._tick()
                if self._journal.recorded >= self._most_steps:
                    return self._stopped("stop_time", variant="steps")
                outcome = self._act(self._asking.answer(self._talk))
            return outcome
        except CapReached:
            return self._stopped("stop_cost", next_worst=self._budget.worst_of_next())
        except TimeUp:
            return self._stopped("stop_time", variant="seconds")

    def _tick(self) -> None:
        self._steps.check()
        if clock.monotonic() >= self._ends_at:
            raise TimeUp

    def _act(self, answer: Answered | GivenUp) -> TurnOutcome | None:
        """Do what an answer calls for; an outcome when it ends the turn."""
        if isinstance(answer, GivenUp):
            facts: dict[str, object] = {"variant": answer.variant, "reason": answer.reason}
            return self._outcome("fail_model", body=answer.partial, facts=facts)
        reply = answer.reply
        if self._keeper:
            self._keeper.answered(reply)
        if reply.cut and answer.reservation.max_tokens < MAX_OUTPUT:
            # The cap cut it short: what's there is half a thought, or half a call.
            self._show_texts(reply)
            return self._stopped("stop_cost")
        results: list[tuple[Called, str]] = []
        for place, part in enumerate(reply.parts):
            if self._journal.recorded >= self._most_steps:
                return self._stopped("stop_time", variant="steps")
            if isinstance(part, Said):
                self._journal.said(part.text)
                continue
            told = self._call(part, cut=reply.cut)
            if isinstance(told, TurnOutcome):
                return told
            results.append((part, told))
            if self._keeper:
                self._keeper.told(place, told)
        if not results and not reply.cut:
            return self._ended_in_text(reply)
        self._progress.answered(cut=reply.cut)
        if self._progress.over:
            facts = self._progress.facts()
            self._journal.note(f"It {facts['variant']}, so it was ended", str(facts["reason"]))
            return self._outcome("fail_empty", body=reply.text, facts=facts)
        if not results:
            self._cut_at_the_limit(reply)
            return None
        if self._progress.repeats >= WARNED_AT:
            call, told = results[-1]
            results[-1] = (call, f"{WARNING}\n{told}")
        self._talk.hear(reply)
        self._talk.tell(results)
        self._budget.add_text(bytes_of(*(text for _, text in results)), parts=len(results))
        return None

    def _cut_at_the_limit(self, reply: Reply) -> None:
        """Ask for smaller pieces: an answer was too long for one, and held no whole call."""
        self._journal.note("Its answer was cut off at the limit on one answer")
        if reply.parts:
            self._talk.hear(reply)
        self._talk.prompt(CUT)
        self._budget.add_text(bytes_of(CUT))
        if self._keeper:
            self._keeper.prompted(CUT)

    def _call(self, call: Called, *, cut: bool) -> str | TurnOutcome:
        self._tick()
        if call.arguments is None:
            self._journal.note(f"{call.name} was called wrongly")
            if not cut:
                self._progress.called(call.name, None, NOT_JSON)
            return CUT if cut else NOT_JSON
        if call.name == FINISH:
            return self._finish(call.arguments)
        self._journal.doing = doing(call.name, call.arguments)
        self._journal.begin(*opened(call.name, call.arguments))
        try:
            result = use_tool(call.name, call.arguments, self._place, self._tools)
        except TurnInterrupted as interruption:
            step = opened(call.name, call.arguments)
            keep_what_was_printed(self._journal.record, interruption, *step)
            raise
        failpoint("tool.before")
        self._journal.record(result.step)
        failpoint("tool.after")
        if result.failed is not None:
            return self._stopped(
                "fail_machine", variant=result.failed.variant, reason=str(result.failed)
            )
        if result.refused is not None and result.over and clock.monotonic() < self._ends_at:
            return self._stopped("fail_tool", **result.refused.facts)
        self._last_calls.called(result.refused)
        self._effect = self._effect or result.effect
        done = result.step
        self._progress.called(call.name, call.arguments, result.told, done.title, done.seconds)
        return result.told

    def _finish(self, arguments: dict[str, object]) -> str | TurnOutcome:
        try:
            finish = read_finish(arguments)
        except BadArguments as error:
            self._journal.note("finish was called wrongly", str(error), told="wrongly")
            self._progress.called(FINISH, arguments, str(error))
            return str(error)
        title = (
            finish.blocked or finish.headline or ("Done" if finish.changed else "Nothing changed")
        )
        self._journal.record(
            NewStep(
                StepKind.FINISHED,
                one_line(title),
                middle_cut(finish.body),
                facts={"changed": finish.changed},
            )
        )
        if finish.blocked:
            return self._outcome("fail_agent", body=finish.body, facts={"reason": finish.blocked})
        return self._ended(finish.changed, finish.headline, finish.body)

    def _ended(self, changed: bool, headline: str, body: str) -> TurnOutcome:
        """An ending by the model itself, judged by what it has to show for it."""
        lacks = without_result(headline, body)
        if lacks == REFUSED or (lacks == NOTHING and changed and not self._effect):
            return self._came_to_nothing(lacks, body or headline)
        code = "done_changed" if changed else "done_unchanged"
        said = "" if says_nothing(headline) else headline
        return self._outcome(code, headline=said or first_sentence(body), body=body)

    def _ended_in_text(self, reply: Reply) -> TurnOutcome:
        text = reply.text
        if reply.refused or (says_nothing(text) and not self._effect):
            variant = REFUSED if reply.refused else EMPTY
            self._journal.note(f"The model {variant}")
            return self._came_to_nothing(variant, text, HELD_BACK if reply.refused else "")
        if says_nothing_changed(text):
            return self._outcome("done_unchanged")
        if self._journal.owes:
            self._journal.note("The model ended without a word")
        return self._ended(True, first_sentence(text), text)

    def _came_to_nothing(self, variant: str, body: str, reason: str = "") -> TurnOutcome:
        """An ending with nothing to show: whose fault it was, if one tool refused its last calls
        and the model itself didn't decline."""
        refused = self._last_calls.by_one_tool
        if refused is None or variant == REFUSED:
            facts: dict[str, object] = {"variant": variant}
            if reason:
                facts["reason"] = reason
            return self._outcome("fail_empty", body=body, facts=facts)
        return self._outcome("fail_tool", body=body, facts=refused.facts)

    def _show_texts(self, reply: Reply) -> None:
        for part in reply.parts:
            if isinstance(part, Said):
                self._journal.said(part.text)
        if self._journal.owes:
            self._journal.note("Its answer was cut short by the cap")

    def _stopped(self, code: str, **facts: object) -> TurnOutcome:
        if self._journal.owes:
            self._journal.note("A request was broken off")
        return self._outcome(code, facts={"doing": self._journal.doing, **facts})

    def _outcome(
        self,
        code: str,
        *,
        headline: str = "",
        body: str = "",
        facts: dict[str, object] | None = None,
    ) -> TurnOutcome:
        return TurnOutcome(
            code=code,
            changed=code == "done_changed",
            headline=headline,
            body=middle_cut(body, BODY),
            spent=self._budget.spent,
            usage=self._budget.usage,
            facts=facts or {},
            talk=self._keeper.talk(code) if self._keeper else None,
        )
