"""Each invariant's guard taken out in turn: the audit must say which invariant broke.

Each scenario also runs with every guard in place, and then breaks nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from django.db import connection

import routines_app.configure.routine as configure_module
from billing import holds
from billing.models import Account, LedgerEntry
from foundation import database_clock
from routines_app.fires import claim, missed, request
from routines_app.models import Routine, Run
from routines_app.producers import timer
from routines_app.rules import sentences
from routines_app.rules.status import RunStatus
from routines_app.runner import closing, record, rescue
from routines_app.runner.ending import Ending
from tests.invariants.mutation import mutate_function, mutate_text
from tests.invariants.world import CAP, LEASE_OVER, Plan, World, a_world, cron, once

pytestmark = [pytest.mark.queue]

BEGIN = datetime(2027, 6, 1, 7, 58, tzinfo=UTC)
HOURLY = cron("0 * * * *")
HOUR = timedelta(hours=1)
MINUTES = timedelta(minutes=1)

Scenario = Callable[[World], None]
Mutate = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture
def world(db: None, tmp_path: Path) -> Iterator[World]:
    with a_world(tmp_path, BEGIN) as made:
        yield made


# Scenarios: each is what somebody does in an ordinary week.


def comes_due(world: World) -> None:
    """An hour passes; what is due is asked for, taken and told."""
    world.create(HOURLY)
    world.clock.move(5 * MINUTES)
    world.tick()
    world.take_all()
    world.tick()


def asked_for_twice(world: World) -> None:
    """Two scanners ask for one occurrence: the second didn't see the first one's work."""
    routine = world.create(HOURLY)
    world.clock.move(5 * MINUTES)
    due = BEGIN.replace(hour=8, minute=0)
    timer.scan()
    Routine.objects.filter(pk=routine.pk).update(next_fire_at=due)
    timer.scan()
    world.take_all()


def nobody_scanned(world: World) -> None:
    """The scanner was away for five hours."""
    world.create(HOURLY)
    world.clock.move(5 * HOUR)
    world.tick()
    world.take_all()


def switched_off_unwatched(world: World) -> None:
    """The scanner was away, and somebody turned the routine off before it was back."""
    routine = world.create(HOURLY)
    world.clock.move(5 * HOUR)
    world.switch(routine, False)
    world.tick()
    world.take_all()


def edited_unwatched(world: World) -> None:
    """The scanner was away, and somebody changed the schedule before it was back."""
    routine = world.create(HOURLY)
    world.clock.move(5 * HOUR)
    world.edit(routine, cron("30 6 * * *"))
    world.tick()
    world.take_all()


def runner_dies_in_a_turn(world: World) -> None:
    """A runner dies in a turn; its lease ends and the rest of the clock's work goes on."""
    world.create(HOURLY)
    world.clock.move(5 * MINUTES)
    world.tick()
    assert not world.take(world.waiting()[0], Plan(killed="turn"))
    world.clock.move(LEASE_OVER)
    world.tick()
    world.clock.move(MINUTES)
    world.take_all()


def turn_overspends(world: World) -> None:
    """The turn's cap holds what it spends."""
    from billing.prices import Price
    from routines_app.agents.budget import Tokens, TurnBudget

    world.create(HOURLY)
    world.clock.move(5 * MINUTES)
    world.tick()
    budget = TurnBudget(CAP, Price("test", input=5_000_000, output=5_000_000))
    while (room := budget.reserve()) is not None and budget.spent < 2 * CAP:
        budget.charge(Tokens(room.input_tokens, room.max_tokens), answer_bytes=10)
    world.take_all(Plan(spent=budget.spent))


def money_for_two(world: World) -> None:
    """Four routines on machines of their own at once, with credit for two of their caps."""
    for number in range(4):
        world.create(cron(f"{number} 8 * * *"), machine_id=world.machines[number % 2].pk)
    Account.objects.update(plan="pro")
    holds.grant_credit(Account.objects.get(), 20_000_000, database_clock.now())
    LedgerEntry.objects.create(
        workspace=world.workspace, kind="machine", amount=2 * CAP - 20_000_000
    )
    world.clock.move(10 * MINUTES)
    timer.scan()
    world.take_all(Plan(spent=CAP))


