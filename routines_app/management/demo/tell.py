"""The whole demo: its weeks, and what goes on in it at this moment."""

import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from accounts.models import User, Workspace
from billing.models import Account
from routines_app.admission import admit
from routines_app.admission.admit import Ready
from routines_app.agents.turn import NewStep, StepKind, Usage
from routines_app.delivery.attention import mark_read
from routines_app.fires import claim_fire
from routines_app.management.demo import cast, machines, works
from routines_app.management.demo.at_work import WORKER, must
from routines_app.management.demo.hand import Hand
from routines_app.management.demo.outcomes import Act, Outcome
from routines_app.management.demo.story import SEED, Story
from routines_app.management.demo.transcript import Work
from routines_app.models import Fire, Notice, Routine, Step
from routines_app.producers.manual import run_it_now
from routines_app.rules.status import RunStatus
from routines_app.runner import record
from routines_app.runner.lease import LeaseKeeper
from routines_app.runner.steps import StoredSteps

LEASE = timedelta(hours=2)
"""How long the run that goes on is left in peace: nobody works on it."""
UNREAD = timedelta(hours=36)
BUDGET = 60_000_000  # micro-dollars a month


def tell_demo(
    workspace: Workspace, guest: User, colleague: User, hand: Hand, now: datetime
) -> Story:
    """Six weeks up to `now`. Raises MachineError or OSError when a machine can't be made."""
    story = Story(workspace, guest, colleague, hand, now)
    for part in cast.PARTS:
        story.begin(part)
    story.plan_outage([cast.TEMPERATURES.name, cast.BACKUP_PART.name, cast.INTERLIBRARY.name])
    _by_people(story)
    story.plan(
        story.at(33, 16, 10),
        lambda: story.act(story.played[cast.SUMMER.name], Act("off", 0, False)),
    )
    story.tell()
    Step.objects.bulk_create(story.steps, batch_size=2_000)
    machines.furnish_disks(story)
    hand.to(story.at(2, 3, 0))
    machines.put_into_cold_storage(story)
    hand.to(now)
    _what_goes_on(story)
    machines.note_wakings(story)
    Account.objects.filter(workspace=workspace).update(monthly_budget=BUDGET)
    old = Notice.objects.filter(workspace=workspace, rung_at__lt=now - UNREAD)
    for person in (guest, colleague):
        mark_read(old, person)
    return story


def _by_people(story: Story) -> None:
    """What people asked for, beside the schedules."""
    now, name = story.now, cast.DONATIONS.name
    cold: dict[str, object] = {
        "machine": cast.ATTIC,
        "reason": f"{cast.ATTIC} is in cold storage. Restore it first.",
    }
    stopped = {"person": str(story.colleague)}
    half = Work(works.donations(Random(SEED), now).lines[:3])
    for when, who, outcome in (
        (story.at(38, 11, 5), True, None),
        (story.at(27, 15, 40), False, None),
        (
            story.at(13, 10, 22),
            True,
            Outcome(RunStatus.STOP_PERSON, stopped, seconds=41, work=half),
        ),
        (story.at(13, 10, 31), True, None),
        (story.at(8, 16, 2), False, _refused(RunStatus.SKIP_TOO_FREQUENT, {"by_person": True})),
        (story.at(5, 12, 14), True, None),
    ):
        story.asked_for(name, when, who, outcome)
    story.asked_for(
        cast.SUMMER.name, story.at(1, 15, 30), True, _refused(RunStatus.SKIP_COLD, cold)
    )
    story.asked_for(cast.SCANNER.name, now - timedelta(hours=3), True, None)
    deleted = Outcome(RunStatus.STOP_DELETED, seconds=20)
    story.asked_for(cast.LAPTOPS.name, story.at(20, 15, 12), True, deleted)


def _refused(status: RunStatus, facts: dict[str, object]) -> Outcome:
    return Outcome(status, facts, begins=False)


def _what_goes_on(story: Story) -> None:
    """One run that works, and one that waits for the same machine."""
    played, now = story.played[cast.FIGURES.name], story.now
    story.hand.to(now - timedelta(seconds=94))
    routine = Routine.objects.get(pk=played.routine.pk)
    run = run_it_now(routine, story.guest, uuid.UUID(int=played.rng.getrandbits(128)).hex)
    claim = claim_fire(run.fire_id, WORKER)
    assert claim is not None
    ready = admit(claim)
    assert isinstance(ready, Ready), ready
    steps = StoredSteps(claim, LeaseKeeper(claim))
    story.hand.to(now - timedelta(seconds=92))
    must(record.awake(claim))
    machine = ready.run.snapshot["machine"]
    steps.record(NewStep(StepKind.WOKE, machine, seconds=1.9, facts={"already": False}))
    must(record.begin_effects(claim, RunStatus.RUNNING, played.memory))
    lines = works.figures(played.rng, now.astimezone(story.zone)).lines
    spent, usage, ago = 0, Usage(), 88.0
    for line in lines[:4]:
        ago -= 18
        story.hand.to(now - timedelta(seconds=ago))
        spent += line.cost
        usage = replace(
            usage,
            input_tokens=usage.input_tokens + line.read,
            output_tokens=usage.output_tokens + line.written,
            requests=usage.requests + (line.read > 0),
        )
        steps.spent(spent, usage)
        steps.record(NewStep(line.kind, line.title, line.content, line.cost, 9.0, line.facts))
    steps.begin(StepKind.RAN, lines[4].title)
    Fire.objects.filter(pk=run.fire_id).update(lease_until=now + LEASE)
    story.hand.to(now - timedelta(seconds=20))
    waits = Routine.objects.get(pk=story.played[cast.DONATIONS.name].routine.pk)
    run_it_now(waits, story.colleague, uuid.UUID(int=played.rng.getrandbits(128)).hex)
    story.hand.to(now)
