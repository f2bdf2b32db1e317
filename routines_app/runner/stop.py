"""Stopping one run, or all of a workspace."""

from accounts.models import User, Workspace
from foundation import database_clock
from routines_app.models import Run
from routines_app.rules.status import OPEN_STATUSES, RunStatus
from routines_app.runner.ending import Ending
from routines_app.runner.record import finish_unclaimed


def ask_to_stop(run: Run, person: User) -> None:
    """End a run: at once when it still waits, else within two seconds, keeping what it made.

    A run that is over stays as it ended.
    """
    ending = Ending(RunStatus.STOP_PERSON, {"person": str(person)})
    if finish_unclaimed(run.fire_id, ending):
        return
    Run.objects.filter(pk=run.pk, finished_at__isnull=True, stop_asked_at__isnull=True).update(
        stop_asked_at=database_clock.now(), stop_asked_by=person
    )


def stop_all(workspace: Workspace, person: User) -> int:
    """Stop every run that waits or goes on; how many there were. Their rows name the person."""
    found = list(Run.objects.filter(workspace=workspace, status__in=OPEN_STATUSES).order_by("pk"))
    for run in found:
        ask_to_stop(run, person)
    return len(found)
