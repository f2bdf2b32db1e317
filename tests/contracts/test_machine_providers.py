"""Every kind of machine, held to the one contract."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from machines.providers import provider as provider_called
from machines.providers.base import Provider, Spec, Unsupported
from machines.providers.local import LocalProvider
from machines.providers.memory import MemoryProvider
from tests.contracts.machine_provider_contract import MachineProviderContract


class TestMemory(MachineProviderContract):
    @pytest.fixture
    def provider(self) -> Provider:
        return MemoryProvider()


@pytest.mark.sandbox
class TestLocal(MachineProviderContract):
    """As whoever runs the tests: root, with a uid for each machine, or an ordinary user."""

    @pytest.fixture
    def provider(self, machines_root: Path) -> Iterator[Provider]:
        provider = LocalProvider(machines_root)
        yield provider
        for path in machines_root.iterdir():
            if path.is_dir():
                provider.destroy(provider.create(path.name, Spec()))


@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0, reason="the whole suite runs as an ordinary user already")
def test_local_machines_of_an_ordinary_user_keep_the_contract_and_hold(machines_root: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.machines.as_ordinary_user", str(machines_root)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.endswith(" kept, 0 failed\n")


def test_a_kind_of_machine_is_had_by_its_name(tmp_path: Path) -> None:
    assert provider_called("memory").name == "memory"
    assert provider_called("local", tmp_path).name == "local"
    with pytest.raises(Unsupported):
        provider_called("local")
    with pytest.raises(Unsupported, match="cloud"):
        provider_called("cloud")
