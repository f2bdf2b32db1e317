"""Whatever happens in whatever order, the invariants hold after every step.

`ROUTINES_LONG_INVARIANTS=1` runs 2,000 sequences of 50 steps, new ones each time, instead of CI's
share; `ROUTINES_SEQUENCES` says another number.
"""

import os
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from django.db import connection
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from billing.models import Account
from foundation import database_clock
from routines_app import delivery
from routines_app.configure.pause import pause_workspace, resume_workspace
from routines_app.fires import sweep
from routines_app.models import Routine, Run
from routines_app.producers import timer
from routines_app.rules.schedule import Schedule, ScheduleKind
from routines_app.runner.rescue import rescue_dead_runs
from routines_app.runner.stop import ask_to_stop
from tests.invariants.world import CAP, LEASE_OVER, STAGES, Plan, World, cron, once

LONG = bool(os.environ.get("ROUTINES_LONG_INVARIANTS"))
SEQUENCES = int(os.environ.get("ROUTINES_SEQUENCES", 2_000 if LONG else 20))
STEPS = 50 if LONG else 30
MOST_ROUTINES = 5

BEGINNINGS = [
    datetime(2027, 6, 1, 7, 58, tzinfo=UTC),
    datetime(2027, 3, 28, 0, 40, tzinfo=UTC),  # London's clocks go forward at 1:00
    datetime(2027, 10, 31, 0, 20, tzinfo=UTC),  # and back
    datetime(2027, 12, 31, 23, 55, tzinfo=UTC),
]
SCHEDULES = [
    cron("0 8 * * *", zone="Europe/London"),
    cron("30 1 * * *", zone="Europe/London"),
    cron("0 * * * *"),
    cron("*/20 * * * *", zone="America/New_York"),
    cron("* 7-9 * * *"),
    cron("15,45 * * * *", "0 9 * * 1-5", zone="Australia/Lord_Howe"),
    Schedule(ScheduleKind.WHEN_ASKED, {}, "UTC"),
    None,  # once, soon after it is set
]
CODES = (
    "done_changed", "done_unchanged", "stop_cost", "fail_model", "fail_script", "fail_agent",
    "broken", "machine",
)  # fmt: skip
HOPS = [timedelta(seconds=s) for s in (3, 47, 61, 1_300, 3_700, 9_000, 30_000)]

REACHED = ("done_changed", "fail_restart", "skip_missed", "skip_paused", "skip_overlap")

which = st.integers(0, MOST_ROUTINES - 1)
schedules = st.sampled_from(SCHEDULES)
plans = st.builds(
    Plan,
    code=st.sampled_from(CODES),
    spent=st.sampled_from([0, 1_000, CAP]),
    killed=st.sampled_from(
        ["", "", "", "", "", "", *STAGES, *(f"after {stage}" for stage in STAGES)]
    ),
)


