"""Asking for a machine back from cold storage, and when it will be there."""

from datetime import timedelta

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from machines.lifecycle import MachineState, restore_time
from machines.models import Machine
from routines_app.admission.machine_care import begin_restore, put_off_restore

log = structlog.get_logger()


def bring_back(machine: Machine, why: str) -> timedelta | None:
    """Have a runner restore it; about how long that takes, or None when it isn't in storage."""
    with transaction.atomic():
        if not begin_restore(machine, why):
            return None
        transaction.on_commit(lambda: _tell_a_runner(machine))
    return time_to_restore(machine)


def _tell_a_runner(machine: Machine) -> None:
    try:
        current_app.send_task("routines_app.tasks.restore", [machine.pk])
    except OperationalError as error:
        log.warning("restore_not_asked_for", machine=machine.slug, error=str(error))
        put_off_restore(machine, "No runner could be told to restore it. Try again in a moment.")


def time_to_restore(machine: Machine) -> timedelta:
    """About how long a restore of what is stored takes."""
    return restore_time(int(machine.archive.get("size", 0)))


def being_restored(machine: Machine) -> bool:
    """Whether it is on its way back."""
    return machine.state == MachineState.RESTORING
