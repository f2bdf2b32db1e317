"""What stands beside an ended run: the one after it, how quiet it was lately, a higher cap."""

from dataclasses import dataclass
from datetime import datetime

from routines_app.models import Run
from routines_app.rules import estimate as rules
from routines_app.rules.money import dollars
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.dates import clock_time, count_words, day_heading, day_of, moment_words
from routines_app.web.run_words import sentence_for, shape_of


@dataclass(frozen=True)
class Neighbour:
    """Another run of the routine, in a line."""

    number: int
    shape: Shape
    when: str
    text: str


@dataclass(frozen=True)
class HigherCap:
    """A cap that a capped routine could have, and what a month would be at most."""

    cap: str
    month: str


def after_this(run: Run, now: datetime, zone: str) -> Neighbour | None:
    """The run that came after; None for the newest."""
    found = (
        Run.objects.select_related("machine", "fire__requested_by", "stop_asked_by")
        .filter(routine_id=run.routine_id, number__gt=run.number)
        .order_by("number")
        .first()
    )
    if found is None:
        return None
    due, today = found.fire.due_at, day_of(now, zone)
    same = day_of(due, zone) == day_of(run.fire.due_at, zone)
    when = clock_time(due, zone) if same else day_heading(day_of(due, zone), today)
    return Neighbour(
        found.number, shape_of(found), when, sentence_for(found, zone=zone, now=now).text
    )


def lately(run: Run, now: datetime, zone: str) -> str:
    """How many quiet checks there were in a row up to this one, and when a turn last began."""
    earlier = Run.objects.filter(routine_id=run.routine_id, number__lte=run.number)
    loud = earlier.exclude(status=RunStatus.NOTHING_TO_DO).order_by("-number").values("number")[:1]
    since = loud[0]["number"] if loud else 0
    quiet = earlier.filter(number__gt=since).count()
    turn = earlier.filter(turn_at__isnull=False).order_by("-number").first()
    checks = "One check" if quiet == 1 else f"{count_words(quiet).capitalize()} checks in a row"
    said = f"{checks} found nothing. $0.00."
    if turn is None or turn.turn_at is None:
        return f"{said} It never had to work yet."
    return f"{said} It last had work {moment_words(turn.turn_at, now, zone)}."


def higher_caps(run: Run, now: datetime) -> list[HigherCap]:
    """Half as much again, and twice as much; empty where nothing comes by itself."""
    routine = run.routine
    found = []
    for cap in (routine.cap * 3 // 2, routine.cap * 2):
        month = rules.estimate(routine.schedule, now, cap)
        if month.ceiling:
            found.append(
                HigherCap(f"{dollars(cap)} a run", f"{dollars(month.ceiling)} a month at most")
            )
    return found


@dataclass(frozen=True)
class CheckChange:
    """What became of the check since a run in which it worked."""

    words: str
    before: str
    after: str


def check_change(run: Run, now: datetime, zone: str) -> CheckChange | None:
    """How the check differs from the last run that got past it; None when it doesn't."""
    good = (
        Run.objects.filter(routine_id=run.routine_id, number__lt=run.number, turn_at__isnull=False)
        .order_by("-number")
        .first()
    )
    if good is None:
        return None
    before, after = str(good.snapshot.get("check", "")), str(run.snapshot.get("check", ""))
    if before == after:
        return None
    version = (
        run.routine.versions.select_related("changed_by")
        .filter(number__gt=good.version or 0, number__lte=run.version or 0)
        .order_by("-number")
        .first()
    )
    if version is None:
        return CheckChange("The check was edited since it last worked.", before, after)
    who, when = version.changed_by or "Somebody", moment_words(version.changed_at, now, zone)
    return CheckChange(f"{who} edited the check {when}.", before, after)