def waits_for_its_machine(world: World) -> None:
    """A routine fires again while its run goes on."""
    routine = world.create(HOURLY)
    for key in ("one", "two"):
        run = world.ask(routine, key)
        held = claim.claim_fire(run.fire_id, key, database_clock.now())
        assert held
        from routines_app.admission import admit
        from routines_app.rules.admission import Refused

        admitted = admit(held)
        if isinstance(admitted, Refused):
            assert record.finish(held, Ending(admitted.status, admitted.facts))


def turn_fails(world: World) -> None:
    """A turn fails and the bell rings."""
    world.create(HOURLY)
    world.clock.move(5 * MINUTES)
    world.tick()
    world.take_all(Plan(code="fail_script"))
    world.tick()


def comes_once_and_is_missed(world: World) -> None:
    """A schedule that comes once comes while nothing scans for two days."""
    world.create(once(BEGIN + HOUR))
    world.clock.move(49 * HOUR)
    world.tick()


def clock_goes_back(world: World) -> None:
    """The clock is set back by an hour after a scan, and the same hour comes again."""
    routine = world.create(cron("*/10 * * * *"))
    world.clock.move(30 * MINUTES)
    timer.scan()
    world.clock.move(-HOUR)
    world.switch(routine, False)
    world.switch(routine, True)
    world.clock.move(11 * MINUTES)
    timer.scan()


def ended_twice(world: World) -> None:
    """A runner records its run's end, hears no answer, and records it again."""
    world.create(HOURLY)
    world.clock.move(5 * MINUTES)
    world.tick()
    held = claim.claim_fire(world.waiting()[0], "w", database_clock.now())
    assert held
    Run.objects.filter(pk=held.run_id).update(snapshot={"cap": CAP})
    for _ in range(2):
        record.finish(held, Ending(RunStatus.FAIL_SCRIPT, {"exit_code": 1}))


# Mutants: the guard that is taken out.


