"""The clock's hand: the product's own functions work at an instant of the past."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from foundation import clock

_NAME = "ROUTINES_CLOCK_OFFSET_FILE"


class Hand:
    """Moves this process's clock, and what it reads of the database's, to where it is put."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._here = clock.now()
        self._began = clock.monotonic()

    def to(self, instant: datetime) -> None:
        """Let it be `instant` now; from there the clock goes on by itself."""
        gone = clock.monotonic() - self._began
        offset = (instant - self._here).total_seconds() - gone
        self._file.write_text(repr(offset))


@contextmanager
def moved_clock() -> Iterator[Hand]:
    """A hand on this process's clock; afterwards the clock is what it was before.

    Other processes keep their own time.
    """
    before = os.environ.pop(_NAME, None)
    with TemporaryDirectory(prefix="routines-clock-") as folder:
        file = Path(folder) / "offset"
        hand = Hand(file)
        os.environ[_NAME] = str(file)
        try:
            yield hand
        finally:
            os.environ.pop(_NAME)
            if before is not None:
                os.environ[_NAME] = before
