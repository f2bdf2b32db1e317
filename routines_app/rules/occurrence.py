"""How an occurrence is named."""

from datetime import UTC, datetime


def occurrence_key(instant: datetime) -> str:
    """The key of the fire of this occurrence: its instant, to the second, in UTC.

    >>> occurrence_key(datetime(2026, 11, 30, 9, tzinfo=UTC))
    '2026-11-30T09:00:00Z'
    """
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
