"""Giving a turn to whoever Assistant picks, when a routine names nobody."""

from dataclasses import replace

from foundation import database_clock
from routines_app.admission.admit import Ready
from routines_app.agents.routing import pick
from routines_app.agents.turn import TurnInterrupted, TurnRequest
from routines_app.configure.apps import offered_json
from routines_app.models import ModelKey
from routines_app.runner import record
from routines_app.runner.lease import Why
from routines_app.runner.patience import patiently
from routines_app.runner.steps import StoredSteps


def hand_over(request: TurnRequest, ready: Ready, steps: StoredSteps) -> TurnRequest:
    """The turn as the agent takes it that Assistant picks: its instructions, tools, apps and model,
    with what asking has cost counted on. The run notes whose turn it is.

    Raises TurnInterrupted when the run has to end, or isn't ours any more.
    """
    run, among = ready.run, ready.candidates
    assert among is not None and among.able  # admission refuses a run that nobody may do
    picked = pick(request, among, steps)
    who = picked.candidate
    if request.apps is not None:
        request.apps.narrow(who.allowed)
    run.snapshot = {
        **run.snapshot,
        "agent": who.name,
        "agent_version": who.version,
        "persona": who.persona,
        "tools": list(who.tools),
        "model": f"{who.choice.connection.provider}/{who.choice.name}",
        "picked_by": among.asked.name,
        "picked_because": picked.reason,
        "offered": offered_json(run.routine, ready.apps, who.allowed),
    }
    if not patiently(lambda: record.note_picked(steps.claim, run.snapshot, who.agent_id)):
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
