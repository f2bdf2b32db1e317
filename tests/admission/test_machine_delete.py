"""A machine is deleted only when nothing needs it, and then all of it goes."""

from datetime import timedelta

import pytest

from foundation import clock, database_clock
from machines import access
from machines.lifecycle import MachineState
from machines.models import Machine
from machines.providers.base import NotFound, ProviderUnavailable
from machines.providers.memory import MemoryProvider
from routines_app.admission import NotWoken, wake_machine
from routines_app.admission.machine_care import archive_machine, stored_at
from routines_app.admission.machine_delete import (
    Deleted,
    NotNow,
    StillNeeded,
    clear_deleted_machines,
    delete_machine,
)
from routines_app.configure.routine import Refused, turn_on
from routines_app.fires import FireRequest, claim_fire, request_fires
from tests.factories import make_person, make_routine

pytestmark = pytest.mark.django_db(transaction=True)


def test_its_disk_goes_with_it_and_nothing_wakes_it(
    machine: Machine, memory: MemoryProvider
) -> None:
    provider, ref = access.provider_for(machine)
    wake_machine(machine, "a test")
    assert isinstance(delete_machine(machine, make_person("Ada")), Deleted)
    machine.refresh_from_db()
    assert machine.deleted_at is not None and machine.ref == ""
    assert machine.state_reason == "Ada deleted it."
    assert machine.spans.get().ended_at is not None
    with pytest.raises(NotFound):
        provider.usage(ref)
    woken = wake_machine(machine, "a test")
    assert isinstance(woken, NotWoken) and woken.why == "gone"


def test_what_is_in_storage_goes_too(machine: Machine, memory: MemoryProvider) -> None:
    Machine.objects.update(used_at=clock.now() - timedelta(days=31))
    archive_machine(machine)
    assert stored_at(machine).exists()
    assert isinstance(delete_machine(machine, make_person()), Deleted)
    assert not stored_at(machine).exists()


def test_a_routine_that_is_on_keeps_it(machine: Machine, memory: MemoryProvider) -> None:
    on = make_routine(machine.workspace, machine=machine)
    off = make_routine(machine.workspace, machine=machine, enabled=False)
    answer = delete_machine(machine, make_person())
    assert isinstance(answer, StillNeeded) and answer.routines == [on]
    machine.refresh_from_db()
    assert machine.deleted_at is None
    on.enabled = False
    on.save()
    assert isinstance(delete_machine(machine, make_person()), Deleted)
    refused = turn_on(off, make_person())
    assert isinstance(refused, Refused)
    assert [error.field for error in refused.errors] == ["machine"]


def test_a_run_keeps_it_until_it_ends(machine: Machine, memory: MemoryProvider) -> None:
    routine = make_routine(machine.workspace, machine=machine, enabled=False)
    now = database_clock.now()
    made = request_fires([FireRequest(routine.pk, "manual", "k", now)], now)
    claim_fire(next(iter(made)), "w", now)
    answer = delete_machine(machine, make_person())
    assert answer == NotNow("A run is on harbour-1. Stop it first, or wait until it ends.")


@pytest.mark.parametrize("state", [MachineState.ARCHIVING, MachineState.RESTORING])
def test_one_on_its_way_is_left_alone(
    machine: Machine, memory: MemoryProvider, state: MachineState
) -> None:
    Machine.objects.update(state=state)
    answer = delete_machine(machine, make_person())
    assert answer == NotNow("harbour-1 is on its way. Try again in a few minutes.")
    assert not Machine.objects.filter(deleted_at__isnull=False).exists()


def test_a_disk_that_can_t_be_freed_now_is_freed_later(
    machine: Machine, memory: MemoryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, ref = access.provider_for(machine)
    with monkeypatch.context() as away:

        def unreachable(ref: object) -> None:
            raise ProviderUnavailable("Machines can’t be reached now.")

        away.setattr(memory, "destroy", unreachable)
        assert isinstance(delete_machine(machine, make_person()), Deleted)
    assert memory.usage(ref).state == "asleep"
    clear_deleted_machines()
    with pytest.raises(NotFound):
        memory.usage(ref)
    machine.refresh_from_db()
    assert machine.ref == ""
