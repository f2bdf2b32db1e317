"""Whether each occurrence that was due has its row: what the schedules owed beside what is there.

What was owed comes from the stretches in which a routine was on; where none is kept for it (rows
that came by another way), from its present schedule since the first row that it has.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from django.db import connection

from foundation import database_clock
from routines_app.models import OnSpan, Routine
from routines_app.rules.kinds import Schedule, ScheduleKind, from_json
from routines_app.rules.schedule import instants_between

SLACK = timedelta(seconds=60)  # what is due may take so long to be scanned
_SECOND = timedelta(seconds=1)
_PIECE = timedelta(days=28)
_BATCH = 500
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

# One row for an occurrence; several in one are a range of missed ones.
_ROWS = """
SELECT f.routine_id, floor(extract(epoch FROM COALESCE(f.covers_from, f.due_at)))::bigint,
       floor(extract(epoch FROM COALESCE(f.covers_to, f.due_at)))::bigint
FROM routines_app_fire f JOIN routines_app_run r ON r.fire_id = f.id
WHERE f.routine_id = ANY(%s) AND f.due_at >= %s AND COALESCE(f.covers_from, f.due_at) <= %s
  AND (f.covers_count > 1
       OR f.dedup_key = to_char(f.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
ORDER BY f.routine_id
"""


@dataclass(frozen=True)
class Account:
    """A routine's occurrences of a stretch of time: how many were due, and which have no row."""

    routine_id: int
    expected: int
    missing: tuple[datetime, ...]

    @property
    def accounted(self) -> int:
        """How many have their row."""
        return self.expected - len(self.missing)


@dataclass
class _Rows:
    """The occurrences of one routine that have a row; seconds from 1970."""

    single: set[int]
    ranges: list[tuple[int, int]]

    def lacks(self, owed: set[int]) -> set[int]:
        """Those of `owed` that have none."""
        without = owed - self.single
        if not without:
            return without
        return {at for at in without if not any(low <= at <= high for low, high in self.ranges)}


def accounted(routine: Routine, since: datetime | None, until: datetime | None) -> tuple[int, int]:
    """How many of one routine's occurrences in (since, until] have a row, and how many were due.

    None asks from the beginning, and up to a minute ago.
    """
    end = until or database_clock.now() - SLACK
    (found,) = _accounts([routine], since or _LONG_AGO, end)
    return found.accounted, found.expected


def accounts(
    routines: Iterable[Routine], since: datetime | None, until: datetime
) -> Iterator[Account]:
    """The account of each routine; they are read in batches."""
    every = iter(routines)
    while batch := list(islice(every, _BATCH)):
        yield from _accounts(batch, since or _LONG_AGO, until)


def _accounts(routines: Sequence[Routine], since: datetime, until: datetime) -> list[Account]:
    ids = [routine.pk for routine in routines]
    spans: dict[int, list[OnSpan]] = defaultdict(list)
    for span in OnSpan.objects.filter(routine_id__in=ids).order_by("started_at"):
        spans[span.routine_id].append(span)
    rows: dict[int, _Rows] = defaultdict(lambda: _Rows(set(), []))
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, [ids, since, until])
        for routine_id, low, high in cursor.fetchall():
            if low == high:
                rows[routine_id].single.add(low)
            else:
                rows[routine_id].ranges.append((low, high))
    return [_account(each, spans[each.pk], rows[each.pk], since, until) for each in routines]


def _account(
    routine: Routine, spans: list[OnSpan], rows: _Rows, since: datetime, until: datetime
) -> Account:
    expected, missing = 0, set[int]()
    for schedule, start, end in _owing(routine, spans, rows):
        low, last = max(start, since), min(end, until)
        while low < last:
            high = min(low + _PIECE, last)
            owed = instants_between(schedule, _after(low), _after(high))
            expected += len(owed)
            missing |= rows.lacks(owed)
            low = high
    late = tuple(datetime.fromtimestamp(at, UTC) for at in sorted(missing))
    return Account(routine.pk, expected, late)


def _owing(
    routine: Routine, spans: list[OnSpan], rows: _Rows
) -> Iterator[tuple[Schedule, datetime, datetime]]:
    """Each schedule that was in force, owed after one instant and up to another."""
    over = datetime.max.replace(tzinfo=UTC)
    if routine.deleted_at is not None:
        over = routine.deleted_at
    elif not routine.enabled and routine.off_at is not None:
        over = routine.off_at
    for span in spans:
        end = span.ended_at if span.ended_at is not None else over
        yield from_json(span.schedule), span.started_at, end
    known = [*rows.single, *(low for low, _ in rows.ranges)]
    if not spans and known and routine.schedule_kind != ScheduleKind.WHEN_ASKED:
        first = datetime.fromtimestamp(min(known), UTC)
        yield routine.schedule, first - _SECOND, over


def _after(instant: datetime) -> datetime:
    """The first whole second after this instant."""
    return instant.replace(microsecond=0) + _SECOND
