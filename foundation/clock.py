"""The one place where Python reads the time.

Tests move it by a file that `ROUTINES_CLOCK_OFFSET_FILE` names: one number, seconds to add.
The database's clock is read by SQL, with the same offset added (`offset_seconds`).
"""

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path


def offset_seconds() -> float:
    """Seconds that tests add to every clock; 0.0 outside tests.

    Raises ValueError when the offset file holds anything but a number.
    """
    name = os.environ.get("ROUTINES_CLOCK_OFFSET_FILE")
    if not name:
        return 0.0
    try:
        text = Path(name).read_text().strip()
    except FileNotFoundError:
        return 0.0
    return float(text) if text else 0.0


def now() -> datetime:
    """The current instant, aware and in UTC."""
    return datetime.now(UTC) + timedelta(seconds=offset_seconds())  # noqa: TID251


def monotonic() -> float:
    """Seconds that only go forward, for durations; unaffected by the offset."""
    return time.monotonic()
