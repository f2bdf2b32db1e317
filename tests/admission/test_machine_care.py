"""Machines sleep when idle, go to cold storage when unused, and come back whole."""

from datetime import UTC, datetime, timedelta

import pytest
from celery import current_app
from kombu.exceptions import OperationalError

from billing.models import Account
from foundation import database_clock
from machines import access
from machines.lifecycle import (
    MachineState,
    MayNotWake,
    MayWake,
    WakeFacts,
    after_a_crash,
    decide_wake,
    may_archive,
    may_suspend,
)
from machines.models import Machine
from machines.providers.base import NotFound
from machines.providers.memory import MemoryProvider
from routines_app.admission import restoring, wake_machine
from routines_app.admission.machine_care import (
    NotRestored,
    archive_machine,
    begin_restore,
    care_for_machines,
    restore_machine,
    settle_after_start,
    stored_at,
)
from routines_app.fires import FireRequest, claim_fire, request_fires
from routines_app.models import Routine
from tests.factories import make_routine

NOW = datetime(2027, 3, 25, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize("state", list(MachineState))
def test_only_a_machine_with_its_disk_may_wake(state: MachineState) -> None:
    decision = decide_wake(WakeFacts(state, deleted=False))
    may = state in (MachineState.ASLEEP, MachineState.WAKING, MachineState.AWAKE)
    assert isinstance(decision, MayWake) is may
    assert decide_wake(WakeFacts(state, deleted=True)) == MayNotWake("gone")


def test_the_plans_number_awake_holds_for_those_that_sleep() -> None:
    assert decide_wake(WakeFacts(MachineState.ASLEEP, False, 2, 2)) == MayNotWake("too_many")
    assert decide_wake(WakeFacts(MachineState.AWAKE, False, 2, 2)) == MayWake(already=True)


def test_only_an_idle_machine_is_put_to_sleep() -> None:
    idle = timedelta(minutes=10)
    awake = MachineState.AWAKE
    assert may_suspend(awake, NOW - idle, NOW, idle, busy=False)
    assert not may_suspend(awake, NOW - idle, NOW, idle, busy=True)
    assert not may_suspend(awake, NOW - idle / 2, NOW, idle, busy=False)
    assert not may_suspend(MachineState.ASLEEP, None, NOW, idle, busy=False)


def test_a_machine_with_a_routine_on_is_never_archived() -> None:
    asleep, long_ago = MachineState.ASLEEP, NOW - 31 * DAY
    assert may_archive(asleep, long_ago, long_ago, NOW, routines_on=0)
    assert not may_archive(asleep, long_ago, long_ago, NOW, routines_on=1)
    assert not may_archive(asleep, NOW - 29 * DAY, long_ago, NOW, routines_on=0)
    assert not may_archive(MachineState.AWAKE, long_ago, long_ago, NOW, routines_on=0)


def test_what_got_stuck_goes_back_to_where_its_disk_is() -> None:
    long_ago = NOW - timedelta(hours=2)
    assert after_a_crash(MachineState.RESTORING, long_ago, NOW) is MachineState.ARCHIVED
    assert after_a_crash(MachineState.ARCHIVING, long_ago, NOW) is MachineState.ASLEEP
    assert after_a_crash(MachineState.RESTORING, NOW, NOW) is None
    assert after_a_crash(MachineState.AWAKE, long_ago, NOW) is None


@pytest.mark.django_db(transaction=True)
def test_an_idle_machine_sleeps_and_a_used_one_stays_awake(
    machine: Machine, memory: MemoryProvider
) -> None:
    wake_machine(machine, "a test")
    care_for_machines()
    machine.refresh_from_db()
    assert machine.state == "awake"
    Machine.objects.update(used_at=database_clock.now() - timedelta(minutes=11))
    care_for_machines()
    machine.refresh_from_db()
    assert (machine.state, machine.state_reason) == ("asleep", "It was idle.")
    assert machine.spans.get().ended_at is not None


@pytest.mark.django_db(transaction=True)
def test_a_claimed_run_keeps_its_machine_awake(machine: Machine, memory: MemoryProvider) -> None:
    wake_machine(machine, "a test")
    now = database_clock.now()
    routine = make_routine(machine.workspace, machine=machine)
    made = request_fires([FireRequest(routine.pk, "timer", "k", now)], now)
    claim_fire(next(iter(made)), "w", now)
    Machine.objects.update(used_at=now - timedelta(hours=1))
    care_for_machines()
    machine.refresh_from_db()
    assert machine.state == "awake"


def unused(machine: Machine) -> None:
    Machine.objects.filter(pk=machine.pk).update(used_at=database_clock.now() - 31 * DAY)
    machine.refresh_from_db()


@pytest.mark.django_db(transaction=True)
def test_cold_storage_and_back_keeps_every_file(machine: Machine, memory: MemoryProvider) -> None:
    provider, ref = access.provider_for(machine)
    provider.write_file(ref, "~/notes.md", b"tides")
    unused(machine)
    care_for_machines()
    machine.refresh_from_db()
    assert machine.state == "archived"
    assert stored_at(machine).stat().st_size == machine.archive["size"]
    with pytest.raises(NotFound):
        provider.read_file(ref, "~/notes.md")
    assert wake_machine(machine, "x").__class__.__name__ == "NotWoken"

    assert begin_restore(machine, "a test")
    assert not begin_restore(machine, "a test")
    restore_machine(machine)
    machine.refresh_from_db()
    assert (machine.state, machine.archive) == ("asleep", {})
    provider, ref = access.provider_for(machine)
    assert provider.read_file(ref, "~/notes.md") == b"tides"
    assert not stored_at(machine).exists()


@pytest.mark.django_db(transaction=True)
def test_one_byte_that_differs_keeps_it_in_storage_untouched(
    machine: Machine, memory: MemoryProvider
) -> None:
    provider, ref = access.provider_for(machine)
    provider.write_file(ref, "~/notes.md", b"tides")
    unused(machine)
    archive_machine(machine)
    stored = stored_at(machine)
    stored.write_bytes(stored.read_bytes().replace(b"tides", b"tidez"))
    damaged = stored.read_bytes()
    begin_restore(machine, "a test")
    with pytest.raises(NotRestored):
        restore_machine(machine)
    machine.refresh_from_db()
    assert machine.state == "archived"
    assert stored.read_bytes() == damaged


@pytest.mark.django_db(transaction=True)
def test_a_routine_that_is_on_keeps_its_machine_from_storage(
    machine: Machine, memory: MemoryProvider
) -> None:
    make_routine(machine.workspace, machine=machine)
    unused(machine)
    care_for_machines()
    machine.refresh_from_db()
    assert machine.state == "asleep"


@pytest.mark.django_db(transaction=True)
def test_a_start_settles_what_was_on_its_way(machine: Machine, memory: MemoryProvider) -> None:
    Machine.objects.filter(pk=machine.pk).update(state="suspending")
    settle_after_start()
    machine.refresh_from_db()
    assert machine.state == "asleep"
    assert Account.objects.count() == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", ["archive", "destroy"])
def test_a_routine_turned_on_while_its_machine_is_stored_finds_every_file(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    routine = make_routine(machine.workspace, machine=machine, enabled=False)
    provider, ref = access.provider_for(machine)
    provider.write_file(ref, "~/notes.md", b"tides")
    unused(machine)
    real = getattr(MemoryProvider, step)

    def turned_on_meanwhile(*arguments: object) -> object:
        Routine.objects.filter(pk=routine.pk).update(enabled=True)
        return real(*arguments)

    monkeypatch.setattr(MemoryProvider, step, turned_on_meanwhile)
    care_for_machines()
    machine.refresh_from_db()
    assert (machine.state, machine.archive) == ("asleep", {})
    provider, ref = access.provider_for(machine)
    assert provider.read_file(ref, "~/notes.md") == b"tides"
    assert not stored_at(machine).exists()


@pytest.mark.django_db(transaction=True)
def test_a_crash_while_its_disk_is_freed_leaves_the_stored_copy_in_force(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, ref = access.provider_for(machine)
    provider.write_file(ref, "~/notes.md", b"tides")
    unused(machine)
    real = MemoryProvider.destroy

    def dies_after_it(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(MemoryProvider, "destroy", dies_after_it)
        care_for_machines()
    settle_after_start()
    machine.refresh_from_db()
    assert machine.state == "archived"
    begin_restore(machine, "a test")
    restore_machine(machine)
    machine.refresh_from_db()
    provider, ref = access.provider_for(machine)
    assert provider.read_file(ref, "~/notes.md") == b"tides"


@pytest.mark.django_db(transaction=True)
def test_without_a_broker_a_restore_waits_in_cold_storage_and_says_so(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("no broker")

    unused(machine)
    archive_machine(machine)
    monkeypatch.setattr(current_app, "send_task", away)
    restoring.bring_back(machine, "a test")
    machine.refresh_from_db()
    assert machine.state == "archived"
    assert "Try again" in machine.state_reason


@pytest.mark.django_db(transaction=True)
def test_storing_that_was_given_up_frees_no_disk_when_it_ends_after_all(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, ref = access.provider_for(machine)
    provider.write_file(ref, "~/notes.md", b"tides")
    unused(machine)
    real = MemoryProvider.archive

    def slower_than_an_hour(*arguments: object) -> object:
        stored = real(*arguments)  # type: ignore[arg-type]
        settle_after_start()
        wake_machine(machine, "a person")
        provider.write_file(ref, "~/notes.md", b"high water")
        return stored

    monkeypatch.setattr(MemoryProvider, "archive", slower_than_an_hour)
    assert not archive_machine(machine)
    machine.refresh_from_db()
    assert (machine.state, machine.archive) == ("awake", {})
    assert provider.read_file(ref, "~/notes.md") == b"high water"
    assert not stored_at(machine).exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_that_store_the_same_disk_only_the_one_in_force_leaves_its_copy(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, ref = access.provider_for(machine)
    provider.write_file(ref, "~/notes.md", b"tides")
    unused(machine)
    real = MemoryProvider.archive

    def overtaken(*arguments: object) -> object:
        monkeypatch.setattr(MemoryProvider, "archive", real)
        stored = real(*arguments)  # type: ignore[arg-type]
        settle_after_start()
        provider.write_file(ref, "~/notes.md", b"high water")
        assert archive_machine(machine)
        return stored

    monkeypatch.setattr(MemoryProvider, "archive", overtaken)
    with pytest.raises(OSError):
        archive_machine(machine)
    assert begin_restore(machine, "a test")
    restore_machine(machine)
    machine.refresh_from_db()
    provider, ref = access.provider_for(machine)
    assert provider.read_file(ref, "~/notes.md") == b"high water"


@pytest.mark.django_db(transaction=True)
def test_a_restore_that_was_given_up_changes_nothing_when_it_ends_after_all(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, ref = access.provider_for(machine)
    provider.write_file(ref, "~/notes.md", b"tides")
    unused(machine)
    archive_machine(machine)
    begin_restore(machine, "a test")
    real = MemoryProvider.restore

    def slower_than_an_hour(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]
        settle_after_start()

    monkeypatch.setattr(MemoryProvider, "restore", slower_than_an_hour)
    with pytest.raises(NotRestored):
        restore_machine(machine)
    machine.refresh_from_db()
    assert machine.state == "archived" and stored_at(machine).exists()
    monkeypatch.setattr(MemoryProvider, "restore", real)
    begin_restore(machine, "a test")
    restore_machine(machine)
    machine.refresh_from_db()
    provider, ref = access.provider_for(machine)
    assert provider.read_file(ref, "~/notes.md") == b"tides"
