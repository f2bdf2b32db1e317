"""A small workspace whose time, model and deaths a test decides, and everything else is real.

The clock is moved by the file that `foundation.clock` reads. A turn is whatever `endings` says; a
runner can be killed before or after each stage of a run's life; doorbells are caught, not sent.
"""

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import wraps
from pathlib import Path
from unittest.mock import patch

from django.conf import settings
from django.db import connection
from django.test import override_settings

from billing.models import Account
from foundation import clock, database_clock
from foundation.crypto import encrypt
from machines import access
from routines_app import delivery
from routines_app.agents.turn import (
    Computer,
    ComputerFailed,
    StepSink,
    TurnOutcome,
    TurnRequest,
    Usage,
)
from routines_app.celery import app
from routines_app.configure import routine as configure
from routines_app.configure.delete import delete_routine
from routines_app.configure.routine import RoutineContent, content_of
from routines_app.configure.validate import free_name
from routines_app.fires import doorbell, sweep, waiting_fires
from routines_app.fires.audit import Audit, audit
from routines_app.models import ModelKey, Routine, Run
from routines_app.producers import timer
from routines_app.producers.manual import run_it_now
from routines_app.rules.schedule import Schedule, ScheduleKind
from routines_app.runner import lease, record, rescue, run_fire
from tests.factories import make_agent, make_machine, make_workspace, owner_of

CAP = 500_000
STAGES = ("admit", "wake", "begin", "turn", "finish")
LEASE_OVER = timedelta(seconds=46)


class Killed(BaseException):
    """The runner died here: nothing of it catches this, as nothing catches a kill -9."""


class VirtualClock:
    """Moves every clock of the product by a file, in this process and any that it starts."""

    def __init__(self, file: Path) -> None:
        self._file = file
        os.environ["ROUTINES_CLOCK_OFFSET_FILE"] = str(file)

    def set(self, instant: datetime) -> None:
        """Make it this instant; from then on the time passes as it does."""
        self._file.write_text("0")
        self._file.write_text(str((instant - clock.now()).total_seconds()))

    def move(self, by: timedelta) -> None:
        """Let so much time pass, or turn the clock back."""
        self._file.write_text(str(clock.offset_seconds() + by.total_seconds()))

    def close(self) -> None:
        """Give the clocks back."""
        del os.environ["ROUTINES_CLOCK_OFFSET_FILE"]


@dataclass(frozen=True)
class Plan:
    """How the next run goes: its turn's outcome, what it spends, and where its runner dies."""

    code: str = "done_changed"  # or "broken", "machine"
    spent: int = 1_000
    killed: str = ""  # a stage, or "after " and a stage


