"""Runs of the story, each brought to its row by the queue, the door and the runner themselves."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from routines_app.admission import admit
from routines_app.admission.admit import Ready
from routines_app.delivery import deliver
from routines_app.fires import Claim, claim_fire
from routines_app.management.demo.outcomes import Act, Outcome
from routines_app.management.demo.play import course_of, ending_of, steps_of, takes_a_turn
from routines_app.management.demo.played import Played
from routines_app.models import Delivery, Run
from routines_app.rules.status import RunStatus
from routines_app.runner import record
from routines_app.runner.ending import Ending
from routines_app.runner.stop import ask_to_stop

if TYPE_CHECKING:
    from routines_app.management.demo.story import Story

WORKER = "seed_demo"
_LEAST = timedelta(seconds=1)


class Untold(Exception):
    """The product didn't do what the story says; the transaction takes all of it back."""


def must(done: bool) -> None:
    """Raise Untold unless it was done."""
    if not done:
        raise Untold("A run of the demo isn't where the story left it.")


def play(
    story: Story,
    played: Played,
    fire_id: int,
    run_id: int,
    asked: datetime,
    due: datetime,
    outcome: Outcome,
) -> None:
    """Take the fire, bring its run to its row and ring for it, as `outcome` says."""
    for act in outcome.acts:
        story.hand.to(due + timedelta(seconds=act.after))
        story.act(played, act)
    began = begins(story, played, asked, outcome)
    story.hand.to(began)
    claim = claim_fire(fire_id, WORKER)
    if claim is None:
        raise Untold(f"{played.part.name} wasn't free at {due:%Y-%m-%d %H:%M}.")
    if outcome.begins or outcome.at_the_door:
        ready = admit(claim)
        if isinstance(ready, Ready):
            ended = _run(story, played, claim, ready.run, began, outcome)
        else:
            assert ready is not None
            ended = _refuse(story, claim, began, Ending(ready.status, ready.facts))
    else:
        facts = dict(outcome.facts)
        if outcome.status is RunStatus.SKIP_OVERLAP:
            facts = _overlapped(story, played, run_id)
        ended = _refuse(story, claim, began, Ending(outcome.status, facts, ours=outcome.ours))
    deliver_now(story, run_id, ended)
    for act in outcome.later:
        story.plan(due + timedelta(seconds=act.after), lambda a=act: story.act(played, a))  # type: ignore[misc]


def begins(story: Story, played: Played, asked: datetime, outcome: Outcome) -> datetime:
    """When a runner takes it: its machine does one run at a time."""
    began = asked + timedelta(seconds=outcome.lag)
    free = story.free.get(played.machine_id)
    if outcome.begins and free is not None:
        began = max(began, free)
    return max(min(began, story.now - 3 * _LEAST), asked)


def _overlapped(story: Story, played: Played, run_id: int) -> dict[str, object]:
    other = played.routine.runs.exclude(pk=run_id).order_by("-number").first()
    assert other is not None
    return {"other_number": other.number, "other_at": other.queued_at.isoformat()}


def _refuse(story: Story, claim: Claim, began: datetime, ending: Ending) -> datetime:
    ended = began + timedelta(milliseconds=80)
    story.hand.to(ended)
    must(record.finish(claim, ending))
    return ended


def _run(
    story: Story, played: Played, claim: Claim, run: Run, began: datetime, outcome: Outcome
) -> datetime:
    at = course_of(outcome, began, story.now)
    story.hand.to(at.awake)
    must(record.awake(claim))
    first = RunStatus.RUNNING if outcome.check is None else RunStatus.CHECKING
    must(record.begin_effects(claim, first, played.memory))
    if outcome.check is not None and takes_a_turn(outcome):
        story.hand.to(at.turn)
        must(record.checked(claim))
    machine, check = run.snapshot["machine"], run.snapshot["check"]
    story.steps += steps_of(run.pk, machine, check, outcome, at)
    story.hand.to(at.ended)
    if outcome.status is RunStatus.STOP_PERSON:
        ask_to_stop(run, story.colleague)
    if outcome.status is RunStatus.STOP_DELETED:
        story.act(played, Act("delete", 0))
    must(record.finish(claim, ending_of(played, outcome, at.ended)))
    story.free[played.machine_id] = at.ended
    return at.ended


def deliver_now(story: Story, run_id: int, ended: datetime) -> None:
    """Carry out what the outbox holds of this run."""
    for delivery in Delivery.objects.filter(run_id=run_id, state="waiting"):
        story.hand.to(min(ended + _LEAST, story.now))
        deliver(delivery.pk)
