"""Cron expressions, with the clock changes of a zone: `compile_cron(text).next(after, zone)`.

Five fields; six with leading seconds; seven with a trailing year (1970 to 2099).
No clock is read here, and nothing outside the standard library is needed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from zoneinfo import ZoneInfo

from routines_app.rules import cron_search, cron_spread, zones
from routines_app.rules.cron_fields import CronError
from routines_app.rules.cron_parse import Parsed, parse

__all__ = ["Cron", "CronError", "CronKind", "compile_cron", "earliest"]


class CronKind(StrEnum):
    """What an expression follows when clocks change."""

    FIXED = "fixed"  # wall times: a missing one is made up for, a repeated one happens once
    INTERVAL = "interval"  # real time: both passes of a repeated hour, nothing for a missing one


@dataclass(frozen=True)
class Cron:
    """A checked expression. `text` is its plain form: macros written out, single spaces."""

    text: str
    parsed: Parsed = field(repr=False, compare=False)

    @property
    def kind(self) -> CronKind:
        """FIXED, unless the minute or the hour starts with *."""
        return CronKind.INTERVAL if self.parsed.follows_real_time else CronKind.FIXED

    def next(self, after: datetime, zone: str | ZoneInfo) -> datetime | None:
        """The first instant strictly after `after` (aware), in UTC; None when none before 2100.

        Raises ValueError when `after` is naive or the zone isn't known.
        """
        return cron_search.next_instant(self.parsed, after, zones.as_zone(zone))

    def preview(self, after: datetime, zone: str | ZoneInfo, n: int) -> list[datetime]:
        """The next `n` instants in UTC; fewer when the expression ends."""
        return cron_search.preview(self.parsed, after, zones.as_zone(zone), n)

    def smallest_gap(self, zone: str | ZoneInfo, after: datetime) -> timedelta | None:
        """The smallest gap between due instants over the next year; None when there is none.

        FIXED by wall time, INTERVAL by real time: what a plan's minimum is tested on.
        """
        return cron_spread.smallest_gap((self.parsed,), after, zones.as_zone(zone))

    def means_the_same(self, other: "Cron") -> bool:
        """Whether both fire at the same instants in every zone, whatever their wording."""
        mine, theirs = self.parsed, other.parsed
        return (
            (mine.seconds, mine.minutes, mine.hours, mine.months, mine.years)
            == (theirs.seconds, theirs.minutes, theirs.hours, theirs.months, theirs.years)
            and mine.days.same_days(theirs.days)
            and self.kind is other.kind
        )


@lru_cache(maxsize=4096)
def compile_cron(text: str) -> Cron:
    """The expression, checked. Raises CronError(field, reason)."""
    parsed = parse(text)
    return Cron(" ".join(parsed.texts), parsed)


def earliest(crons: Iterable[Cron], after: datetime, zone: str | ZoneInfo) -> datetime | None:
    """The first instant of several expressions; two that meet are one instant."""
    found = [at for cron in crons if (at := cron.next(after, zone)) is not None]
    return min(found, default=None)
