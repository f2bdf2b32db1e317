"""Real machines, and a model behind real HTTP, for the runner's tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Workspace
from foundation import database_clock
from foundation.crypto import encrypt
from machines import access
from machines.models import Machine
from machines.providers.base import Provider, Ref
from routines_app.configure.workspace import furnish
from routines_app.fires import FireRequest, request_fires
from routines_app.models import Agent, ModelKey, Routine, Run
from routines_app.runner import lease
from routines_app.runner.run_fire import take_fire
from tests.agents.support import MODELS
from tests.factories import make_agent, make_machine, make_workspace, owner_of
from tests.fakes.model_provider import FakeProvider, Meter


@pytest.fixture
def machine(settings: Any, open_folder: Path) -> Iterator[Machine]:
    """A sleeping local machine in a workspace of its own."""
    settings.MACHINES_ROOT = open_folder / "machines"
    access.provider_named.cache_clear()
    row = make_machine(make_workspace(), provider="local")
    yield row
    provider, ref = access.provider_for(row)
    provider.destroy(ref)
    access.provider_named.cache_clear()
    lease.draining.clear()


@pytest.fixture
def disk(machine: Machine) -> tuple[Provider, Ref]:
    """The machine's provider, for looking at its files."""
    return access.provider_for(machine)


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    """A model provider on loopback, with a meter of its own; set its `script`."""
    with FakeProvider((), Meter(bytes_per_token=2.5)) as running:
        yield running


@pytest.fixture
def assistant(machine: Machine, fake: FakeProvider, settings: Any) -> Agent:
    """An agent with a model: the workspace's own server, priced as the fake's meter is."""
    workspace = machine.workspace
    ModelKey.objects.create(
        workspace=workspace,
        provider="openai-compatible",
        base_url=fake.base_url("openai-compatible"),
        model="small",
        own_input=fake.meter.input_rate,
        own_output=fake.meter.output_rate,
        sealed=encrypt(settings.ENCRYPTION_KEY, str(workspace.key), "sk-canary"),
        last_four="nary",
    )
    return make_agent(workspace, "Assistant", "model")


@pytest.fixture
def harbour(settings: Any, tmp_path: Any) -> Iterator[Workspace]:
    """A furnished workspace whose machine is in memory."""
    settings.MACHINE_PROVIDER = "memory"
    settings.MACHINES_ROOT = tmp_path
    access.provider_named.cache_clear()
    workspace = make_workspace()
    make_machine(workspace)
    furnish(workspace, owner_of(workspace))
    yield workspace
    access.provider_named.cache_clear()


def connect(workspace: Workspace, fake: FakeProvider, settings: Any, provider: str) -> None:
    """Connect the fake as one provider's, with each of whose models it answers."""
    ModelKey.objects.create(
        workspace=workspace,
        provider=provider,
        base_url=fake.base_url(provider),
        model=MODELS[provider],
        own_input=fake.meter.input_rate,
        own_output=fake.meter.output_rate,
        sealed=encrypt(settings.ENCRYPTION_KEY, str(workspace.key), "sk-canary"),
    )


def fire_once(routine: Routine, key: str) -> Run:
    """Ask by the schedule, take the fire, and return the run as it ended."""
    now = database_clock.now()
    request_fires([FireRequest(routine.pk, "timer", key, now, scheduled=True)], now)
    run = Run.objects.get(routine=routine, fire__dedup_key=key)
    take_fire(run.fire_id)
    run.refresh_from_db()
    return run
