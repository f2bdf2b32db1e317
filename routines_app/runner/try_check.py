"""A check tried for somebody who is writing it, on the machine that its runs would use.

It goes through the door of everything that wakes a machine, and gives way to runs: none begins
while a run holds the machine, and one that is going on ends when a run takes it.
"""

import structlog
from django.db import DatabaseError, connection
from redis.exceptions import RedisError

from foundation import clock
from machines.lifecycle import MachineState
from machines.models import Machine
from routines_app.admission import NotWoken, wake_machine
from routines_app.admission.machine_care import busy
from routines_app.agents.turn import ComputerFailed, ComputerRefused, TurnInterrupted
from routines_app.configure.check_try import (
    MOST_SHOWN,
    CheckTry,
    Stage,
    reached,
    the_try,
    why_paused,
)
from routines_app.rules.check import CHECK_SECONDS
from routines_app.runner.computer import MachineComputer
from routines_app.runner.lease import draining

log = structlog.get_logger()

_LOOK_SECONDS = 1.0
_OURS = "Something of ours broke while it was tried. Try it again in a moment."


def try_check(key: str) -> None:
    """Try the check that was asked for under this key, and keep what came of it."""
    asked = the_try(key)
    if asked is None or asked.stage is not Stage.ASKED:
        return
    try:
        _try(asked)
    except RedisError as error:
        log.warning("try_not_kept", error=str(error))  # whoever waits is told that it is forgotten
    except Exception:
        log.exception("try_failed_by_our_fault")
        reached(asked, Stage.REFUSED, why_not=_OURS)


def _try(asked: CheckTry) -> None:
    machine = Machine.objects.filter(pk=asked.machine_id, deleted_at__isnull=True).first()
    if machine is None:
        reached(asked, Stage.REFUSED, why_not=f"{asked.machine} has been deleted. Choose another.")
        return
    paused = why_paused(asked.workspace_id)
    if paused:
        reached(asked, Stage.REFUSED, why_not=paused)
        return
    if busy(machine):
        why = f"A run is going on on {machine.name}. Try it when that has ended."
        reached(asked, Stage.REFUSED, why_not=why)
        return
    if machine.state != MachineState.AWAKE:
        asked = reached(asked, Stage.WAKING)
    woken = wake_machine(machine, asked.person)
    if isinstance(woken, NotWoken):
        reached(asked, Stage.REFUSED, why_not=woken.sentence)
        return
    asked = reached(asked, Stage.CHECKING)
    computer = MachineComputer(woken.provider, woken.ref, f"try-{asked.key}", machine.name)
    try:
        result = computer.run(
            ["bash", "-c", asked.command],
            cwd=asked.folder,
            timeout=CHECK_SECONDS,
            check=_GivesWay(machine).check,
        )
    except TurnInterrupted as error:
        reached(asked, Stage.REFUSED, why_not=str(error))
    except (ComputerRefused, ComputerFailed) as error:
        reached(asked, Stage.REFUSED, why_not=str(error))
    else:
        if result.reason == "cancelled":
            why = f"{machine.name} was stopped while the check was going on."
            reached(asked, Stage.REFUSED, why_not=why)
            return
        reached(
            asked,
            Stage.DONE,
            exit_code=result.exit_code,
            reason=result.reason,
            output=result.output[-MOST_SHOWN:],
            stderr=result.stderr[-MOST_SHOWN:],
            cut=len(result.output) > MOST_SHOWN,
            seconds=result.seconds,
        )


class _GivesWay:
    """Raises once a run has taken the machine, or this process is asked to stop."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._looked = clock.monotonic()

    def check(self) -> None:
        if draining.is_set():
            raise TurnInterrupted("Our servers restart. Try it again in a moment.")
        if clock.monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = clock.monotonic()
        try:
            if busy(self._machine):
                raise TurnInterrupted(
                    f"A run needed {self._machine.name}, so the check made way. "
                    "Try it when that has ended."
                )
        except DatabaseError as error:
            log.warning("try_unlooked", error=str(error))  # the time limit holds all the same
            connection.close()  # the next question makes a new one
