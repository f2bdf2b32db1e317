"""What chaos makes due, and what it counts afterwards. Needs `product.installed`."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from django.db import DatabaseError, connection

from billing.models import Hold, LedgerEntry
from foundation import database_clock
from foundation.crypto import encrypt
from routines_app.models import Delivery, Fire, ModelKey, Notice, Routine, Run
from tests.factories import make_agent, make_machine, make_routine, make_workspace
from tests.fakes.model_provider import Answer, FakeProvider, call, finish
from tests.fakes.model_wire import Seen

Kind = Literal["script", "model", "refused"]
SCRIPT = "{start}\necho 'report: ran'"


def started(what: str, token: str) -> str:
    """The command that notes a start of a check or a turn in a file on the machine."""
    return f"echo {what} >> ~/{token}"


@dataclass
class Due:
    """One occurrence that chaos made due, and where its starts are counted."""

    routine: Routine
    kind: Kind
    token: str
    fake: FakeProvider
    runs: list[dict[str, Any]] = field(default_factory=list)

    def fire(self) -> None:
        """Make it due now."""
        now = database_clock.now().replace(microsecond=0)
        elsewhen = now + timedelta(hours=12)
        Routine.objects.filter(pk=self.routine.pk).update(
            enabled=True, next_fire_at=now, expressions=[f"{elsewhen.minute} {elsewhen.hour} * * *"]
        )

    def row(self) -> Run | None:
        """Its newest row, as it is now."""
        return Run.objects.filter(routine=self.routine).order_by("-number").first()

    def is_over(self) -> bool:
        """Whether its row is final and whoever is told of it was told."""
        run = self.row()
        if run is None or not run.state.final:
            return False
        return not Delivery.objects.filter(run=run, state="waiting").exists()

    def starts(self) -> tuple[int, int, int]:
        """How often its check, its turn's tool, and its first model request were started."""
        machine = self.routine.machine
        assert machine is not None
        file = Path(settings.MACHINES_ROOT) / str(machine.key) / "home" / self.token
        words = file.read_text().split() if file.exists() else []
        asked = [s for s in self.fake.seen if self.token in s.text and not s.results]
        return words.count("check"), words.count("turn"), len(asked)

    def violations(self, expected: set[str]) -> list[str]:
        """What is wrong with its rows and its starts; empty when all is well."""
        runs = list(Run.objects.filter(routine=self.routine))
        fires = Fire.objects.filter(routine=self.routine).count()
        wrong = []
        if len(runs) != 1 or fires != 1:
            return [f"{len(runs)} rows of {fires} fires"]
        run = runs[0]
        if run.status not in expected:
            wrong.append(f"{run.status}, not {' or '.join(sorted(expected))}")
        wrong += [f"{count} starts" for count in self.starts() if count > 1]
        if run.effects_begun_at is None and any(self.starts()):
            wrong.append("effects without their mark")
        if Hold.objects.filter(run_key=run.key, freed_at__isnull=True).exists():
            wrong.append("its hold isn't freed")
        entries = LedgerEntry.objects.filter(run_key=run.key)
        owed = 0 if run.cause == "ours" else -run.spent
        if sum(entries.values_list("amount", flat=True)) != owed:
            wrong.append("the ledger doesn't add up")
        told = Notice.objects.filter(run=run).count()
        if told != (0 if run.state.refused else 1):
            wrong.append(f"rung {told} times")
        now = Run.objects.filter(routine=self.routine).values("status", "finished_at", "spent")
        if self.runs and list(now) != self.runs:
            wrong.append("a final row changed")
        self.runs = list(now)
        return wrong

    def unknown(self) -> str:
        """The step whose outcome nobody knows; empty when there is none."""
        run = self.row()
        step = run.steps.filter(facts__outcome="unknown").first() if run else None
        return step.title if step else ""


class Town:
    """Workspaces, each with a machine and a routine, and the model that they ask."""

    def __init__(self, fake: FakeProvider) -> None:
        self.fake = fake
        self.made = 0
        fake.script = answer

    def due(
        self,
        kind: Kind,
        workspace: Any = None,
        *,
        quick: bool = False,
        script: str = SCRIPT,
        **fields: Any,
    ) -> Due:
        """A routine of this kind that is still off: `fire` makes it due.

        `quick`: the model finishes at once, without a tool. `script` notes its start with {start}.
        """
        self.made += 1
        token = f"errand-{'quick-' if quick else ''}{self.made:05}"
        workspace = workspace or self.workspace(paused=kind == "refused")
        runtime = "model" if kind == "model" else "script"
        agent = workspace.agents.filter(runtime=runtime).first()
        agent = agent or make_agent(workspace, runtime.title(), runtime)
        defaults = {
            "agent": agent,
            "check_command": started("check", token),
            "instructions": token
            if kind == "model"
            else script.format(start=started("turn", token)),
            "enabled": False,
            "next_fire_at": None,
        }
        routine = make_routine(workspace, **{**defaults, **fields})
        return Due(routine, kind, token, self.fake)

    def workspace(self, *, paused: bool = False) -> Any:
        """A workspace with a local machine and a way to the fake model."""
        workspace = make_workspace()
        make_machine(workspace, provider="local")
        if paused:
            workspace.paused_at = database_clock.now()
            workspace.save()
        ModelKey.objects.create(
            workspace=workspace,
            provider="openai-compatible",
            base_url=self.fake.base_url("openai-compatible"),
            model="small",
            own_input=self.fake.meter.input_rate,
            own_output=self.fake.meter.output_rate,
            sealed=encrypt(settings.ENCRYPTION_KEY, str(workspace.key), "sk-canary"),
            last_four="nary",
        )
        return workspace


def answer(seen: Seen) -> Answer:
    """The model: it uses one tool, then finishes."""
    token = re.search(r"errand-\d+", seen.text)
    if seen.results or token is None:
        return finish("Did it.")
    return call("run_command", command=started("turn", token[0]))


def comes_true(condition: Callable[[], object], seconds: float) -> bool:
    """Whether a condition came to hold in time; a database that is away meanwhile is waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return True
        except DatabaseError:
            connection.close()
        time.sleep(0.1)
    return False