class Unattended(RuleBasedStateMachine):
    """A workspace, its people, its scanner, its runners and their deaths."""

    folder: ClassVar[Path]
    seen: ClassVar[Counter[str]]

    def __init__(self) -> None:
        super().__init__()
        self.world: World | None = None
        self.routines: list[Routine] = []
        self.marks: dict[int, datetime] = {}
        self.ends: dict[int, tuple[object, ...]] = {}

    @property
    def here(self) -> World:
        assert self.world is not None
        return self.world

    @initialize(
        begin=st.sampled_from(BEGINNINGS),
        schedule=schedules,
        plan=st.sampled_from(["self-hosted", "pro"]),
    )
    def begin(self, begin: datetime, schedule: Schedule | None, plan: str) -> None:
        self.world = World(self.folder, begin)
        Account.objects.update(plan=plan)
        self.routines.append(self.here.create(self.dated(schedule)))

    def teardown(self) -> None:
        if self.world is not None:
            self.seen.update(Run.objects.values_list("status", flat=True))
            self.world.close()
            _empty()

    def one(self, number: int) -> Routine:
        found = self.routines[number % len(self.routines)]
        return Routine.objects.get(pk=found.pk)

    # People

    @precondition(lambda self: len(self.routines) < MOST_ROUTINES)
    @rule(schedule=schedules, on=st.sampled_from([True, True, False]), machine=st.integers(0, 1))
    def create(self, schedule: Schedule | None, on: bool, machine: int) -> None:
        there = self.here.machines[machine].pk
        self.routines.append(self.here.create(self.dated(schedule), on, machine_id=there))

    def dated(self, schedule: Schedule | None) -> Schedule:
        """The schedule, and for None one that comes once, in an hour and a half."""
        now = database_clock.now().replace(second=0, microsecond=0)
        return schedule if schedule is not None else once(now + timedelta(minutes=90))

    @rule(number=which, schedule=schedules, waits=st.booleans())
    def edit(self, number: int, schedule: Schedule | None, waits: bool) -> None:
        """`waits`: what the old schedule had asked for waits when the new one is saved."""
        if waits:
            self.here.clock.move(timedelta(hours=1))
            self.here.tick()
        self.here.edit(self.one(number), self.dated(schedule))

    @rule(number=which, on=st.sampled_from([True, True, False]), waits=st.booleans(), plan=plans)
    def switch(self, number: int, on: bool, waits: bool, plan: Plan) -> None:
        if waits:
            self.here.clock.move(timedelta(hours=1))
            self.here.tick()
        routine = self.one(number)
        if routine.deleted_at is None:
            self.here.switch(routine, on)
        self.take_some(9, plan)

    @rule(number=which, plan=plans)
    def delete(self, number: int, plan: Plan) -> None:
        if Routine.objects.filter(deleted_at__isnull=True).count() > 1:
            self.here.delete(self.one(number))
        self.take_some(9, plan)

    @rule(number=which, key=st.sampled_from("abcdefgh"), plan=plans)
    def run_it_now_twice(self, number: int, key: str, plan: Plan) -> None:
        routine = self.one(number)
        if routine.deleted_at is None:
            run = self.here.ask(routine, key)
            assert self.here.ask(routine, key) == run
            self.here.take(run.fire_id, plan)

    @rule(number=st.integers(0, 20))
    def stop(self, number: int) -> None:
        runs = list(Run.objects.filter(finished_at__isnull=True).order_by("pk"))
        if runs:
            ask_to_stop(runs[number % len(runs)], self.here.person)

    @rule(plan=plans)
    def pause_for_an_hour(self, plan: Plan) -> None:
        pause_workspace(self.here.workspace, self.here.person)
        self.here.clock.move(timedelta(hours=1))
        self.here.tick()
        self.take_some(9, plan)
        resume_workspace(self.here.workspace, self.here.person)

    @rule(
        budget=st.sampled_from([None, None, 0, CAP, 3 * CAP]), plan=st.sampled_from(["pro", "free"])
    )
    def change_the_money(self, budget: int | None, plan: str) -> None:
        Account.objects.update(monthly_budget=budget)
        Account.objects.exclude(plan="self-hosted").update(plan=plan)

    # Time

    @rule(hop=st.sampled_from(HOPS), plan=plans, taken=st.sampled_from([9, 2, 0]))
    def time_passes(self, hop: timedelta, plan: Plan, taken: int) -> None:
        """What comes due is taken by so many runners, each with this plan."""
        self.here.clock.move(hop)
        self.here.tick()
        self.take_some(taken, plan)

    @rule(plan=plans, other=plans, late=st.sampled_from([2, 40, 100]))
    def the_next_comes_due(self, plan: Plan, other: Plan, late: int) -> None:
        """The next occurrence comes and is taken, and so is the one after it."""
        for each in (plan, other):
            coming = Routine.objects.filter(enabled=True, next_fire_at__isnull=False)
            first = coming.order_by("next_fire_at").first()
            if first is not None and first.next_fire_at is not None:
                self.here.clock.set(first.next_fire_at + timedelta(seconds=late))
            self.here.tick()
            self.take_some(9, each)

    @rule(plan=plans, other=plans)
    def twice_a_lease(self, plan: Plan, other: Plan) -> None:
        """What waits is taken, then a lease's time passes, and what was left is taken again."""
        self.take_some(9, plan)
        self.here.clock.move(LEASE_OVER)
        self.here.tick()
        self.take_some(9, other)

    def take_some(self, most: int, plan: Plan) -> None:
        for fire_id in self.here.waiting()[:most]:
            self.here.take(fire_id, plan)

    @rule(hop=st.sampled_from(HOPS[3:]), number=which, schedule=schedules, how=st.integers(0, 4))
    def time_passes_unwatched(
        self, hop: timedelta, number: int, schedule: Schedule | None, how: int
    ) -> None:
        """The scanner was down, and a person came before it was back."""
        self.here.clock.move(hop)
        routine = self.one(number)
        if routine.deleted_at is None:
            match how:
                case 0:
                    self.here.edit(routine, self.dated(schedule))
                case 1:
                    self.here.switch(routine, False)
                case 2:
                    self.here.ask(routine, f"unwatched {hop}")
                case 3:
                    self.take_some(9, Plan(code="fail_model"))
                case _:
                    self.here.delete(routine)
        self.here.tick()

    @rule(hop=st.sampled_from(HOPS[2:5]), plan=plans)
    def the_clock_is_set_back(self, hop: timedelta, plan: Plan) -> None:
        self.here.clock.move(timedelta(hours=-1))
        self.here.tick()
        self.here.clock.move(hop)
        self.here.tick()
        self.take_some(9, plan)

    # What runs by itself

    @rule(what=st.sampled_from(["scan", "scanners", "sweep", "deliver", "rescue", "restart"]))
    def clock_work(self, what: str) -> None:
        match what:
            case "scan":
                timer.scan()
            case "scanners":
                self.here.scan_together(3)
            case "sweep":
                sweep.sweep()
            case "deliver":
                delivery.deliver_waiting()
            case "rescue":
                rescue_dead_runs()
            case _:  # a start of the one process: no other runner can be alive
                rescue_dead_runs(all_claims=True)

    @precondition(lambda self: self.here.rung)
    @rule(plan=plans, lost=st.booleans())
    def answer_the_doorbell(self, plan: Plan, lost: bool) -> None:
        """A doorbell is answered, late or twice as it may be; or all of them are lost."""
        if lost:
            self.here.rung.clear()
        else:
            self.here.take(self.here.rung.pop(0), plan)

    # What has to hold

    @invariant()
    def every_invariant_holds(self) -> None:
        if self.world is not None:
            assert self.world.audit().violations == ()

    @invariant()
    def no_turn_began_twice(self) -> None:
        if self.world is not None:
            assert all(count == 1 for count in self.world.starts.values()), self.world.starts

    @invariant()
    def no_watermark_went_back(self) -> None:
        for pk, mark in Routine.objects.values_list("pk", "evaluated_until"):
            if mark is not None:
                assert pk not in self.marks or mark >= self.marks[pk]
                self.marks[pk] = mark

    @invariant()
    def what_has_ended_stays_as_it_ended(self) -> None:
        rows = Run.objects.filter(finished_at__isnull=False).values_list(
            "pk", "status", "finished_at", "headline", "spent", "number"
        )
        now = {row[0]: row[1:] for row in rows}
        assert self.ends.items() <= now.items()
        self.ends = now


def _empty() -> None:
    tables = ", ".join(
        table
        for table in connection.introspection.table_names()
        if table.startswith(("routines_app_", "billing_", "machines_", "accounts_"))
        and table != "billing_modelprice"
    )
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {tables} CASCADE")


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_invariants_hold_after_every_step() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Unattended.folder, Unattended.seen = Path(folder), Counter()
        run_state_machine_as_test(
            Unattended,
            settings=settings(
                max_examples=SEQUENCES,
                stateful_step_count=STEPS,
                deadline=None,
                derandomize=not LONG,
                database=None,
                phases=[Phase.generate],  # a shrunk sequence isn't worth minutes of a failed CI
                suppress_health_check=[*HealthCheck],
            ),
        )
    print(f"{SEQUENCES:,} sequences of {STEPS} steps: {dict(Unattended.seen)}")
    if SEQUENCES >= 20:
        assert set(Unattended.seen) >= set(REACHED), "the sequences no longer reach these"
