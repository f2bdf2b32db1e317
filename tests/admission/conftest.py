"""A machine in memory, whose provider can be told what goes wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from machines import access
from machines.models import Machine
from machines.providers.memory import MemoryProvider
from tests.factories import make_machine, make_workspace


@pytest.fixture
def memory(settings: Any, tmp_path: Path) -> Iterator[MemoryProvider]:
    """The provider of the machines in memory, new for each test."""
    settings.MEDIA_ROOT = tmp_path / "files"
    access.provider_named.cache_clear()
    provider = access.provider_named("memory")
    assert isinstance(provider, MemoryProvider)
    yield provider
    access.provider_named.cache_clear()


@pytest.fixture
def machine(memory: MemoryProvider) -> Machine:
    """A sleeping machine of a workspace of its own, made there already."""
    row = make_machine(make_workspace())
    access.provider_for(row)
    return row