class World:
    """One workspace with two machines, a model and a script agent; its own clock."""

    def __init__(self, folder: Path, begin: datetime) -> None:
        self._patches = ExitStack()
        self.clock = VirtualClock(folder / "offset")
        self.clock.set(begin)
        self.plan = Plan()
        self.starts = Counter[str]()  # how often a turn began, by the run's key: the fake counts
        self.rung: list[int] = []
        access.provider_named.cache_clear()
        quick = ["django.contrib.auth.hashers.MD5PasswordHasher"]
        self._patches.enter_context(override_settings(PASSWORD_HASHERS=quick))
        self._patch(app, "send_task", self._ring)
        self._patch(doorbell, "_unheard", lambda: 0)
        # Its thread would look through a connection of its own, which sees no test's transaction.
        self._patch(lease, "LOOK_SECONDS", 3_600.0)
        self._patch(run_fire, "runtime_for", lambda request: self)
        self._patch_stage(run_fire, "admit", "admit")
        self._patch_stage(run_fire, "wake_machine", "wake")
        self._patch_stage(record, "begin_effects", "begin")
        self._patch_stage(record, "finish", "finish")
        self.workspace = make_workspace()
        self.person = owner_of(self.workspace)
        self.machines = [make_machine(self.workspace, f"harbour-{n}") for n in (1, 2)]
        self.model = make_agent(self.workspace, "Assistant", "model")
        self.account = Account.objects.create(workspace=self.workspace)
        ModelKey.objects.create(
            workspace=self.workspace,
            provider="openai-compatible",
            base_url="http://127.0.0.1:9",
            model="small",
            own_input=1_000_000,
            own_output=1_000_000,
            sealed=encrypt(settings.ENCRYPTION_KEY, str(self.workspace.key), "sk-none"),
            last_four="none",
        )

    def _patch(self, owner: object, name: str, value: object) -> None:
        self._patches.enter_context(patch.object(owner, name, value))

    def _patch_stage(self, owner: object, name: str, stage: str) -> None:
        real = getattr(owner, name)

        @wraps(real)
        def with_a_death(*args: object, **kwargs: object) -> object:
            self._die_at(stage)
            answer = real(*args, **kwargs)
            self._die_at(f"after {stage}")
            return answer

        self._patch(owner, name, with_a_death)

    def _die_at(self, stage: str) -> None:
        if self.plan.killed == stage:
            raise Killed(stage)

    def _ring(self, name: str, args: Sequence[int] = (), **options: object) -> None:
        if name.endswith("take_fire"):
            self.rung.extend(args)

    def close(self) -> None:
        """Put everything back."""
        self._patches.close()
        self.clock.close()
        access.provider_named.cache_clear()

    # What people do.

    def content(self, schedule: Schedule, **fields: object) -> RoutineContent:
        made = RoutineContent(
            name="Morning brief",
            instructions="Look for news.",
            agent_id=self.model.pk,
            machine_id=self.machines[0].pk,
            schedule=schedule,
            cap=CAP,
        )
        return replace(made, **fields)  # type: ignore[arg-type]

    def create(self, schedule: Schedule, on: bool = True, **fields: object) -> Routine:
        fields.setdefault("name", free_name(self.workspace, "Morning brief"))
        with self.any_schedule():
            made = configure.create_routine(
                self.workspace, self.person, self.content(schedule, **fields), turn_on=on
            )
        assert isinstance(made, Routine), made
        return made

    def edit(self, routine: Routine, schedule: Schedule) -> object:
        now = Routine.objects.get(pk=routine.pk)
        content = replace(content_of(now), schedule=schedule)
        with self.any_schedule():
            return configure.configure_routine(now, self.person, now.version, content)

    def switch(self, routine: Routine, on: bool) -> object:
        with self.any_schedule():
            return (
                configure.turn_on(routine, self.person)
                if on
                else configure.turn_off(routine, self.person)
            )

    @contextmanager
    def any_schedule(self) -> Iterator[None]:
        """Save what the plan of now wouldn't have: as one did before the plan was changed."""
        plan = Account.objects.get(workspace=self.workspace).plan
        Account.objects.update(plan="self-hosted")
        yield
        Account.objects.update(plan=plan)

    def delete(self, routine: Routine) -> None:
        delete_routine(routine, self.person)

    def ask(self, routine: Routine, key: str) -> Run:
        return run_it_now(routine, self.person, key)

    # What runs by itself.

    def tick(self) -> None:
        """The clock's work, once: what is due, what waits, what died, who is told."""
        timer.scan()
        rescue.rescue_dead_runs()
        sweep.sweep()
        delivery.deliver_waiting()

    def scan_together(self, scanners: int) -> None:
        """So many scans at the same moment."""
        together(timer.scan, scanners)

    def waiting(self) -> list[int]:
        return waiting_fires()

    def take(self, fire_id: int, plan: Plan | None = None) -> bool:
        """Take a fire as a runner does, with this plan; False when the runner was killed."""
        self.plan = plan or Plan()
        try:
            run_fire.take_fire(fire_id)
        except Killed:
            return False
        finally:
            self.plan = Plan()
        return True

    def take_all(self, plan: Plan | None = None) -> None:
        """Take what waits until nothing can be taken."""
        before: list[int] = []
        while (waiting := self.waiting()) and waiting != before:
            before = waiting
            for fire_id in waiting:
                self.take(fire_id, plan)

    def take_turn(self, request: TurnRequest, computer: Computer, steps: StepSink) -> TurnOutcome:
        """The fake runtime: counts that it began, spends, and ends as planned."""
        self.starts[request.run_id] += 1
        self._die_at("turn")
        usage = Usage(input_tokens=10, output_tokens=10, requests=1)
        steps.spent(self.plan.spent, usage)
        if self.plan.code == "broken":
            raise RuntimeError("A fault of ours, as planned.")
        if self.plan.code == "machine":
            raise ComputerFailed("silent", "It stopped answering.")
        code = self.plan.code
        return TurnOutcome(code, code == "done_changed", "As planned", "", self.plan.spent, usage)

    def audit(self) -> Audit:
        return audit(database_clock.now(), workspace_id=self.workspace.pk)


def together(work: Callable[[], object], times: int) -> None:
    """Call `work` from so many threads at once; whatever one raises is raised here."""
    start, errors = threading.Barrier(times), list[BaseException]()

    def one() -> None:
        try:
            start.wait(30)
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@contextmanager
def a_world(folder: Path, begin: datetime) -> Iterator[World]:
    """A world that is put back at the end."""
    made = World(folder, begin)
    try:
        yield made
    finally:
        made.close()


def cron(*expressions: str, zone: str = "UTC") -> Schedule:
    """A schedule of these expressions."""
    return Schedule(ScheduleKind.CRON, {"expressions": list(expressions)}, zone)


def once(at: datetime) -> Schedule:
    """A schedule that comes once."""
    return Schedule(ScheduleKind.ONCE, {"at": at.isoformat()}, "UTC")
