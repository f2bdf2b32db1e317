"""Schedules at random in zones with unusual clocks, and what a reader of wall clocks says is due.

The reading is the oracle's (`tests.rules.oracle`): each real minute of the zone is looked at once,
and kept by the minute that the wall showed, so that many expressions can ask.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from tests.rules import oracle

ZONES = (
    "Europe/London", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "Africa/Cairo",
    "Asia/Beirut", "America/St_Johns", "Africa/Casablanca", "Europe/Dublin", "Pacific/Chatham",
    "Asia/Kolkata", "America/Santiago",
)  # fmt: skip
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
_MINUTES = ("0", "0", "30", "15", "7", "5,35", "59", "10-40/15", "1")
_HOURS = ("*", "*/2", "*/6", "0", "1", "2", "3", "23", "0-4", "1,2,3", "22-2", "2-3", "9", "8-17")
_DAYS = ("*", "*", "*", "*", "1-31", "L", "*/2", "28-3", "15W", "LW", "L-1")
_WEEKDAYS = ("*", "*", "*", "*", "*", "0", "SUN#1", "5L", "SAT-MON", "1-5")


@dataclass
class Walked:
    """All minutes of a zone after `start` and up to `end`, as its wall clock showed them."""

    zone: str
    start: datetime
    end: datetime
    first_passes: dict[int, list[tuple[datetime, datetime]]] = field(default_factory=dict)
    every: dict[int, list[tuple[datetime, datetime]]] = field(default_factory=dict)
    skipped: list[tuple[datetime, datetime]] = field(default_factory=list)

    def __post_init__(self) -> None:
        # A day before, so that what a change near the start repeats is known.
        walked = oracle.walk(ZoneInfo(self.zone), self.start - DAY, self.end + MINUTE, MINUTE)
        first, every = defaultdict(list), defaultdict(list)
        shown: set[datetime] = set()
        before: datetime | None = None
        for at, wall in zip(walked.instants, walked.walls, strict=True):
            plain = wall.replace(fold=0)
            every[plain.minute].append((at, plain))
            if plain not in shown:
                first[plain.minute].append((at, plain))
            shown.add(plain)
            missing = before + MINUTE if before is not None else plain
            while missing < plain:
                if missing not in shown:
                    self.skipped.append((at, missing))
                missing += MINUTE
            before = plain
        self.first_passes, self.every = dict(first), dict(every)

    def due(self, text: str) -> set[datetime]:
        """Every instant after `start` and up to `end` at which the expression is due."""
        reading = oracle.read(text)
        by_minute = self.every if reading.interval else self.first_passes
        looked = [pair for minute in reading.minutes for pair in by_minute.get(minute, [])]
        looked += [] if reading.interval else self.skipped
        return {at for at, wall in looked if self.start < at <= self.end and reading.names(wall)}


def expressions(rng: random.Random) -> tuple[str, ...]:
    """One expression, or sometimes two, that come at most a few times in an hour."""
    return tuple(_expression(rng) for _ in range(rng.choice((1, 1, 1, 2))))


def _expression(rng: random.Random) -> str:
    minute = rng.choice(_MINUTES) if rng.random() < 0.95 else "*/20"
    hour = rng.choice(_HOURS)
    return f"{minute} {hour} {rng.choice(_DAYS)} * {rng.choice(_WEEKDAYS)}"
