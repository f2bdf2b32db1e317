"""Real machines for the runner's tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from machines import access
from machines.models import Machine
from machines.providers.base import Provider, Ref
from routines_app.runner import lease
from tests.factories import make_machine, make_workspace


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
