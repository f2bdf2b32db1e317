"""A wake and a sleep that meet: whichever comes second, the row says what the machine is."""

from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread

import pytest
from django.db import connection

from foundation import database_clock
from machines import access
from machines.lifecycle import QUICK_STUCK_AFTER, MachineState, WakeFacts, decide_wake
from machines.models import Machine
from machines.providers.base import ProviderUnavailable, Ref
from machines.providers.memory import MemoryProvider
from routines_app.admission import NotWoken, Woken, put_to_sleep, wake_machine
from routines_app.admission.machine_care import care_for_machines

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 20.0  # seconds until a test is given up


class Held:
    """One call of the provider that stays where it is until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, call: str, *, after: bool) -> None:
        self.reached, self.go = Event(), Event()
        real = getattr(MemoryProvider, call)

        def held(provider: MemoryProvider, ref: Ref) -> None:
            first = not self.reached.is_set()
            if after:
                real(provider, ref)
            if first:
                self.reached.set()
                assert self.go.wait(PATIENCE)
            if not after:
                real(provider, ref)

        monkeypatch.setattr(MemoryProvider, call, held)


def beside(work: Callable[[], object]) -> tuple[Thread, list[object]]:
    """The work in a thread with a connection of its own, and what it gave."""
    gave: list[object] = []

    def run() -> None:
        try:
            gave.append(work())
        finally:
            connection.close()

    thread = Thread(target=run)
    thread.start()
    return thread, gave


def ended(thread: Thread) -> None:
    thread.join(PATIENCE)
    assert not thread.is_alive()


def agrees(machine: Machine, state: MachineState) -> None:
    """The row says this, the provider knows of the same, and only one awake has an open span."""
    machine.refresh_from_db()
    provider, ref = access.provider_for(machine)
    assert (machine.state, provider.usage(ref).state) == (state, state)
    assert machine.spans.filter(ended_at__isnull=True).count() == (state == MachineState.AWAKE)


def idle(machine: Machine) -> None:
    long_ago = database_clock.now() - timedelta(hours=1)
    Machine.objects.filter(pk=machine.pk).update(used_at=long_ago)


def test_the_tick_leaves_a_machine_that_somebody_is_about_to_use(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    wake_machine(machine, "a test")
    idle(machine)
    held = Held(monkeypatch, "wake", after=False)
    waking, woken = beside(lambda: wake_machine(machine, "Morning brief"))
    assert held.reached.wait(PATIENCE)
    care_for_machines()
    agrees(machine, MachineState.AWAKE)
    held.go.set()
    ended(waking)
    assert isinstance(woken[0], Woken)
    agrees(machine, MachineState.AWAKE)


@pytest.mark.parametrize("after", [True, False])
def test_a_sleep_that_overtakes_a_wake_is_waited_for_and_woken_from(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    wake_machine(machine, "a test")
    wake, sleep = Held(monkeypatch, "wake", after=after), Held(monkeypatch, "suspend", after=False)
    waking, woken = beside(lambda: wake_machine(machine, "Morning brief"))
    assert wake.reached.wait(PATIENCE)
    sleeping, _slept = beside(lambda: put_to_sleep(machine, "Ada stopped it."))
    assert sleep.reached.wait(PATIENCE)
    wake.go.set()  # the wake goes on while the machine is being put to sleep
    waking.join(0.5)
    machine.refresh_from_db()
    assert (machine.state, woken) == ("suspending", [])
    sleep.go.set()
    ended(sleeping)
    ended(waking)
    assert isinstance(woken[0], Woken)
    agrees(machine, MachineState.AWAKE)


def test_a_wake_that_meets_a_sleep_on_its_way_waits_for_its_end(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    wake_machine(machine, "a test")
    idle(machine)
    sleep = Held(monkeypatch, "suspend", after=False)
    ticking, _gave = beside(care_for_machines)
    assert sleep.reached.wait(PATIENCE)
    waking, woken = beside(lambda: wake_machine(machine, "Morning brief"))
    waking.join(0.3)
    assert woken == []
    sleep.go.set()
    ended(ticking)
    ended(waking)
    assert isinstance(woken[0], Woken) and not woken[0].already
    agrees(machine, MachineState.AWAKE)


def test_two_that_wake_it_at_once_both_have_it(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Held(monkeypatch, "wake", after=False)
    waking, woken = beside(lambda: wake_machine(machine, "Morning brief"))
    assert first.reached.wait(PATIENCE)
    assert isinstance(wake_machine(machine, "Ada"), Woken)
    first.go.set()
    ended(waking)
    assert isinstance(woken[0], Woken)
    agrees(machine, MachineState.AWAKE)


def test_a_wake_that_fails_late_leaves_what_another_has_woken(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Held(monkeypatch, "wake", after=False)
    waking, woken = beside(lambda: wake_machine(machine, "Morning brief"))
    assert first.reached.wait(PATIENCE)
    assert isinstance(wake_machine(machine, "Ada"), Woken)
    memory.fail("wake", ProviderUnavailable("It is being moved. Try again."))
    first.go.set()
    ended(waking)
    assert isinstance(woken[0], NotWoken)
    agrees(machine, MachineState.AWAKE)


def test_a_sleep_whose_runner_died_is_taken_over(machine: Machine, memory: MemoryProvider) -> None:
    suspending = MachineState.SUSPENDING
    assert decide_wake(WakeFacts(suspending, deleted=False, stuck=True)).__class__.__name__ == (
        "MayWake"
    )
    wake_machine(machine, "a test")
    since = database_clock.now() - QUICK_STUCK_AFTER
    Machine.objects.filter(pk=machine.pk).update(state=suspending, state_since=since)
    assert isinstance(wake_machine(machine, "Morning brief"), Woken)
    agrees(machine, MachineState.AWAKE)
