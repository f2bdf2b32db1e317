"""Prepared statements after trouble: a connection that is kept serves the next task as a new one
would."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from psycopg.pq import PipelineStatus, TransactionStatus

from foundation.statements import send

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True)]

LOCK = "SELECT id FROM spare WHERE id = %(id)s FOR UPDATE"
TAKE = "UPDATE spare SET taken = taken + 1 WHERE id = %(id)s RETURNING taken"


@pytest.fixture(autouse=True)
def spare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A table of one row, and a connection that is kept between tasks as a worker's is."""
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 60)
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE spare (id integer, taken integer)")
        cursor.execute("INSERT INTO spare VALUES (1, 0)")
    yield
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE spare")
    connection.close()


def take() -> int:
    return int(send(TAKE, {"id": 1}, first=LOCK)[0][0])


def next_task() -> None:
    """What Celery's signals do between two tasks."""
    connection.close_if_unusable_or_obsolete()


def elsewhere() -> psycopg.Connection[tuple[Any, ...]]:
    """Another connection to the same database."""
    parameters = connection.get_connection_params()
    parameters.pop("context")
    parameters.pop("cursor_factory")
    return psycopg.connect(**parameters, autocommit=True)


def elsewhere_done(statement: str) -> None:
    with elsewhere() as session:
        session.execute(statement.encode())


@pytest.mark.parametrize("known", [True, False])
def test_one_that_takes_too_long_changes_nothing_and_leaves_nothing_open(known: bool) -> None:
    before = take() if known else 0
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 100")
    with elsewhere() as session, session.transaction():
        session.execute(b"SELECT 1 FROM spare FOR UPDATE")
        with pytest.raises(DatabaseError):
            take()
    kept = connection.connection
    if kept is not None:
        assert kept.info.transaction_status == TransactionStatus.IDLE
        assert kept.pgconn.pipeline_status == PipelineStatus.OFF
    assert take() == before + 1


def test_one_that_the_server_has_forgotten_fails_once_at_most() -> None:
    take()
    with connection.cursor() as cursor:  # as behind a pooler that keeps no prepared statements
        cursor.execute("DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$")
    with pytest.raises(DatabaseError):
        take()
    next_task()
    assert take() == 2


def test_one_whose_columns_have_changed_fails_once_at_most() -> None:
    take()
    elsewhere_done("ALTER TABLE spare ALTER taken TYPE bigint")
    with pytest.raises(DatabaseError):
        take()
    next_task()
    assert take() == 2


def test_in_a_transaction_its_end_is_enough() -> None:
    with transaction.atomic():
        send(TAKE, {"id": 1})
    elsewhere_done("ALTER TABLE spare ALTER taken TYPE bigint")
    with pytest.raises(DatabaseError), transaction.atomic():
        send(TAKE, {"id": 1})
    with transaction.atomic():
        assert send(TAKE, {"id": 1}) == [(2,)]


def test_a_savepoint_that_is_left_forgets_nothing_that_is_needed() -> None:
    with transaction.atomic():
        send(TAKE, {"id": 1})
        with pytest.raises(DatabaseError), transaction.atomic():
            send("SELECT 1 / %(id)s::integer", {"id": 0})
        assert send(TAKE, {"id": 1}) == [(2,)]
    assert take() == 3


def test_a_kept_connection_that_the_server_ended_is_replaced_unnoticed() -> None:
    take()
    elsewhere_done(f"SELECT pg_terminate_backend({connection.connection.info.backend_pid})")
    next_task()
    assert take() == 2
