"""The one door to a machine: a run, the Start button and a first page all come through here."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db import transaction

from billing.models import Account
from billing.plans import plan_of
from foundation import clock, database_clock
from foundation.failpoints import failpoint
from machines.access import provider_for
from machines.lifecycle import (
    MachineState,
    MayNotWake,
    MayWake,
    WakeFacts,
    after_a_crash,
    decide_wake,
)
from machines.models import AwakeSpan, Machine
from machines.providers.base import MachineError, Provider, Ref, WakeTimeout

log = structlog.get_logger()

_STATE = ["state", "state_since", "state_reason"]
_FALLING_ASLEEP = 10.0  # seconds that a wake waits for a machine that is going to sleep
_ROUNDS = 3  # how often a wake begins anew because the machine was put to sleep meanwhile


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
    """Wake it, or say why not. `why` is kept as what woke it ("Morning brief", "Ada").

    What puts it to sleep meanwhile isn't written over: it is waited for, and woken after.
    """
    for _round in range(_ROUNDS):
        decision, row = _decide(machine, why)
        if isinstance(decision, MayNotWake):
            return NotWoken(decision.why, _reason(decision.why, row.name))
        try:
            provider, ref = provider_for(row)
            provider.wake(ref)
        except WakeTimeout as error:
            _fell_back(row, "It didn’t wake in time.")
            return NotWoken("timeout", error.sentence)
        except MachineError as error:
            log.warning("wake_refused", machine=machine.slug, reason=error.sentence)
            _fell_back(row, error.sentence)
            return NotWoken("refused", error.sentence)
        if (decision.already and _still_awake(machine)) or _is_awake(row, why):
            return Woken(provider, ref, decision.already)
    return NotWoken("going_to_sleep", _reason("going_to_sleep", row.name))


def _still_awake(machine: Machine) -> bool:
    """Whether a machine that was awake is so still; that it's used is noted before."""
    return Machine.objects.filter(pk=machine.pk, state=MachineState.AWAKE).exists()


def _is_awake(began: Machine, why: str) -> bool:
    """Say that the wake which `began` came to its end; False when it was put to sleep since."""
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=began.pk)
        ours = is_since(row, MachineState.WAKING, began.state_since)
        if not ours and row.state != MachineState.AWAKE:
            return False
        now = row.used_at = database_clock.now()
        if ours:
            row.state, row.state_since, row.state_reason = MachineState.AWAKE, now, why[:200]
        row.save(update_fields=["used_at", *_STATE])
        span = AwakeSpan(machine=row, started_at=now, woken_by=why[:200])
        AwakeSpan.objects.bulk_create([span], ignore_conflicts=True)  # one is open at most
        failpoint("wake.before")
    failpoint("wake.after")
    return True


def _fell_back(began: Machine, why: str) -> None:
    """The wake failed: it is asleep, unless somebody has moved it since."""
    _move_if_since(began, MachineState(began.state), MachineState.ASLEEP, why)


def _decide(machine: Machine, why: str) -> tuple[MayWake | MayNotWake, Machine]:
    """Judge under the workspace's lock, so that the plan's number holds; a machine that is just
    going to sleep is waited for, ten seconds at most."""
    until = clock.monotonic() + _FALLING_ASLEEP
    while True:
        with transaction.atomic():
            account = Account.objects.select_for_update().filter(workspace_id=machine.workspace_id)
            plan = plan_of(next((each.plan for each in account), "self-hosted"))
            row = Machine.objects.select_for_update().get(pk=machine.pk)
            others = Machine.objects.filter(
                workspace_id=row.workspace_id,
                state__in=[s for s in MachineState if s.holds_compute],
            ).exclude(pk=row.pk)
            state, now = MachineState(row.state), database_clock.now()
            facts = WakeFacts(
                state,
                row.deleted_at is not None,
                others.count() if plan.awake_at_once is not None else 0,
                plan.awake_at_once,
                after_a_crash(state, row.state_since, now) is not None,
            )
            decision = decide_wake(facts)
            if isinstance(decision, MayWake):
                _begin(row, why)
        waiting = isinstance(decision, MayNotWake) and decision.why == "going_to_sleep"
        if not waiting or clock.monotonic() >= until:
            return decision, row
        time.sleep(0.1)


def _begin(row: Machine, why: str) -> None:
    """Note what is about to use it. A wake that goes on is joined: begun anew, each of two that
    wake it would undo the other's."""
    if row.state == MachineState.AWAKE:
        row.used_at = database_clock.now()  # whoever puts idle machines to sleep sees this
        row.save(update_fields=["used_at"])
    elif row.state != MachineState.WAKING:
        move_machine(row, MachineState.WAKING, why)


def put_to_sleep(
    machine: Machine, why: str, still: Callable[[Machine], bool] = lambda row: True
) -> None:
    """End everything on it and keep its disk. Doing it twice is doing it once.

    `still` is asked under the machine's lock, which a claim takes too: so a run that has just
    been claimed is seen, or finds the machine going to sleep and waits for that.
    Raises MachineError when its provider can't.
    """
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=machine.pk)
        if not MachineState(row.state).holds_compute or not still(row):
            return
        move_machine(row, MachineState.SUSPENDING, why)
    try:
        provider, ref = provider_for(row)
        provider.suspend(ref)
    except MachineError:
        reason = "It couldn’t be put to sleep."
        _move_if_since(row, MachineState.SUSPENDING, MachineState.AWAKE, reason)
        raise
    _move_if_since(row, MachineState.SUSPENDING, MachineState.ASLEEP, why)


def move_machine(row: Machine, state: MachineState, why: str) -> None:
    """Set a machine's state; the caller holds its row's lock."""
    row.state = state
    row.state_since = database_clock.now()
    row.state_reason = why[:200]
    row.save(update_fields=_STATE)
    if state is MachineState.ASLEEP:
        row.spans.filter(ended_at__isnull=True).update(ended_at=row.state_since)


def is_since(row: Machine, state: MachineState, since: datetime) -> bool:
    """Whether it has been in that state from that instant on, so that nobody has given up what
    began then, and nobody has begun it anew."""
    return row.state == state and row.state_since == since


def _move_if_since(began: Machine, state: MachineState, to: MachineState, why: str) -> None:
    """Move it on from a state in which it has been since then; else somebody has moved it."""
    with transaction.atomic():
        row = Machine.objects.select_for_update().get(pk=began.pk)
        if is_since(row, state, began.state_since):
            move_machine(row, to, why)


def _reason(why: str, name: str) -> str:
    match why:
        case "gone":
            return f"{name} has been deleted."
        case "cold":
            return f"{name} is in cold storage. Restore it first."
        case "too_many":
            return "As many machines are awake as the plan allows. Stop one, or change plan."
        case _:
            return f"{name} is going to sleep. Try again in a moment."
