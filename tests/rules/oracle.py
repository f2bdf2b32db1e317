"""A slow, obvious reading of the schedule rules, which shares no code with the engine.

It walks every real minute (or second), looks at the wall clock, and asks whether the expression
names that moment. Cron text is read again here, in the plainest way that works.
"""

from calendar import monthrange
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from zoneinfo import ZoneInfo

BOUNDS = {"s": (0, 59), "m": (0, 59), "h": (0, 23), "d": (1, 31), "o": (1, 12), "w": (0, 7)}
NAMES = {
    "o": {date(2024, month, 1).strftime("%b").upper(): month for month in range(1, 13)},
    "w": {date(2024, 9, 1 + day).strftime("%a").upper(): day for day in range(7)},
}


@dataclass(frozen=True)
class Reading:
    """One expression, as sets and a day test."""

    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    months: frozenset[int]
    years: frozenset[int]
    day: Callable[[date], bool]
    interval: bool

    def names(self, wall: datetime) -> bool:
        """Whether the wall time is one that the expression names."""
        return (
            wall.minute in self.minutes
            and wall.second in self.seconds
            and wall.hour in self.hours
            and wall.month in self.months
            and wall.year in self.years
            and self.day(wall.date())
        )


def _number(key: str, text: str) -> int:
    return NAMES.get(key, {}).get(text.upper(), -1) if text.isalpha() else int(text)


def _values(key: str, text: str) -> frozenset[int]:
    low, high = BOUNDS[key]
    found: set[int] = set()
    for part in text.split(","):
        base, _, step = part.partition("/")
        if base in ("*", "?"):
            walk = list(range(low, (6 if key == "w" else high) + 1))
        elif "-" in base:
            first, last = (_number(key, end) for end in base.split("-"))
            if key == "w" and first == 7:
                first, last = 0, last % 7
            top = 7 if key == "w" and first <= last else 6 if key == "w" else high
            walk = [first]
            while walk[-1] != last:
                walk.append(low if walk[-1] == top else walk[-1] + 1)
        elif step:
            walk = list(range(_number(key, base), (6 if key == "w" else high) + 1))
        else:
            walk = [_number(key, base)]
        found.update(value % 7 if key == "w" else value for value in walk[:: int(step or 1)])
    return frozenset(found)


def _workday_near(year: int, month: int, day: int) -> date:
    length = monthrange(year, month)[1]
    inside = [date(year, month, d) for d in range(1, length + 1)]
    workdays = [d for d in inside if d.isoweekday() < 6]
    # On a tie (never for one weekend day) the earlier wins; distance decides everything else.
    return min(workdays, key=lambda d: (abs(d.day - day), d))


def _date_test(text: str) -> Callable[[date], bool]:
    def test(on: date) -> bool:
        length = monthrange(on.year, on.month)[1]
        for part in text.upper().split(","):
            if part == "LW":
                if on == _workday_near(on.year, on.month, length):
                    return True
            elif part.startswith("L"):
                if on.day == length - int(part[2:] or 0):
                    return True
            elif part.endswith("W"):
                wanted = int(part[:-1])
                if wanted <= length and on == _workday_near(on.year, on.month, wanted):
                    return True
            elif on.day in _values("d", part):
                return True
        return False

    return test


def _weekday_test(text: str) -> Callable[[date], bool]:
    def test(on: date) -> bool:
        weekday = on.isoweekday() % 7
        for part in text.upper().split(","):
            if "#" in part:
                day, count = part.split("#")
                if weekday == _number("w", day) % 7 and (on.day + 6) // 7 == int(count):
                    return True
            elif part.endswith("L"):
                last = (on + timedelta(days=7)).month != on.month
                if last and weekday == _number("w", part[:-1]) % 7:
                    return True
            elif weekday in _values("w", part):
                return True
        return False

    return test


def _year_values(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        base, _, step = part.partition("/")
        first, dash, last = base.partition("-")
        start = 1970 if first == "*" else int(first)
        stop = int(last) if dash else (2099 if step or first == "*" else start)
        found.update(range(start, stop + 1, int(step or 1)))
    return frozenset(found)


@lru_cache(maxsize=2048)
def read(text: str) -> Reading:
    """The expression's meaning; the text must be one that the product accepts."""
    fields = text.split()
    seconds = fields.pop(0) if len(fields) > 5 else "0"
    years = fields.pop() if len(fields) > 5 else "*"
    minute, hour, dates, months, weekdays = fields
    by_date, by_weekday = _date_test(dates), _weekday_test(weekdays)
    both = dates[0] in "*?" or weekdays[0] in "*?"

    def day(on: date) -> bool:
        if both:
            return by_date(on) and by_weekday(on)
        return by_date(on) or by_weekday(on)

    return Reading(
        _values("s", seconds),
        _values("m", minute),
        _values("h", hour),
        _values("o", months),
        _year_values(years),
        lru_cache(maxsize=None)(day),
        minute.startswith("*") or hour.startswith("*"),
    )


@dataclass(frozen=True)
class Walk:
    """Every step of real time from `start` to `end`, with what the wall showed."""

    instants: Sequence[datetime]
    walls: Sequence[datetime]

    @cached_property
    def each_wall_once(self) -> list[tuple[datetime, datetime]]:
        """Each wall time with its instant: its first pass, or the first real step after its gap.

        It is the same for every expression, and most of what reading one would take.
        """
        found: list[tuple[datetime, datetime]] = []
        shown: set[datetime] = set()
        step = self.instants[1] - self.instants[0]
        before: datetime | None = None
        for at, wall in zip(self.instants, self.walls, strict=True):
            plain = wall.replace(fold=0)
            if plain not in shown:
                found.append((at, plain))
            shown.add(plain)
            if before is not None:
                missing = before + step
                while missing < plain:
                    if missing not in shown:
                        found.append((at, missing))
                    missing += step
            before = plain
        return found


def walk(zone: ZoneInfo, start: datetime, end: datetime, step: timedelta) -> Walk:
    """Looks at the wall clock at each step from `start` up to `end` (both aware)."""
    count = (end - start) // step
    instants = [start.astimezone(UTC) + step * i for i in range(count)]
    return Walk(instants, [at.astimezone(zone).replace(tzinfo=None) for at in instants])


def occurrences(text: str, walked: Walk) -> list[datetime]:
    """Every instant of the walk at which the expression is due, in order."""
    reading = read(text)
    if reading.interval:
        return [
            at
            for at, wall in zip(walked.instants, walked.walls, strict=True)
            if reading.names(wall)
        ]
    return sorted({at for at, wall in walked.each_wall_once if reading.names(wall)})


def union(texts: Iterable[str], walked: Walk) -> list[datetime]:
    """The occurrences of several expressions under one routine: those that meet are one."""
    return sorted({at for text in texts for at in occurrences(text, walked)})
