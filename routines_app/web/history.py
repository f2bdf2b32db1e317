"""A routine's runs, newest first, by day, with long quiet stretches folded."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from routines_app.models import Routine, Run
from routines_app.rules.money import dollars, took
from routines_app.rules.sentences import Sentence
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.acts import ActLink, act_link
from routines_app.web.dates import clock_time, day_heading, day_of
from routines_app.web.run_words import is_over, paid, sentence_for, shape_of

PAGE = 50
FOLD = 10  # so many quiet checks in a row fold into one line


@dataclass(frozen=True)
class HistoryRow:
    """One run as the history shows it."""

    run: Run
    time: str
    shape: Shape
    sentence: Sentence
    second: str
    act: ActLink | None
    cost: str
    took: str


@dataclass(frozen=True)
class Fold:
    """Quiet checks in a row, folded into one line that opens. Newest first."""

    rows: list[HistoryRow]

    @property
    def words(self) -> str:
        first, last = self.rows[-1].time, self.rows[0].time
        return f"{len(self.rows)} checks found nothing, {first} to {last}"


@dataclass(frozen=True)
class Day:
    """One day of history."""

    heading: str
    items: list[HistoryRow | Fold]


@dataclass(frozen=True)
class History:
    """One page of it; the next starts below the run number `before`, None at the end."""

    days: list[Day]
    before: int | None


def history_of(routine: Routine, before: int | None, now: datetime, zone: str) -> History:
    """The runs numbered below `before` (None: from the newest), a page of them."""
    runs = routine.runs.select_related(
        "machine", "workspace", "fire__requested_by", "stop_asked_by"
    ).order_by("-number")
    if before is not None:
        runs = runs.filter(number__lt=before)
    found = list(runs[: PAGE + 1])
    shown = found[:PAGE]
    for run in shown:
        run.routine = routine
    rows = [_row(run, now, zone) for run in shown]
    today = day_of(now, zone)
    days = [
        Day(day_heading(day, today), list(_folded(list(each))))
        for day, each in groupby(rows, key=lambda row: day_of(_instant(row.run), zone))
    ]
    return History(days, shown[-1].number if len(found) > PAGE else None)


def _instant(run: Run) -> datetime:
    return run.fire.due_at


def _row(run: Run, now: datetime, zone: str) -> HistoryRow:
    sentence = sentence_for(run, zone=zone, now=now)
    lasted = run.duration if run.effects_begun_at else None
    seconds = round(lasted.total_seconds(), 1) if lasted is not None else None
    return HistoryRow(
        run=run,
        time=clock_time(_instant(run), zone),
        shape=shape_of(run),
        sentence=sentence,
        second=sentence.second or _asked(run),
        act=act_link(sentence.act, run),
        cost=dollars(paid(run)) if is_over(run) else "",
        took=took(seconds) if seconds is not None else "",
    )


def _asked(run: Run) -> str:
    person = run.fire.requested_by
    return f"{person} asked for this one." if person else ""


def _folded(rows: list[HistoryRow]) -> Iterator[HistoryRow | Fold]:
    for quiet, group in groupby(rows, key=lambda row: row.run.status == RunStatus.NOTHING_TO_DO):
        each = list(group)
        if quiet and len(each) >= FOLD:
            yield Fold(each)
        else:
            yield from each
