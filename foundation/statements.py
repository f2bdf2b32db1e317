"""Statements that run many times a second are prepared: planning one anew costs more than carrying
it out, and Django's own cursors bind their values on this side and so can't prepare."""

from collections.abc import Mapping
from typing import Any

import psycopg
from django.db import Error, connection


def send(
    statement: str, values: Mapping[str, Any], *, first: str | None = None, prepare: bool = True
) -> list[tuple[Any, ...]]:
    """Carry out a statement that names its values as `%(name)s`, and return its rows.

    `first` goes ahead in the same message: outside a transaction the two are one, and the second
    sees what had committed once the first was through. Raises Django's database errors.
    """
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    session: psycopg.Connection[tuple[Any, ...]] = connection.connection
    cursor = psycopg.Cursor(session)
    try:
        with connection.wrap_database_errors:
            if first is None:
                cursor.execute(statement.encode(), values, prepare=prepare)
            else:
                with session.pipeline():
                    psycopg.Cursor(session).execute(first.encode(), values, prepare=prepare)
                    cursor.execute(statement.encode(), values, prepare=prepare)
            return cursor.fetchall() if cursor.description else []
    except Error:
        # What the server no longer knows as prepared would fail on this connection for as long as
        # it is kept. A transaction's end makes it be prepared anew; without one, a new session.
        if not connection.in_atomic_block:
            connection.close()
        raise
