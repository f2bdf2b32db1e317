"""Signs of life: the clock's work says that it ran, and the watchdog says what is behind."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from foundation import database_clock
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


def recent_gap(now: datetime, within: timedelta = timedelta(hours=1)) -> Beat | None:
    """The scanner's last gap, when it ended within the last hour; None otherwise."""
    return Beat.objects.filter(name="scan", gap_to__gte=now - within).first()
