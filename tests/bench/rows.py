"""Tables filled by copying one row many times inside the database."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from unittest.mock import patch

from django.db import connection
from django.db.models import Model


def multiply(row: Model, count: int, changes: Mapping[str, str], *, first: int = 0) -> None:
    """Copy a stored row `count` times. `changes` maps columns to SQL of `g` (1 to `count`).

    With `first`, the copies' ids are `first + 1` onwards. References aren't checked: the caller
    makes what they point at.
    """
    meta = row._meta
    key = meta.pk
    assert key is not None
    changed = dict(changes)
    if first:
        changed[key.column] = f"{first} + g"
    columns = [
        each.column
        for each in meta.local_concrete_fields
        if each is not key or each.column in changed
    ]
    quoted = ", ".join(f'"{column}"' for column in columns)
    values = ", ".join(changed.get(column, f't."{column}"') for column in columns)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            f'INSERT INTO "{meta.db_table}" ({quoted}) SELECT {values} '
            f'FROM "{meta.db_table}" t, generate_series(1, {count}) g '
            f'WHERE t."{key.column}" = {int(row.pk)}'
        )
        if first:
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{meta.db_table}', '{key.column}'), "
                f'(SELECT max("{key.column}") FROM "{meta.db_table}"))'
            )
        cursor.execute("SET session_replication_role = origin")


def settle(*tables: str) -> None:
    """Bring statistics and visibility up to date, as autovacuum would have."""
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"VACUUM (ANALYZE) {table}")
        cursor.execute("CHECKPOINT")


@contextmanager
def doorbell_silent() -> Iterator[None]:
    """Fires are written, and no message is sent for them."""
    with patch("routines_app.fires.doorbell._send"):
        yield
