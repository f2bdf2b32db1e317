"""The next fires, with what clock changes do to them, each beside the fire that it touches."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from routines_app.rules import cron_search, zones
from routines_app.rules.cron import Cron, CronKind
from routines_app.rules.schedule import Schedule, crons, next_occurrence, preview
from routines_app.rules.wording import date_words, figures, joined, o_clock

RARE = timedelta(days=60)
_WEEK = timedelta(days=7)


class Tone(StrEnum):
    """How a note is shown."""

    CHANGED = "changed"  # amber: the clock change moves, repeats or drops something
    STEADY = "steady"  # reassuring: clocks change and the run doesn't


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence beside a fire."""

    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class NextFire:
    """One line of the next five: the instant (UTC), and how to show it."""

    at: datetime
    wall: datetime  # what clocks in the schedule's zone show (naive)
    time: str  # "8:00"
    abbreviation: str | None  # "GMT": only when the list crosses a change
    note: Note | None
    viewer_time: str | None  # "13:30", when the viewer's zone shows another time


def next_fires(
    schedule: Schedule, after: datetime, n: int = 5, viewer_zone: str | None = None
) -> tuple[NextFire, ...]:
    """The next `n` fires of a valid schedule, with their notes."""
    zone = zones.as_zone(schedule.zone)
    viewer = zones.as_zone(viewer_zone) if viewer_zone else None
    due = preview(schedule, after, n)
    crossed = bool(due) and any(zones.changes_between(due[0], due[-1], zone))
    fires: list[NextFire] = []
    before = after
    for at in due:
        local = at.astimezone(zone)
        note = note_between(schedule, before, at, after)
        if note is None and viewer is not None and viewer_zone:
            note = _viewer_note(schedule, (before, at), after, viewer_zone)
        fires.append(
            NextFire(
                at,
                local.replace(tzinfo=None, fold=0),
                _time(local),
                local.tzname() if crossed else None,
                note,
                _viewer_time(at, local, viewer),
            )
        )
        before = at
    return tuple(fires)


def _time(local: datetime) -> str:
    said = figures(local.hour * 60 + local.minute)
    return f"{said}:{local.second:02}" if local.second else said


def _viewer_time(at: datetime, local: datetime, viewer: ZoneInfo | None) -> str | None:
    if viewer is None:
        return None
    theirs = at.astimezone(viewer)
    return None if theirs.utcoffset() == local.utcoffset() else _time(theirs)


def note_between(
    schedule: Schedule, before: datetime, at: datetime, asked: datetime
) -> Note | None:
    """What a clock change after `before` and up to `at` does to the fire at `at`.

    `asked` is the moment from which the list counts; it decides whether a weekday says enough.
    """
    zone = zones.as_zone(schedule.zone)
    compiled = crons(schedule)
    changes = [*zones.changes_between(before, at, zone)]
    wall = zones.wall_at(at, zone)
    repeated = zones.happens_twice(wall.replace(fold=0), zone)
    if repeated is not None and wall.fold == 0 and _fixed_due(compiled, wall):
        return _twice(repeated, wall)
    for change in reversed(changes):
        if change.forward and change.at == at and (missing := _missing(compiled, change)):
            return _moved(change, missing)
    quiet = [day for change in changes for day in quiet_days(schedule, change)]
    if quiet:
        return _nothing_on(quiet, changes)
    if not changes or at - changes[-1].at > _WEEK:
        return None
    shown = zones.wall_at(before, zone).replace(fold=0)
    if zones.happens_twice(shown, zone) == changes[-1] and _fixed_due(compiled, shown):
        return None  # the fire before it has already said so
    return _passed(compiled, changes[-1], wall, asked)


def _matches(cron: Cron, low: datetime, high: datetime) -> list[datetime]:
    """Up to three wall times that the expression names, from `low` up to `high`."""
    found: list[datetime] = []
    wall = cron_search.next_wall(cron.parsed, low)
    while wall is not None and wall < high and len(found) < 3:
        found.append(wall)
        wall = cron_search.next_wall(cron.parsed, wall + zones.SECOND)
    return found


def _missing(compiled: Sequence[Cron], change: zones.Change) -> list[datetime]:
    """Fixed wall times that the change skips, the first three of each expression."""
    found = {
        wall
        for cron in compiled
        if cron.kind is CronKind.FIXED
        for wall in _matches(cron, change.wall_before, change.wall_after)
    }
    return sorted(found)


def _fixed_due(compiled: Sequence[Cron], wall: datetime) -> bool:
    plain = wall.replace(fold=0)
    return any(
        cron.kind is CronKind.FIXED and cron_search.next_wall(cron.parsed, plain) == plain
        for cron in compiled
    )


def _when(wall: datetime) -> str:
    return "that night" if wall.hour < 6 or wall.hour >= 21 else "that day"


