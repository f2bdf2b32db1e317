"""The peer: a bare Celery application whose jobs write one row each, and nothing more."""

import os
from functools import cache

import psycopg
from celery import Celery

app = Celery("bare", broker=os.environ["REDIS_URL"], set_as_current=False)
app.conf.update(
    task_ignore_result=True,
    task_default_queue="bare",
    worker_hijack_root_logger=False,
)


@cache
def session() -> "psycopg.Connection[tuple[object, ...]]":
    """This process's one connection, kept as the fastest application would."""
    return psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)


@app.task(name="bare.write_row")
def write_row(number: int) -> None:
    """A job that was done: one durable row."""
    session().execute(
        "INSERT INTO bare_job (number, started_at) VALUES (%s, clock_timestamp())", [number]
    )


@app.task(name="bare.start_row")
def start_row(row: int) -> None:
    """A job that begins: its row says when."""
    session().execute("UPDATE bare_job SET started_at = clock_timestamp() WHERE id = %s", [row])