def no_unique_fires(patch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE routines_app_fire DROP CONSTRAINT one_fire_a_key")
    mutate_text(patch, request, "_INSERT", "ON CONFLICT (routine_id, dedup_key) DO NOTHING", "")


def missed_arent_written(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(timer, "record_missed", lambda missed, down_from, now: 0)


def changes_dont_settle(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(configure_module, "settle_due", lambda routine, now: None)


def begun_work_is_requeued(patch: pytest.MonkeyPatch) -> None:
    mutate_function(patch, rescue, "_bring_on", "if run.effects_begun_at is not None:", "if False:")
    mutate_function(patch, claim, "requeue_fire", "        effects_begun_at__isnull=True,\n", "")
    patch.setattr(rescue, "requeue_fire", claim.requeue_fire)


def cap_isnt_kept(patch: pytest.MonkeyPatch) -> None:
    from routines_app.agents import budget

    patch.setattr(budget, "output_within", lambda price, input_tokens, left: budget.MAX_OUTPUT)


def holds_arent_judged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(holds, "_missing", lambda account, amount, now: None)


def holds_arent_freed(patch: pytest.MonkeyPatch) -> None:
    mutate_text(patch, closing, "_END", "SET freed_at = %(now)s", "SET freed_at = NULL")


def runs_arent_charged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(record, "charge_run", lambda workspace, key, spent, note, now: None)


def nobody_rescues(patch: pytest.MonkeyPatch) -> None:
    mutate_function(
        patch, rescue, "_rescue", "if fire.lease_until >= now and not whatever_lease:", "if True:"
    )


def no_index_of_live_runs(patch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX one_live_run_a_routine")


def nobody_is_told(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(record, "tell", lambda run, routine: None)


def no_digest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(missed, "_digest", lambda missed, facts, down_from, now: None)


def bell_doesnt_ring(patch: pytest.MonkeyPatch) -> None:
    deliver = import_module("routines_app.delivery.deliver")
    patch.setattr(deliver, "_ring_the_bell", lambda row, now: None)


def nothing_comes_next(patch: pytest.MonkeyPatch) -> None:
    mutate_text(patch, request, "_INSERT", "ELSE m.next_at END", "ELSE NULL END")


def once_stays_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(missed, "_turn_off_once", lambda routine_ids, now: [])


def watermark_goes_back(patch: pytest.MonkeyPatch) -> None:
    mutate_text(patch, timer, "_MOVE_ON", "GREATEST(r.evaluated_until, d.until)", "d.until")
    mutate_text(
        patch,
        request,
        "_INSERT",
        "GREATEST(r.evaluated_until, m.until)",
        "COALESCE(m.until, r.evaluated_until)",
    )
    mutate_function(
        patch,
        configure_module,
        "turn_on",
        "max(now, held.evaluated_until or now)",
        "now",
    )


def watermark_stands_still(patch: pytest.MonkeyPatch) -> None:
    mutate_text(
        patch, request, "_INSERT", "GREATEST(r.evaluated_until, m.until)", "r.evaluated_until"
    )


def ends_are_written_again(patch: pytest.MonkeyPatch) -> None:
    mutate_text(patch, closing, "_HOLD", " AND f.closed_at IS NULL", "")
    mutate_function(
        patch, record, "_close", "if run is None or run.status not in OPEN_STATUSES:", "if False:"
    )


def fires_stay_open(patch: pytest.MonkeyPatch) -> None:
    mutate_text(patch, closing, "_END", "closed_at = %(now)s", "closed_at = NULL")


def fires_early(patch: pytest.MonkeyPatch) -> None:
    mutate_text(patch, timer, "_DUE", "next_fire_at <= %s", "next_fire_at - interval '1h' <= %s")


def a_status_says_nothing(patch: pytest.MonkeyPatch) -> None:
    real = sentences.sentence_of
    from routines_app.fires import audit

    patch.setattr(
        audit,
        "sentence_of",
        lambda status, facts: (
            sentences.Sentence("") if status == "fail_script" else real(status, facts)
        ),
    )


@dataclass(frozen=True)
class Mutant:
    """Without this guard, this scenario breaks this invariant."""

    invariant: str
    guard: Mutate
    scenario: Scenario

    def __str__(self) -> str:
        return f"{self.invariant}-{self.guard.__name__}"


MUTANTS = [
    Mutant("I1", no_unique_fires, asked_for_twice),
    Mutant("I1", missed_arent_written, nobody_scanned),
    Mutant("I1", changes_dont_settle, switched_off_unwatched),
    Mutant("I1", changes_dont_settle, edited_unwatched),
    Mutant("I2", no_unique_fires, asked_for_twice),
    Mutant("I2", begun_work_is_requeued, runner_dies_in_a_turn),
    Mutant("I3", cap_isnt_kept, turn_overspends),
    Mutant("I4", holds_arent_judged, money_for_two),
    Mutant("I4", holds_arent_freed, comes_due),
    Mutant("I4", runs_arent_charged, comes_due),
    Mutant("I5", nobody_rescues, runner_dies_in_a_turn),
    Mutant("I6", no_index_of_live_runs, waits_for_its_machine),
    Mutant("I7", nobody_is_told, turn_fails),
    Mutant("I7", no_digest, nobody_scanned),
    Mutant("I7", bell_doesnt_ring, turn_fails),
    Mutant("I9", nothing_comes_next, comes_due),
    Mutant("I9", once_stays_on, comes_once_and_is_missed),
    Mutant("I10", watermark_goes_back, clock_goes_back),
    Mutant("I10", watermark_stands_still, comes_due),
    Mutant("I11", ends_are_written_again, ended_twice),
    Mutant("I11", fires_stay_open, comes_due),
    Mutant("I12", fires_early, comes_due),
    Mutant("I16", a_status_says_nothing, turn_fails),
]
SCENARIOS = list(dict.fromkeys(mutant.scenario for mutant in MUTANTS))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_with_every_guard_nothing_is_broken(world: World, scenario: Scenario) -> None:
    scenario(world)
    assert world.audit().violations == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_without_its_guard_the_audit_says_which_invariant_broke(
    world: World, mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant.guard(monkeypatch)
    mutant.scenario(world)
    broken = {violation.invariant for violation in world.audit().violations}
    assert mutant.invariant in broken, broken


def test_every_invariant_of_the_audit_has_a_mutant() -> None:
    from routines_app.fires.audit import NAMES

    assert {mutant.invariant for mutant in MUTANTS} == set(NAMES)
