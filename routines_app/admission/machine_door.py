"""The one door to a machine: a run, the Start button and a first page all come through here."""

from dataclasses import dataclass

import structlog
from django.db import transaction

from foundation import database_clock
from foundation.failpoints import failpoint
from machines.access import provider_for
from machines.lifecycle import MachineState, MayNotWake, WakeFacts, decide_wake
from machines.models import AwakeSpan, Machine
from machines.providers.base import MachineError, Provider, Ref, WakeTimeout

log = structlog.get_logger()


@dataclass(frozen=True)
class Woken:
    """The machine is awake. `already` when it was so before."""

    provider: Provider
    ref: Ref
    already: bool


@dataclass(frozen=True)
class NotWoken:
    """It stays as it is. `why`: gone, cold, timeout or refused; `sentence` is for a person."""

    why: str
    sentence: str


def wake_machine(machine: Machine, why: str) -> Woken | NotWoken:
    """Wake it, or say why not. `why` is kept as what woke it ("Morning brief", "Ada")."""
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        facts = WakeFacts(MachineState(row.state), row.deleted_at is not None)
        decision = decide_wake(facts)
        if isinstance(decision, MayNotWake):
            return NotWoken(decision.why, _reason(decision.why, row.name))
        if not decision.already:
            _move(row, MachineState.WAKING, why)
    try:
        provider, ref = provider_for(row)
        provider.wake(ref)
    except WakeTimeout as error:
        _set_state(machine.pk, MachineState.ASLEEP, "It didn’t wake in time.")
        return NotWoken("timeout", error.sentence)
    except MachineError as error:
        log.warning("wake_refused", machine=machine.slug, reason=error.sentence)
        _set_state(machine.pk, MachineState.ASLEEP, error.sentence)
        return NotWoken("refused", error.sentence)
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        now = database_clock.now()
        row.used_at = now
        row.save(update_fields=["used_at"])
        if row.state != MachineState.AWAKE:
            _move(row, MachineState.AWAKE, why)
        if not row.spans.filter(ended_at__isnull=True).exists():
            AwakeSpan.objects.create(machine=row, started_at=now, woken_by=why[:200])
        failpoint("wake.before")
    failpoint("wake.after")
    return Woken(provider, ref, decision.already)


def put_to_sleep(machine: Machine, why: str) -> None:
    """End everything on it and keep its disk. Doing it twice is doing it once.

    Raises MachineError when its provider can't.
    """
    provider, ref = provider_for(machine)
    provider.suspend(ref)
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        if row.state in (MachineState.AWAKE, MachineState.WAKING, MachineState.SUSPENDING):
            _move(row, MachineState.ASLEEP, why)
            row.spans.filter(ended_at__isnull=True).update(ended_at=database_clock.now())


def _move(row: Machine, state: MachineState, why: str) -> None:
    row.state = state
    row.state_since = database_clock.now()
    row.state_reason = why[:200]
    row.save(update_fields=["state", "state_since", "state_reason"])


def _set_state(machine_id: int, state: MachineState, why: str) -> None:
    with transaction.atomic():
        _move(Machine.objects.select_for_update().get(pk=machine_id), state, why)


def _reason(why: str, name: str) -> str:
    if why == "gone":
        return f"{name} has been deleted."
    return f"{name} is in cold storage. Restore it first."
