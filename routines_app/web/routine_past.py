"""A routine's past over a range: its ticks, what they come to, and how many there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse

from routines_app.models import Routine, Run
from routines_app.rules.money import dollars, lasted
from routines_app.rules.status import Shape
from routines_app.web.dates import axis_day, clock_time, day_of, moment_words
from routines_app.web.doing import doing_words
from routines_app.web.heartbeat import word
from routines_app.web.routine_rows import Sums, sums_since, typical_of
from routines_app.web.run_words import is_over, paid, sentence_for, shape_of

TICKS = 60  # at most so many are drawn, the newest
NEW = timedelta(minutes=2)  # so long the first tick of a routine draws itself


@dataclass(frozen=True)
class Range:
    """A stretch of the past that the page can show; `length` None is all of it."""

    code: str
    words: str
    length: timedelta | None


RANGES = (
    Range("week", "7 days", timedelta(days=7)),
    Range("weeks", "6 weeks", timedelta(weeks=6)),
    Range("all", "All", None),
)
USUAL = RANGES[1]


@dataclass(frozen=True)
class Beat:
    """One tick of the page's heartbeat; `shape` None is the run that is still to come.

    `draws`: it is the routine's very first, and draws itself.
    """

    href: str
    name: str
    brief: str
    shape: Shape | None
    axis: str
    draws: bool = False


def range_of(code: str) -> Range:
    """The range of this code; six weeks for one that isn't known."""
    return next((each for each in RANGES if each.code == code), USUAL)


def sums_of(routine: Routine, shown: Range, now: datetime) -> Sums:
    """What the range comes to, in one query."""
    if shown.length is not None:
        return sums_since(routine.pk, now - shown.length)
    typical = typical_of([routine.pk]).get(routine.pk)
    totals = getattr(routine, "totals", None)
    if totals is None:
        return Sums(routine.run_counter, 0, 0, 0, typical)
    return Sums(routine.run_counter, totals.runs, totals.refusals, totals.spent, typical)


def panel_words(sums: Sums) -> list[str]:
    """What stands after the number of runs: money, what is usual, what didn't run."""
    said = [dollars(sums.spent)]
    if sums.typical:
        said.append(f"typically {sums.typical.length}")
    if sums.refusals:
        said.append(f"{sums.refusals:,} didn’t run")
    return said


def within(runs: Sequence[Run], shown: Range, now: datetime) -> list[Run]:
    """Those of the newest runs that the range shows, at most `TICKS`."""
    if shown.length is None:
        return list(runs)[:TICKS]
    return [run for run in runs if run.queued_at >= now - shown.length][:TICKS]


def beats_of(routine: Routine, newest: Sequence[Run], now: datetime, zone: str) -> list[Beat]:
    """The ticks of these runs (the newest first), drawn the oldest first, and the expected one."""
    runs = list(newest)[::-1]
    today = day_of(now, zone)
    beats: list[Beat] = []
    last_axis = ""
    for place, run in enumerate(runs):
        day = axis_day(day_of(run.fire.due_at, zone), today)
        shows = place % 6 == 0 or place == len(runs) - 1
        axis = day if shows and day != last_axis else ""
        last_axis = axis or last_axis
        beats.append(_beat(routine, run, axis, now, zone))
    if routine.enabled and routine.next_fire_at:
        name = f"Next run: {moment_words(routine.next_fire_at, now, zone)}"
        beats.append(Beat("#next", name, name, None, ""))
    return beats


def _beat(routine: Routine, run: Run, axis: str, now: datetime, zone: str) -> Beat:
    brief = f"{day_of(run.fire.due_at, zone):%d %b}, {clock_time(run.fire.due_at, zone)}"
    ended = run.finished_at
    return Beat(
        href=reverse("run", args=[routine.workspace.slug, routine.slug, run.number]),
        name=_name(run, now, zone),
        brief=f"{brief.removeprefix('0')}: {word(shape_of(run)).lower()}",
        shape=shape_of(run),
        axis=axis,
        draws=run.number == 1 and ended is not None and now - ended < NEW,
    )


def _name(run: Run, now: datetime, zone: str) -> str:
    when = moment_words(run.fire.due_at, now, zone)
    sentence = sentence_for(run, zone=zone, now=now, doing=doing_words(run))
    said = f"{when[:1].upper()}{when[1:]}. {sentence.text}"
    if not is_over(run):
        return said
    length = f", took {lasted(run.duration.total_seconds())}" if run.duration else ""
    return f"{said} Cost {dollars(paid(run))}{length}."
