"""All instants of expressions in a stretch of time, and the smallest gap between them."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from routines_app.rules import cron_search, zones
from routines_app.rules.cron_parse import Parsed

YEAR = timedelta(days=366)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
_EPOCH_DAY = _EPOCH.toordinal()
_DAY_SECONDS = 86_400


@lru_cache(maxsize=64)
def _times(hours: Sequence[int], minutes: Sequence[int], seconds: Sequence[int]) -> tuple[int, ...]:
    return tuple(h * 3600 + m * 60 + s for h in hours for m in minutes for s in seconds)


def times_of_day(parsed: Parsed) -> tuple[int, ...]:
    """The expression's times of day, in seconds from midnight, in order."""
    return _times(parsed.hours, parsed.minutes, parsed.seconds)


def _epoch(naive: datetime) -> int:
    """Seconds from 1970 of a naive datetime read as UTC."""
    return (naive - _EPOCH) // zones.SECOND


def spans(
    parsed: Parsed, start: datetime, end: datetime, zone: ZoneInfo
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Every due instant from `start` up to, but not at, `end` (whole seconds), as day pieces.

    A piece is (base, offsets): its instants are base + offset, in seconds from 1970.
    """
    reached = zones.wall_at(start - zones.SECOND, zone) + zones.SECOND
    fold = zones.fold_around(start, zone)
    reached = fold.wall_before if fold is not None else reached.replace(fold=0)
    for stretch in zones.stretches(start, end, zone):
        low = stretch.start.replace(tzinfo=None) + stretch.offset
        high = stretch.end.replace(tzinfo=None) + stretch.offset
        if not parsed.follows_real_time:
            missing = cron_search.next_wall(parsed, reached) if low > reached else None
            if missing is not None and missing < low:
                yield _epoch(stretch.start.replace(tzinfo=None)), (0,)
                low += zones.SECOND
            low = max(low, reached)
            reached = max(reached, high)
        if low < high:
            yield from _pieces(parsed, low, high, stretch.offset)


def _pieces(
    parsed: Parsed, low: datetime, high: datetime, offset: timedelta
) -> Iterator[tuple[int, tuple[int, ...]]]:
    times = times_of_day(parsed)
    day = cron_search.first_date(parsed, low.date())
    while day is not None and day <= high.date():
        first = bisect_left(times, _since_midnight(low)) if day == low.date() else 0
        stop = bisect_left(times, _since_midnight(high)) if day == high.date() else len(times)
        if first < stop:
            base = (day.toordinal() - _EPOCH_DAY) * _DAY_SECONDS - offset // zones.SECOND
            yield base, times[first:stop]
        day = cron_search.next_date(parsed, day)


def _since_midnight(wall: datetime) -> int:
    return wall.hour * 3600 + wall.minute * 60 + wall.second


def count(parsed: Sequence[Parsed], start: datetime, end: datetime, zone: ZoneInfo) -> int:
    """How many instants from `start` up to `end`; expressions that meet count once.

    Of several expressions with more than 100,000 together, the sum: never too low.
    """
    pieces = [[*spans(one, start, end, zone)] for one in parsed]
    total = sum(len(offsets) for each in pieces for _, offsets in each)
    if len(parsed) < 2 or total > 100_000:
        return total
    return len({base + at for each in pieces for base, offsets in each for at in offsets})


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of due moments: its ends, and the smallest gap inside. Seconds."""

    first: int
    first_fixed: bool
    last: int
    last_fixed: bool
    inner: int | None

    def moved(self, seconds: int) -> "_Run":
        return _Run(
            self.first + seconds,
            self.first_fixed,
            self.last + seconds,
            self.last_fixed,
            self.inner,
        )


def _run(due: dict[int, bool], skip_fixed: bool) -> _Run | None:
    """The run of these moments; the value says whether only FIXED expressions are due then."""
    if not due:
        return None
    ordered = sorted(due)
    inner = min(
        (b - a for a, b in pairwise(ordered) if not (skip_fixed and due[a] and due[b])),
        default=None,
    )
    return _Run(ordered[0], due[ordered[0]], ordered[-1], due[ordered[-1]], inner)


def _gap_over_runs(runs: Iterable[_Run | None], skip_fixed: bool) -> int | None:
    best: int | None = None
    last: _Run | None = None
    for run in runs:
        if run is None:
            continue
        gaps = [] if run.inner is None else [run.inner]
        if last is not None and not (skip_fixed and last.last_fixed and run.first_fixed):
            gaps.append(run.first - last.last)
        best = min([*gaps, *([] if best is None else [best])], default=None)
        if best == 1:
            return best
        last = run
    return best


def smallest_gap(parsed: Sequence[Parsed], after: datetime, zone: ZoneInfo) -> timedelta | None:
    """The smallest gap between due instants in the 366 days after `after`.

    FIXED is measured by wall time, so that spring's shorter day isn't counted; everything that
    follows real time is measured by real time. None when fewer than two instants are due.
    """
    fixed = [one for one in parsed if not one.follows_real_time]
    found = [_gap_over_runs(_wall_runs(fixed, zones.wall_at(after, zone)), False)]
    if len(fixed) < len(parsed) and found != [1]:
        found.append(_gap_over_runs(_real_runs(parsed, after, zone), True))
    smallest = min((gap for gap in found if gap is not None), default=None)
    return None if smallest is None else timedelta(seconds=smallest)


class _Days:
    """The runs of whole days without a clock change, remembered by which expressions are due."""

    def __init__(self, parsed: Sequence[Parsed], skip_fixed: bool) -> None:
        self.parsed = parsed
        self.skip_fixed = skip_fixed
        self.known: dict[tuple[int, ...], _Run | None] = {}

    def run(self, day: date) -> _Run | None:
        """The day's run, in seconds from its midnight."""
        due = tuple(i for i, one in enumerate(self.parsed) if _is_due(one, day))
        if due not in self.known:
            self.known[due] = _run(self.moments(due), self.skip_fixed)
        return self.known[due]

    def moments(self, due: tuple[int, ...]) -> dict[int, bool]:
        found: dict[int, bool] = {}
        for index in due:
            one = self.parsed[index]
            for at in times_of_day(one):
                found[at] = found.get(at, True) and not one.follows_real_time
        return found


def _is_due(parsed: Parsed, day: date) -> bool:
    return (
        day.month in parsed.months
        and day.year in parsed.years
        and day.day in parsed.days.days_of(day.year, day.month)
    )


def _wall_runs(fixed: Sequence[Parsed], start: datetime) -> Iterator[_Run | None]:
    """The runs of the year after the wall time `start`, by wall time alone."""
    if not fixed:
        return
    days = _Days(fixed, False)
    start = start.replace(fold=0)
    low, high = _epoch(start), _epoch(start + YEAR)
    for ordinal in range(start.toordinal(), (start + YEAR).toordinal() + 1):
        day = date.fromordinal(ordinal)
        base = (ordinal - _EPOCH_DAY) * _DAY_SECONDS
        run = days.run(day)
        if run is None or (low < base + run.first and base + run.last <= high):
            yield None if run is None else run.moved(base)
            continue
        due = tuple(i for i, one in enumerate(fixed) if _is_due(one, day))
        cut = {base + at: True for at in days.moments(due) if low < base + at <= high}
        yield _run(cut, False)


def _real_runs(parsed: Sequence[Parsed], after: datetime, zone: ZoneInfo) -> Iterator[_Run | None]:
    """The runs of the year after `after`, by real time; days near a change are read exactly."""
    start = after.astimezone(UTC).replace(microsecond=0) + zones.SECOND
    end = start + YEAR
    days = _Days(parsed, True)
    exact = _days_to_read(start, end, zone)
    day, last = zones.wall_at(start, zone).date(), zones.wall_at(end, zone).date()
    while day <= last:
        if day not in exact:
            run = days.run(day)
            base = _epoch(_midnight(day, zone).replace(tzinfo=None))
            yield None if run is None else run.moved(base)
            day += zones.DAY
            continue
        low = max(start, _midnight(day, zone))
        while day in exact and day <= last:
            day += zones.DAY
        yield _run(_moments(parsed, low, min(end, _midnight(day, zone)), zone), True)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return zones.first_instant(datetime.combine(day, datetime.min.time()), zone)


def _days_to_read(start: datetime, end: datetime, zone: ZoneInfo) -> set[date]:
    """The first day and the last, and those around each clock change."""
    found = {zones.wall_at(start, zone).date(), zones.wall_at(end, zone).date()}
    for change in zones.changes_between(start - 2 * zones.DAY, end + 2 * zones.DAY, zone):
        low = min(change.wall_before, change.wall_after).toordinal() - 1
        high = max(change.wall_before, change.wall_after).toordinal() + 1
        found.update(date.fromordinal(day) for day in range(low, high + 1))
    return found


def _moments(
    parsed: Sequence[Parsed], start: datetime, end: datetime, zone: ZoneInfo
) -> dict[int, bool]:
    found: dict[int, bool] = {}
    for one in parsed:
        for base, offsets in spans(one, start, end, zone):
            for at in offsets:
                found[base + at] = found.get(base + at, True) and not one.follows_real_time
    return found
