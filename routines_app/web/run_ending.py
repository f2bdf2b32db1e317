"""How a run ended, as its own page says it: the sentence, what follows from it, at most two acts.

In a list a row has one line for the second sentence; the page has room for what led to it and for
what it means.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.urls import reverse

from machines.lifecycle import MachineState
from routines_app.admission.restoring import time_to_restore
from routines_app.models import Run
from routines_app.rules.said import Act, Sentence
from routines_app.rules.status import RunStatus, Shape
from routines_app.rules.telling import third_overlap
from routines_app.web.acts import ActLink, act_link
from routines_app.web.acts_now import act_now
from routines_app.web.cold import about
from routines_app.web.dates import clock_time, day_of
from routines_app.web.progress import CHECK_FAILURES
from routines_app.web.run_past import PastRun, streak_words
from routines_app.web.run_words import shape_of

NOT_REPEATED = (
    "This run isn’t repeated by itself: press Run it now when the machine is back."  # of a refusal
)


@dataclass(frozen=True)
class Ending:
    """What stands under the title of a run that is over.

    `acts` are at most two, the useful one first. `asks_again`: the useful act is Run it now, which
    the title offers. `hint` stands beside the acts.
    """

    lead: str
    rest: str
    second: str
    acts: list[ActLink]
    asks_again: bool
    hint: str


def ending_of(
    run: Run, sentence: Sentence, past: Sequence[PastRun], streak: int, now: datetime, zone: str
) -> Ending:
    """The ending of a run that is over; `past` are the runs before it, the newest first, and
    `streak` how many failures in a row it was the last of."""
    act = sentence.act
    asks_again = act is not None and act.code == "run_now"
    acts = [] if asks_again or act is None else [_first_act(run, act)]
    found = [link for link in [*acts, *(act_link(more, run) for more in _more(run, past))] if link]
    return Ending(
        lead=sentence.lead,
        rest=sentence.rest,
        second=_second(run, sentence.second, past, now, zone),
        acts=found[:2],
        asks_again=asks_again,
        hint=_hint(run, streak),
    )


def _first_act(run: Run, act: Act) -> ActLink | None:
    machine = run.machine
    if act.code == "restore" and machine is not None:
        if machine.deleted_at is not None or machine.state != MachineState.ARCHIVED:
            return act_link(replace(act, words=f"See {machine.name}"), run)
        address = reverse("machine_restore", args=[run.workspace.slug, machine.slug])
        return ActLink(f"Restore it, {about(time_to_restore(machine))}", address, posts=True)
    return act_now(act, run)


def _more(run: Run, past: Sequence[PastRun]) -> list[Act]:
    """The second act, where one makes sense."""
    match run.status:
        case RunStatus.STOP_COST | RunStatus.STOP_TIME | RunStatus.FAIL_SCRIPT:
            script = run.snapshot.get("runtime") == "script"
            return [Act("edit_work", "Change its script" if script else "Change what it does")]
        case RunStatus.SKIP_OVERLAP if _third(past):
            return [Act("edit_schedule", "Change the schedule")]
        case _:
            return []


def _second(run: Run, said: str, past: Sequence[PastRun], now: datetime, zone: str) -> str:
    match run.status:
        case RunStatus.NOTHING_TO_DO:
            return f"{said}. Nobody was told, as set." if said else "Nobody was told, as set."
        case RunStatus.SKIP_OFF if run.routine.off_at and not run.routine.enabled:
            return f"{said.removesuffix('.') or 'It was'} on {_day(run.routine.off_at, now, zone)}."
        case RunStatus.SKIP_PAUSED if run.workspace.paused_at:
            at = clock_time(run.workspace.paused_at, zone)
            return f"{said.removesuffix('.') or 'It was'} at {at}."
        case RunStatus.SKIP_BUDGET:
            return f"Starts again on {_next_month(run, now)}, or raise it."
        case RunStatus.SKIP_COLD:
            return _cold(run, now, zone)
        case RunStatus.SKIP_MISSED if run.routine.next_fire_at is not None:
            return f"{said} Next at {clock_time(run.routine.next_fire_at, zone)}.".strip()
        case RunStatus.SKIP_OVERLAP if _third(past):
            return "It is the third in a row: it often runs long. A wider schedule may suit it."
        case status if status in CHECK_FAILURES:
            return _broken_check(run, said)
        case _:
            return said


def _broken_check(run: Run, said: str) -> str:
    called = "so it didn’t go on" if _is_script(run) else "so no model was called"
    code = run.facts.get("exit_code")
    ended = f"The check ended with exit {code}, {called}." if code is not None else ""
    if run.status == RunStatus.FAIL_CHECK_TIMEOUT:
        ended = f"The check didn’t end, {called}."
    last = str(run.facts.get("last_line") or "")
    differs = "A check that can’t run isn’t the same as one that finds nothing."
    printed = f"The last that it printed: {last}" if last else ""
    return " ".join(part for part in (ended or said, differs, printed) if part)


def _cold(run: Run, now: datetime, zone: str) -> str:
    machine = run.machine
    kept = "Everything on its disk is kept."
    stored = str(machine.archive.get("since", "")) if machine else ""
    if machine is None or not stored or not MachineState(machine.state).cold:
        return kept
    since = _day(datetime.fromisoformat(stored), now, zone)
    return f"It has been there since {since}, after 30 days in which nothing needed it. {kept}"


def _hint(run: Run, streak: int) -> str:
    """What is said beside the acts."""
    if run.status == RunStatus.SKIP_COLD:
        return NOT_REPEATED
    if shape_of(run) in (Shape.POINT, Shape.BLOCK) and run.routine.enabled:
        return streak_words(streak)
    return ""


def _third(past: Sequence[PastRun]) -> bool:
    return third_overlap([each.status for each in past[:3]])


def _next_month(run: Run, now: datetime) -> str:
    zone = ZoneInfo(run.workspace.zone)
    first = (run.finished_at or now).astimezone(zone).replace(day=1) + timedelta(days=32)
    return f"1 {first:%B}"


def _is_script(run: Run) -> bool:
    return bool(run.snapshot.get("runtime") == "script")


def _day(moment: datetime, now: datetime, zone: str) -> str:
    day = day_of(moment, zone)
    year = "" if day.year == day_of(now, zone).year else f" {day.year}"
    return f"{day.day} {day:%B}{year}"