def _jump(change: zones.Change) -> str:
    return f"from {_time(change.wall_before)} to {_time(change.wall_after)}"


def _moved(change: zones.Change, missing: Sequence[datetime]) -> Note:
    if change.after - change.before >= zones.DAY:
        lost = date_words(change.wall_before.date())
        text = f"{lost} doesn't exist there. It runs at the first real moment after."
        return Note(text, Tone.CHANGED)
    said = joined([_time(wall) for wall in missing[:3]])
    verb, once = ("doesn't", "") if len(missing) == 1 else ("don't", " once,")
    text = (
        f"{said} {verb} exist {_when(missing[0])}: clocks jump {_jump(change)}. "
        f"It runs{once} at the first real moment after."
    )
    return Note(text, Tone.CHANGED)


def _twice(change: zones.Change, wall: datetime) -> Note:
    text = (
        f"{_time(wall)} happens twice {_when(wall)}: clocks go back {_jump(change)}. "
        "It runs the first time only."
    )
    return Note(text, Tone.CHANGED)


def quiet_days(schedule: Schedule, change: zones.Change) -> list[date]:
    """Days that an INTERVAL schedule names and on which, with this change, it fires nothing."""
    if not change.forward:
        return []
    zone = zones.as_zone(schedule.zone)
    found: list[date] = []
    day = change.wall_before.date()
    while day <= change.wall_after.date():
        start, end = _day_in_real_time(day, zone)
        named = any(
            cron.kind is CronKind.INTERVAL
            and cron_search.first_date(cron.parsed, day) == day
            and _matches(cron, change.wall_before, change.wall_after)
            for cron in crons(schedule)
        )
        following = next_occurrence(schedule, start - zones.SECOND)
        if named and (following is None or following >= end):
            found.append(day)
        day += zones.DAY
    return found


def _day_in_real_time(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    midnight = datetime.min.time()
    start = zones.first_instant(datetime.combine(day, midnight), zone)
    return start, zones.first_instant(datetime.combine(day + zones.DAY, midnight), zone)


def _nothing_on(days: Sequence[date], changes: Sequence[zones.Change]) -> Note:
    said = joined([date_words(day) for day in days[:3]])
    jump = _jump(next(change for change in changes if change.forward))
    text = f"Nothing on {said}: clocks jump {jump}, so its times don't exist."
    return Note(text, Tone.CHANGED)


def _passed(
    compiled: Sequence[Cron], change: zones.Change, wall: datetime, asked: datetime
) -> Note:
    low = min(change.wall_before, change.wall_after)
    high = max(change.wall_before, change.wall_after)
    lead = f"Clocks go {'forward' if change.forward else 'back'} {_on(change, asked)}"
    for cron in compiled:
        if cron.kind is CronKind.INTERVAL and _matches(cron, low, high):
            rest = (
                "so nothing runs in the time that is skipped."
                if change.forward
                else "so it runs in both passes."
            )
            text = f"{lead}, {_jump(change)}. It follows real time, {rest}"
            return Note(text, Tone.CHANGED)
    return Note(f"{lead}. Still {_clock(wall)}.", Tone.STEADY)


def _clock(wall: datetime) -> str:
    return o_clock(wall.hour * 60 + wall.minute)


def _on(change: zones.Change, asked: datetime) -> str:
    """ "on Sunday", with its date when it is a week off or more."""
    day = change.wall_before.date() if change.forward else change.wall_after.date()
    soon = change.at - asked < _WEEK
    return f"on {date_words(day).split()[0]}" if soon else f"on {date_words(day)}"


def _viewer_note(
    schedule: Schedule, between: tuple[datetime, datetime], asked: datetime, viewer_zone: str
) -> Note | None:
    """The viewer's own clocks change, and so the time that it is for them."""
    viewer = zones.as_zone(viewer_zone)
    before, at = between
    changes = [*zones.changes_between(before, at, viewer)]
    zone = zones.as_zone(schedule.zone)
    if not changes or at - changes[-1].at > _WEEK or schedule.zone == viewer_zone:
        return None
    change = changes[-1]
    way = "forward" if change.forward else "back"
    still = f"Still {_clock(zones.wall_at(at, zone))} in {zones.place(schedule.zone)}."
    whose = f"{zones.place(viewer_zone)}'s clocks go {way} {_on(change, asked)}."
    return Note(f"{whose} {still}", Tone.STEADY)


def rare_note(schedule: Schedule, after: datetime) -> str | None:
    """What is said out loud when the next fire is more than 60 days off; else None."""
    at = next_occurrence(schedule, after)
    if at is None or at - after <= RARE:
        return None
    day = zones.wall_at(at, zones.as_zone(schedule.zone)).date()
    days = (at - after).days
    return f"The next run is on {date_words(day, year=True)}, {days} days from now."
