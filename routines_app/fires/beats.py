"""Signs of life: the clock's work says that it ran, and the watchdog says what is behind."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from foundation import clock, database_clock
from routines_app.models import Beat

GAP = timedelta(seconds=60)
ALLOWED = {
    "scan": timedelta(seconds=60),
    "sweep": timedelta(seconds=60),
    "reap": timedelta(seconds=90),
    "outbox": timedelta(seconds=120),
    "machines": timedelta(minutes=10),
}

_BEAT = """
INSERT INTO routines_app_beat AS b (name, at) VALUES (%(name)s, %(now)s)
ON CONFLICT (name) DO UPDATE SET
    gap_from = CASE WHEN b.at < %(long_ago)s THEN b.at ELSE b.gap_from END,
    gap_to = CASE WHEN b.at < %(long_ago)s THEN %(now)s ELSE b.gap_to END,
    at = GREATEST(b.at, %(now)s)
"""


@dataclass(frozen=True)
class Behind:
    """One piece of the clock's work that hasn't come to its end for too long."""

    name: str
    since: datetime


def beat(name: str, now: datetime) -> None:
    """Say that this piece of work has just ended well."""
    with connection.cursor() as cursor:
        cursor.execute(_BEAT, {"name": name, "now": now, "long_ago": now - GAP})


def last_beat(name: str) -> datetime | None:
    """When it last ended well; None when it never has."""
    return Beat.objects.filter(name=name).values_list("at", flat=True).first()


def behind(now: datetime | None = None) -> list[Behind]:
    """What is late by now, the latest first; empty when all is well or nothing ever started."""
    at = now or database_clock.now()
    late = [
        Behind(row.name, row.at)
        for row in Beat.objects.all()
        if at - row.at > ALLOWED.get(row.name, GAP)
    ]
    return sorted(late, key=lambda each: each.since)


def beaten() -> set[str]:
    """The pieces of work that have ended well at least once."""
    return set(Beat.objects.values_list("name", flat=True))


@dataclass(frozen=True)
class Scanner:
    """How the scanner does. `gap_from` None: it never was away for more than a minute.

    `missed` counts the occurrences of one workspace that fell into its last gap unstarted.
    """

    now: datetime
    at: datetime
    gap_from: datetime | None
    gap_to: datetime | None
    missed: int


_SCANNER = """
SELECT clock_timestamp(), b.at, b.gap_from, b.gap_to, (
    SELECT COALESCE(sum((n.facts->>'count')::bigint), 0) FROM routines_app_notice n
    WHERE n.workspace_id = %s AND n.run_id IS NULL AND n.key LIKE 'missed %%'
      AND n.rung_at > b.gap_from AND n.rung_at <= b.gap_to)
FROM routines_app_beat b WHERE b.name = 'scan'
"""


def scanner(workspace_id: int) -> Scanner | None:
    """How the scanner does, for one workspace's pages, in one query; None before its first scan."""
    with connection.cursor() as cursor:
        cursor.execute(_SCANNER, [workspace_id])
        row = cursor.fetchone()
    if row is None:
        return None
    now = row[0] + timedelta(seconds=clock.offset_seconds())
    return Scanner(now, row[1], row[2], row[3], int(row[4]))
