"""The database's clock, with the test offset: what scans, claims and leases go by."""

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import DateTimeField
from django.db.models.expressions import RawSQL

from foundation import clock


def now() -> datetime:
    """The database's current instant (not the transaction's start), aware and in UTC."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        row = cursor.fetchone()
    instant: datetime = row[0]
    return instant + timedelta(seconds=clock.offset_seconds())


def read_there() -> RawSQL:
    """The same instant, read by the very statement that this is part of."""
    offset = timedelta(seconds=clock.offset_seconds())
    return RawSQL("clock_timestamp() + %s", [offset], output_field=DateTimeField())
