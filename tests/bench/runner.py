"""The product's runner as a Celery worker, with the machines in memory that rows speak of."""

from typing import Any

from celery import signals

from routines_app.celery import app

__all__ = ["app"]


@signals.worker_ready.connect
@signals.worker_process_init.connect
def make_machines(**_: Any) -> None:
    """Machines in memory are each process's own, so each process makes all of them."""
    from django.db import connection

    from machines.access import provider_named
    from machines.models import Machine
    from machines.providers.base import Spec

    for ref in Machine.objects.filter(provider="memory").values_list("ref", flat=True):
        provider_named("memory").create(ref, Spec())
    connection.close()
