"""A routine's runs, newest first, by day, with long quiet stretches folded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any

from django.db.models import Q, QuerySet

from routines_app.fires.waiting import waiting_fires
from routines_app.models import Routine, Run
from routines_app.rules.money import dollars, lasted
from routines_app.rules.sentences import Sentence
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.acts import ActLink
from routines_app.web.acts_now import act_now
from routines_app.web.dates import clock_time, day_heading, day_of
from routines_app.web.doing import doing_words
from routines_app.web.failures import back_in_time
from routines_app.web.run_words import is_over, paid, sentence_for, shape_of

PAGE = 50
FOLD = 10  # so many quiet checks in a row fold into one line


@dataclass(frozen=True)
class Filter:
    """Which runs the history shows: those of these shapes, all when there is none; or those that
    a person asked for."""

    code: str
    words: str
    shapes: tuple[Shape, ...] = ()
    asked: bool = False

    @property
    def statuses(self) -> list[RunStatus]:
        """Those whose shape it shows."""
        return [status for status in RunStatus if status.shape in self.shapes]

    def takes(self, run: Run) -> bool:
        """Whether it shows this run."""
        if self.shapes and run.status not in self.statuses:
            return False
        return not self.asked or run.fire.requested_by_id is not None

    @property
    def none(self) -> str:
        """What is said when there is no such run."""
        return f"No run of this kind: {self.words[:1].lower()}{self.words[1:]}."


FILTERS = (
    Filter("", "Everything"),
    Filter("done", "Done", (Shape.DONE,)),
    Filter("quiet", "Nothing new", (Shape.QUIET, Shape.STUB)),
    Filter("skipped", "Didn’t run", (Shape.RING,)),
    Filter("wrong", "Went wrong", (Shape.BLOCK, Shape.POINT)),
    Filter("asked", "A person asked", asked=True),
)


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

    @property
    def first(self) -> int:
        """The number of its oldest run, which stays while it grows."""
        return self.rows[-1].run.number


@dataclass(frozen=True)
class Day:
    """One day of history. `heading` is "" when it stands on the page before; `mark` names the day
    on its page, "" for one that isn't the page's first of that date."""

    heading: str
    mark: str
    items: list[HistoryRow | Fold]


@dataclass(frozen=True)
class History:
    """One page of it; the next starts below the run number `before`, None at the end."""

    days: list[Day]
    before: int | None


def filter_of(code: str) -> Filter:
    """The filter of this code; all runs for one that isn't known."""
    return next((each for each in FILTERS if each.code == code), FILTERS[0])


def newest_runs(
    routine: Routine, count: int, *, upto: int | None = None, kind: Filter = FILTERS[0]
) -> list[Run]:
    """The newest runs (numbered at most `upto`), with all that their sentences need."""
    runs = _of_kind(routine.runs.order_by("-number"), kind)
    if upto is not None:
        runs = runs.filter(number__lte=upto)
    return _with_all(routine, runs[:count])


def newest_and_of_kind(
    routine: Routine, count: int, kind: Filter, of_kind: int
) -> tuple[list[Run], list[Run]]:
    """The newest runs, and the newest of that kind, in one query."""
    numbers = routine.runs.order_by("-number").values("pk")
    either = Q(pk__in=numbers[:count]) | Q(pk__in=_of_kind(numbers, kind)[:of_kind])
    found = _with_all(routine, routine.runs.filter(either).order_by("-number"))
    return found[:count], [run for run in found if kind.takes(run)][:of_kind]


def _of_kind(runs: QuerySet[Any, Any], kind: Filter) -> QuerySet[Any, Any]:
    if kind.shapes:
        runs = runs.filter(status__in=kind.statuses)
    return runs.filter(fire__requested_by__isnull=False) if kind.asked else runs


def _with_all(routine: Routine, runs: QuerySet[Run]) -> list[Run]:
    """These runs, each with all that its sentence needs."""
    found = list(runs.select_related("machine", "workspace", "fire__requested_by", "stop_asked_by"))
    for run in found:
        run.routine = routine
    return found


def older_history(routine: Routine, before: int, kind: Filter, now: datetime, zone: str) -> History:
    """The runs numbered below `before`, a page of them."""
    found = newest_runs(routine, PAGE + 2, upto=before, kind=kind)
    head = found[0] if found and found[0].number == before else None
    rest = found[1:] if head else found
    goes_on = day_of(_instant(head), zone) if head else None
    return _paged(rest, kind, now, zone, goes_on)


def history_of(runs: Sequence[Run], kind: Filter, now: datetime, zone: str) -> History:
    """The first page of these runs, the newest of their kind; they reach beyond a page when there
    are more."""
    return _paged(runs, kind, now, zone, None)


def _paged(
    found: Sequence[Run], kind: Filter, now: datetime, zone: str, shown_already: date | None
) -> History:
    shown = list(found[:PAGE])
    remarks = [""] * len(shown) if kind.code else _remarks(found)
    line = _line(shown)
    rows = [
        _row(run, line.get(run.fire_id, 0), remark, now, zone)
        for run, remark in zip(shown, remarks, strict=False)
    ]
    days: list[Day] = []
    marks = {shown_already}
    for day, each in groupby(rows, key=lambda row: day_of(_instant(row.run), zone)):
        goes_on = not days and day == shown_already
        days.append(
            Day(
                "" if goes_on else day_heading(day, day_of(now, zone)),
                "" if day in marks else f"day-{day}",
                list(_folded(list(each))),
            )
        )
        marks.add(day)
    return History(days, shown[-1].number if len(found) > PAGE else None)


def _instant(run: Run) -> datetime:
    return run.fire.due_at


def _remarks(found: Sequence[Run]) -> list[str]:
    """Beside each run that it is well again, where it is; "" beside all others."""
    ended = [(run.status, run.cause) for run in found][::-1]
    whole = bool(found) and found[-1].number == 1
    return [back_in_time(ended[: len(ended) - place], whole=whole) for place in range(len(ended))]


def _line(runs: Sequence[Run]) -> dict[int, int]:
    """The place of each of these that waits in its machine's line, by its fire; 1 is next."""
    waiting = next((run for run in runs if run.status == RunStatus.QUEUED), None)
    if waiting is None or waiting.machine_id is None:
        return {}
    fires = waiting_fires(machine_id=waiting.machine_id)
    return {fire: place for place, fire in enumerate(fires, start=1)}


def _row(run: Run, place: int, remark: str, now: datetime, zone: str) -> HistoryRow:
    sentence = sentence_for(run, zone=zone, now=now, place=place, doing=doing_words(run))
    length = run.duration if run.effects_begun_at else None
    act = act_now(sentence.act, run)
    second = sentence.second or _asked(run)
    if act or remark:
        second = f"{_stopped(second)} {remark}".strip()
    return HistoryRow(
        run=run,
        time=clock_time(_instant(run), zone),
        shape=shape_of(run),
        sentence=sentence,
        second=second,
        act=act,
        cost=dollars(paid(run)) if is_over(run) else "",
        took=lasted(length.total_seconds()) if length is not None else "",
    )


def _stopped(words: str) -> str:
    """With its full stop, since an action or a remark follows."""
    return f"{words}." if words and words[-1].isalnum() else words


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
