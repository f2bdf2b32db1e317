"""What the rest of a month may cost, and until which day the money lasts. Pure.

Money is whole micro-dollars (1,000,000 is $1.00).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from routines_app.rules.estimate import ENOUGH_RUNS
from routines_app.rules.schedule import Schedule, occurrences_between


@dataclass(frozen=True, slots=True)
class Pace:
    """One routine that is on. `usual` is what one of its last `seen` runs cost on average.

    `free`: a script does it, which calls no model.
    """

    schedule: Schedule
    cap: int
    usual: int = 0
    seen: int = 0
    free: bool = False

    @property
    def known(self) -> bool:
        """Whether it has run often enough to say what is usual."""
        return self.free or self.seen >= ENOUGH_RUNS

    @property
    def likely(self) -> int:
        """What one run is counted at: the usual, or its whole cap while that isn't known."""
        if self.free:
            return 0
        return min(self.usual, self.cap) if self.known else self.cap


@dataclass(frozen=True, slots=True)
class Forecast:
    """By the month's end. `new` routines count at their cap, since what is usual isn't known."""

    likely: int
    at_most: int
    new: int


def forecast(
    paces: Sequence[Pace], after: datetime, end: datetime, *, spent: int, held: int
) -> Forecast:
    """What the month will have cost at `end`, from what is spent and held at `after` (aware)."""
    counted = [(pace, _runs(pace, after, end)) for pace in paces if not pace.free]
    return Forecast(
        likely=spent + sum(pace.likely * runs for pace, runs in counted),
        at_most=spent + held + sum(pace.cap * runs for pace, runs in counted),
        new=sum(1 for pace, runs in counted if runs and not pace.known),
    )


def lasts_until(paces: Sequence[Pace], after: datetime, end: datetime, *, left: int) -> date | None:
    """The day on which `left` is used up at the likely pace, in `end`'s zone.

    None when it lasts to `end`.
    """
    day = after.astimezone(end.tzinfo).date()
    days = (end.date() - day).days
    if _likely(paces, after, end) <= left:
        return None
    low, high = 0, max(days - 1, 0)
    while low < high:
        middle = (low + high) // 2
        if _likely(paces, after, _day_after(day + timedelta(days=middle), end)) > left:
            high = middle
        else:
            low = middle + 1
    return day + timedelta(days=low)


def _likely(paces: Sequence[Pace], after: datetime, until: datetime) -> int:
    return sum(pace.likely * _runs(pace, after, until) for pace in paces if pace.likely)


def _runs(pace: Pace, after: datetime, until: datetime) -> int:
    start = after.replace(microsecond=0) + timedelta(seconds=1)
    return occurrences_between(pace.schedule, start, until) if start < until else 0


def _day_after(day: date, end: datetime) -> datetime:
    """The first instant after `day`, in the zone of `end`."""
    following = day + timedelta(days=1)
    zone = end.tzinfo
    assert isinstance(zone, ZoneInfo)
    return min(datetime(following.year, following.month, following.day, tzinfo=zone), end)
