"""What a run's conversation goes on from, where its routine keeps one, and what it leaves."""

from dataclasses import dataclass, replace

from billing.prices import Price, cost_of
from routines_app.agents.kept import KeptTurn, going_on, read_talk, size_of
from routines_app.agents.opening import budget_of, opening_of
from routines_app.agents.turn import (
    NewStep,
    StepKind,
    TurnInterrupted,
    TurnOutcome,
    TurnRequest,
    Usage,
)
from routines_app.models import Conversation, Run
from routines_app.rules.talk import about_tokens, runs_words
from routines_app.runner import record
from routines_app.runner.ending import LeftBehind
from routines_app.runner.lease import Why
from routines_app.runner.patience import patiently
from routines_app.runner.steps import StoredSteps


@dataclass(frozen=True)
class Beginning:
    """Where a continued run begins: the conversation's edition, and the turns that go on."""

    edition: int
    turns: tuple[KeptTurn, ...]


def go_on(
    request: TurnRequest, run: Run, steps: StoredSteps
) -> tuple[TurnRequest, Beginning | None]:
    """The turn as one that goes on from those before it; unchanged where the run starts fresh.

    The run notes from how many it goes on, and a step says so where some are left out. Raises
    TurnInterrupted when the run has to end, or isn't ours any more.
    """
    price = request.model.price if request.model else None
    if run.snapshot.get("conversation") != "continued" or price is None:
        return request, None
    kept = patiently(lambda: Conversation.objects.filter(pk=run.routine_id).first())
    turns: tuple[KeptTurn, ...] = ()
    if kept is not None:
        rows = patiently(lambda: list(kept.turns.order_by("number").values_list("number", "talk")))
        turns = tuple(KeptTurn(number, read_talk(text)) for number, text in rows)
    whole = replace(request, earlier=turns)
    stay = going_on(turns, budget_of(whole, opening_of(whole), price))
    left_out = len(turns) - len(stay)
    noted: dict[str, object] = {"runs": len(stay), "size": size_of(stay), "left_out": left_out}
    if kept is not None and not turns and kept.anew_at is not None:
        noted["anew_by"] = str(kept.anew_by or "somebody")
    run.snapshot = {**run.snapshot, "talk": noted}
    if not patiently(lambda: record.note_snapshot(steps.claim, run.snapshot)):
        steps.lease.why = Why.LOST
        raise TurnInterrupted(Why.LOST)
    if left_out:
        steps.record(NewStep(StepKind.NOTE, _left_out_words(left_out, len(stay)), facts=noted))
    edition = kept.edition if kept is not None else 0
    return replace(request, earlier=stay), Beginning(edition, stay)


def left_by(
    outcome: TurnOutcome, began: Beginning | None, request: TurnRequest, run: Run
) -> LeftBehind | None:
    """What a turn that ended leaves for later runs; None: nothing goes on.

    A run that was stopped, or broke off, has no outcome and so leaves nothing: it ended in the
    middle of something whose end nobody knows, which no later run should build on.
    """
    if began is None or outcome.talk is None or request.model is None:
        return None
    price = request.model.price
    assert price is not None  # without one no conversation is begun
    return LeftBehind(
        edition=began.edition,
        oldest=began.turns[0].number if began.turns else run.number,
        text=outcome.talk.as_text(),
        size=outcome.talk.weight[0],
        reread=reread_cost(size_of(began.turns), price, request.usage, outcome.usage),
    )


def reread_cost(size: int, price: Price, before: Usage, after: Usage) -> int:
    """About what earlier turns of `size` bytes added to a turn's cost, in micro-dollars: each
    request read them once, from the cache as often as the rest of what it read."""
    requests = after.requests - before.requests
    read = after.input_tokens - before.input_tokens
    if requests <= 0 or read <= 0:
        return 0
    tokens = min(about_tokens(size), read // requests)
    cached = tokens * (after.cached_tokens - before.cached_tokens) // read
    return requests * cost_of(price, input_tokens=tokens, output_tokens=0, cached=cached)


def _left_out_words(left_out: int, stay: int) -> str:
    """What its step says of the runs that don't go on."""
    what = f"The oldest {runs_words(left_out)}" if left_out > 1 else "The oldest run"
    rest = f"it goes on from {runs_words(stay)}" if stay else "it starts without them"
    return f"{what} left the conversation, which was too long for its bounds or its cap: {rest}"
