"""Celery: it carries doorbells and ticks. What is to be done is in the database."""

import os

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "routines_app.settings")

app = Celery("routines")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()
app.autodiscover_tasks(["routines_app"])


@signals.worker_shutting_down.connect
def _tell_running_work(**_: object) -> None:
    """A worker that is stopped warm waits for its turns: tell them to end."""
    from routines_app.runner.lease import draining

    draining.set()
