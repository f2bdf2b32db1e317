"""A machine is kept within its disk while its command runs."""

import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from machines.providers import local_disk
from machines.providers.base import Exit, Ref, Spec
from machines.providers.local import LocalProvider
from machines.providers.local_disk import DiskWatch, disk_usage, host_is_full
from tests.contracts.machine_provider_contract import awake, ran

MIB = 1024**2
SPEC = Spec(memory=256 * MIB, disk=10 * MIB, pids=64)


@pytest.fixture
def provider(machines_root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalProvider]:
    monkeypatch.setattr(local_disk, "MEASURE_SECONDS", 0.2)
    monkeypatch.setattr(local_disk, "LOOK_SECONDS", 0.1)
    provider = LocalProvider(machines_root / "machines")
    yield provider
    provider.destroy(Ref("local", "one"))


@pytest.mark.sandbox
@pytest.mark.parametrize("where", ["~", "/tmp"])
def test_many_files_together_are_bounded_while_the_command_runs(
    provider: LocalProvider, where: str
) -> None:
    ref = awake(provider, spec=SPEC)
    script = f"cd {where}; fallocate -l 6M f1; fallocate -l 6M f2; echo both; sleep 60"
    begun = time.monotonic()
    end, out, _ = ran(provider, ref, "bash", "-c", script)
    assert (end, out) == (Exit(137, "disk"), b"both\n")
    assert time.monotonic() - begun < 15
    assert ran(provider, ref, "bash", "-c", "echo more > more")[0].code != 0


@pytest.mark.sandbox
def test_on_a_full_disk_a_command_goes_on_while_it_takes_no_more(provider: LocalProvider) -> None:
    ref = awake(provider, spec=SPEC)
    ran(provider, ref, "bash", "-c", "fallocate -l 6M f1; fallocate -l 6M f2")
    assert ran(provider, ref, "bash", "-c", "sleep 1; rm f1")[0] == Exit(0, "exit")


@pytest.mark.sandbox
def test_a_command_ends_when_the_host_is_full(
    provider: LocalProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = awake(provider, spec=SPEC)
    monkeypatch.setattr(local_disk, "host_is_full", lambda folder: folder.name == "home")
    assert ran(provider, ref, "sleep", "60")[0] == Exit(137, "disk")


Facts = namedtuple("Facts", "f_bavail f_frsize f_blocks")


@pytest.mark.parametrize(
    ("free", "size", "full"),
    [
        (513, 100_000, False),
        (511, 100_000, True),
        (21, 1000, False),  # a small file system keeps a fiftieth
        (19, 1000, True),
    ],
)
def test_the_host_keeps_some_of_its_disk(
    monkeypatch: pytest.MonkeyPatch, free: int, size: int, full: bool
) -> None:
    facts = Facts(free * 256, 4096, size * 256)
    monkeypatch.setattr("machines.providers.local_disk.os.statvfs", lambda folder: facts)
    assert host_is_full(Path("/")) is full


def test_measuring_takes_a_tenth_of_the_time_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(local_disk, "monotonic", lambda: now)
    monkeypatch.setattr(local_disk, "host_is_full", lambda folder: False)
    (tmp_path / "f").write_bytes(b"x" * MIB)
    watch = DiskWatch((tmp_path,), disk_usage(tmp_path))
    now = 2.0
    assert not watch.exceeded()
    assert watch._measure is not None
    watch._measure.wait(10)
    now = 12.0  # it took ten seconds
    assert not watch.exceeded()
    (tmp_path / "g").write_bytes(b"x" * MIB)
    now = 101.0
    assert not watch.exceeded()
    assert watch._measure is None
    now = 103.0
    assert not watch.exceeded()
    assert watch._measure is not None
    watch._measure.wait(10)
    assert watch.exceeded()
    assert watch.was_exceeded


def test_a_measure_that_goes_on_ends_with_the_command(tmp_path: Path) -> None:
    watch = DiskWatch((tmp_path,), 0)
    watch._next_measure = 0.0
    watch.exceeded()
    measure = watch._measure
    assert measure is not None
    watch.release()
    assert measure.returncode is not None
    assert measure.stdout is not None and measure.stdout.closed
