"""What stands beside an ended run: the one after it, how quiet it was lately, a higher cap, the
files that were kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median_low

from django.urls import reverse

from routines_app.agents.turn import StepKind
from routines_app.models import AgentRuntime, Run, Step
from routines_app.rules import estimate as rules
from routines_app.rules.money import dollars
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.dates import clock_time, count_words, day_heading, day_of, moment_words
from routines_app.web.routine_rows import Typical
from routines_app.web.run_look import is_open
from routines_app.web.run_words import sentence_for, shape_of


@dataclass(frozen=True)
class Neighbour:
    """Another run of the routine, in a line."""

    number: int
    shape: Shape
    when: str
    word: str
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
    said = sentence_for(found, zone=zone, now=now)
    word, text = said.lead.removesuffix("."), said.rest or said.second
    return Neighbour(found.number, shape_of(found), when, word, text[:1].upper() + text[1:])


def lately(run: Run, now: datetime, zone: str) -> str:
    """How many quiet checks there were in a row up to this one, and when a turn last began."""
    earlier = Run.objects.filter(routine_id=run.routine_id, number__lte=run.number)
    loud = earlier.exclude(status=RunStatus.NOTHING_TO_DO).order_by("-number").values("number")[:1]
    since = loud[0]["number"] if loud else 0
    quiet = earlier.filter(number__gt=since)
    count = quiet.count()
    turn = earlier.filter(turn_at__isnull=False).order_by("-number").first()
    script = run.snapshot.get("runtime") == AgentRuntime.SCRIPT
    never = "It never had to work yet." if script else "No model was ever called."
    last = "It last had work" if script else "The last time a model was called was"
    if turn is not None and turn.turn_at is not None:
        never = f"{last} {moment_words(turn.turn_at, now, zone)}."
    if count < 2:
        return f"The first check that found nothing since then. $0.00. {never}"
    first = quiet.order_by("number").select_related("fire").first()
    span = _span(first.fire.due_at, run.fire.due_at, zone) if first else ""
    return f"{count_words(count).capitalize()} checks in a row found nothing{span}. $0.00. {never}"


def _span(start: datetime, end: datetime, zone: str) -> str:
    """The days from one instant to another: ", 2 to 24 March"; "" for one day."""
    first, last = day_of(start, zone), day_of(end, zone)
    if first == last:
        return ""
    month = "" if (first.year, first.month) == (last.year, last.month) else f" {first:%B}"
    year = "" if first.year == last.year else f" {first.year}"
    return f", {first.day}{month}{year} to {last.day} {last:%B}"


def usual_quiet(run: Run) -> Typical | None:
    """What a check that finds nothing usually takes here: the median of the last twenty."""
    quiet = Run.objects.filter(
        routine_id=run.routine_id, status=RunStatus.NOTHING_TO_DO, number__lt=run.number
    ).order_by("-number")
    lengths = [
        (ended - began).total_seconds()
        for began, ended in quiet.values_list("waking_at", "finished_at")[:20]
        if began and ended
    ]
    return Typical(0, median_low(lengths)) if len(lengths) > 2 else None


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
class KeptFile:
    """A file that a run had written before it was stopped; `href` is "" where no page shows it."""

    path: str
    href: str


def kept_files(run: Run, steps: Sequence[Step]) -> list[KeptFile]:
    """The files that it wrote, each once, in the order of their first writing."""
    written = [step.title for step in steps if step.kind == StepKind.WROTE and not is_open(step)]
    return [KeptFile(path, _file_href(run, path)) for path in dict.fromkeys(written)]


def _file_href(run: Run, path: str) -> str:
    machine = run.machine
    if machine is None or machine.deleted_at is not None:
        return ""
    folder = str(run.snapshot.get("folder") or run.routine.working_folder)
    whole = path if path.startswith("~") else f"{folder}/{path}"
    if not whole.startswith("~/") or ".." in whole:
        return ""
    return reverse("file", args=[run.workspace.slug, machine.slug, whole.removeprefix("~/")])


def routine_off(run: Run, now: datetime, zone: str) -> str:
    """Since when the routine is off, beside a run that didn't begin; "" when it is on."""
    routine = run.routine
    if routine.enabled or routine.off_at is None or routine.deleted_at is not None:
        return ""
    day = day_of(routine.off_at, zone)
    year = "" if day.year == day_of(now, zone).year else f" {day.year}"
    return f"Off since {day.day} {day:%B}{year}"
