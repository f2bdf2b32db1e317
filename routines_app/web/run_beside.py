"""What stands beside an ended run: the one after it, how quiet it was lately, a higher cap, the
files that were kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from routines_app.agents.turn import StepKind
from routines_app.models import AgentRuntime, Run, Step
from routines_app.rules import estimate as rules
from routines_app.rules.money import dollars
from routines_app.rules.status import Shape
from routines_app.web.dates import clock_time, count_words, day_heading, day_of, moment_words
from routines_app.web.run_look import is_open
from routines_app.web.run_past import LOOKED_AT, PastRun, quiet_before
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
    if run.number >= run.routine.run_counter:
        return None
    found = (
        Run.objects.select_related("machine", "workspace", "fire__requested_by", "stop_asked_by")
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


def lately(run: Run, past: Sequence[PastRun], now: datetime, zone: str) -> str:
    """How many quiet checks there were in a row up to this one, and when a turn last began."""
    quiet = quiet_before(past)
    count = 1 + len(quiet)
    script = run.snapshot.get("runtime") == AgentRuntime.SCRIPT
    turn = next((each.turn_at for each in past if each.turn_at), None)
    if turn is not None:
        last = "It last had work" if script else "The last time a model was called was"
        then = f"{last} {moment_words(turn, now, zone)}."
    elif len(past) == LOOKED_AT:
        then = f"It had no work in {LOOKED_AT} runs."
    else:
        then = "It never had to work yet." if script else "No model was ever called."
    if count == 1:
        return f"The first check in a row that found nothing. $0.00. {then}"
    span = _span(quiet[-1].queued_at, run.fire.due_at, zone)
    more = "More than " if len(quiet) == LOOKED_AT else ""
    said = f"{more}{count_words(count)} checks in a row found nothing{span}."
    return f"{said[:1].upper()}{said[1:]} $0.00. {then}"


def _span(start: datetime, end: datetime, zone: str) -> str:
    """The days from one instant to another: ", 2 to 24 March"; "" for one day."""
    first, last = day_of(start, zone), day_of(end, zone)
    if first == last:
        return ""
    month = "" if (first.year, first.month) == (last.year, last.month) else f" {first:%B}"
    year = "" if first.year == last.year else f" {first.year}"
    return f", {first.day}{month}{year} to {last.day} {last:%B}"


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
