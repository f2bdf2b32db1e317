"""Celery: it carries doorbells and ticks. What is to be done is in the database."""

import os
import sys
from typing import Any

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "routines_app.settings")

app = Celery("routines", amqp="routines_app.broker:Broker")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()
app.autodiscover_tasks(["routines_app"])
# Celery would close every task's connection, and opening one costs more than a claim. Django's own
# rule takes its place: closed when it is broken or older than DATABASE_KEEP_SECONDS.
app.conf["CELERY_DB_REUSE_MAX"] = sys.maxsize


@signals.task_prerun.connect
@signals.task_postrun.connect
def _close_old_connections(**_: object) -> None:
    from django.db import close_old_connections

    close_old_connections()


@signals.celeryd_init.connect
def _refuse_to_start(options: dict[str, Any], **_: object) -> None:
    """A runner that couldn't keep its machines apart doesn't start."""
    if "runner" not in (options.get("queues") or ()):
        return
    from routines_app.runner.start import refusal_to_start

    if why := refusal_to_start():
        raise SystemExit(why)  # an Exception would be logged by Celery, and the worker would start


@signals.worker_shutting_down.connect
def _tell_running_work(**_: object) -> None:
    """A worker that is stopped warm waits for its turns: tell them to end."""
    from routines_app.runner.lease import draining

    draining.set()
