"""Giving a turn to whoever Assistant picks, when a routine names nobody."""

from dataclasses import replace

from foundation import database_clock
from routines_app.admission.admit import Ready
from routines_app.agents.routing import pick
from routines_app.agents.turn import TurnInterrupted, TurnRequest
from routines_app.models import ModelKey
from routines_app.runner import record
from routines_app.runner.lease import Why
from routines_app.runner.patience import patiently
from routines_app.runner.steps import StoredSteps


def hand_over(request: TurnRequest, ready: Ready, steps: StoredSteps) -> TurnRequest:
    """The turn as the agent takes it that Assistant picks: its instructions, tools and model, with
    what asking has cost counted on. The run notes whose turn it is.

    Raises TurnInterrupted when the run has to end, or isn't ours any more.
    """
    run = ready.run
    picked = pick(request, ready.candidates[0], ready.candidates, steps)
    who = picked.candidate
    run.snapshot = {
        **run.snapshot,
        "agent": who.name,
        "agent_version": who.version,
        "persona": who.persona,
        "tools": list(who.tools),
        "model": f"{who.choice.connection.provider}/{who.choice.name}",
        "picked_by": ready.candidates[0].name,
        "picked_because": picked.reason,
    }
    if not patiently(lambda: record.note_snapshot(steps.claim, run.snapshot)):
        steps.lease.why = Why.LOST
        raise TurnInterrupted(Why.LOST)
    note_use(who.key_id)
    return replace(
        request,
        persona=who.persona,
        tools=who.tools,
        model=who.choice,
        spent=picked.spent,
        usage=picked.usage,
        seconds=max(request.seconds - picked.seconds, 0.0),
    )


def note_use(key_id: int | None) -> None:
    """Note that a workspace's own key is used now; None: it's the environment's."""
    if key_id is not None:
        ModelKey.objects.filter(pk=key_id).update(used_at=database_clock.now())
