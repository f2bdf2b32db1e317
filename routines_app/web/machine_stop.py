"""Putting a machine to sleep by hand, and ending what runs on it first."""

import time
from dataclasses import dataclass

from accounts.models import User
from foundation import clock
from machines.models import Machine
from machines.providers.base import MachineError
from routines_app.admission import put_to_sleep
from routines_app.models import Run
from routines_app.rules.status import LIVE_STATUSES
from routines_app.runner.stop import ask_to_stop

PATIENCE = 5.0  # seconds to wait for runs that were asked to stop
LOOK = 0.2  # seconds between looks


@dataclass(frozen=True)
class Asleep:
    """Nothing runs on it any more."""


@dataclass(frozen=True)
class StillAwake:
    """It couldn't be put to sleep yet; `sentence` says why and what to do."""

    sentence: str


def live_run_on(machine: Machine) -> Run | None:
    """The run that is using this machine now; one at a time does."""
    return (
        Run.objects.select_related("routine")
        .filter(machine=machine, status__in=LIVE_STATUSES)
        .first()
    )


def stop_machine(machine: Machine, person: User) -> Asleep | StillAwake:
    """Stop the run on it under the person's name, then put it to sleep."""
    run = live_run_on(machine)
    if run is not None:
        ask_to_stop(run, person)
        if not _ended(run):
            return StillAwake(
                f"{run.routine.name} is still stopping. Press Stop again in a moment."
            )
    try:
        put_to_sleep(machine, f"{person} stopped it.")
    except MachineError as error:
        return StillAwake(error.sentence)
    return Asleep()


def _ended(run: Run) -> bool:
    until = clock.monotonic() + PATIENCE
    while clock.monotonic() < until:
        if Run.objects.filter(pk=run.pk, finished_at__isnull=False).exists():
            return True
        time.sleep(LOOK)
    return False
