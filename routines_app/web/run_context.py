"""All that the parts of a run's page need."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.models import Role
from foundation import clock
from machines.lifecycle import MachineState
from routines_app.agents.turn import StepKind
from routines_app.configure.candidates import what_keeps_it
from routines_app.configure.models import Unusable, model_for
from routines_app.fires import place_in_line
from routines_app.models import AgentRuntime, Routine, Run, Step
from routines_app.rules import zones
from routines_app.rules.line_diff import DiffLine, memory_diff
from routines_app.rules.money import lasted
from routines_app.rules.said import rounded
from routines_app.rules.schedule import next_occurrence
from routines_app.rules.status import RunStatus, Shape
from routines_app.rules.terminal import as_printed, without_escapes
from routines_app.web import run_beside as beside
from routines_app.web.access import WorkspaceRequest
from routines_app.web.acts import ActLink
from routines_app.web.agent_text import Made, made_of
from routines_app.web.dates import clock_time, moment_words
from routines_app.web.progress import meters, track
from routines_app.web.quiet import quiet_words
from routines_app.web.routine_memory import memory_link, read_memory
from routines_app.web.routine_page import may_edit
from routines_app.web.routine_rows import Typical, typical_of
from routines_app.web.run_changed import changed_since_it_worked
from routines_app.web.run_ending import ending_of
from routines_app.web.run_facts import run_facts, title_words
from routines_app.web.run_files import changed_files
from routines_app.web.run_live import carries_on, doing_of, usual_wake, when_it_ends
from routines_app.web.run_look import to_look_at
from routines_app.web.run_money import ledger_of
from routines_app.web.run_past import PastRun, past_of, streak_at, usual_quiet
from routines_app.web.run_told import tellings
from routines_app.web.run_words import is_over, said_status, sentence_for, shape_of
from routines_app.web.sentence import figures
from routines_app.web.transcript import at_now, closing, tally, transcript


@dataclass(frozen=True)
class May:
    """What this person may do here: run and stop, change the routine, set the workspace."""

    run: bool
    edit: bool
    admin: bool


def may_of(request: WorkspaceRequest, routine: Routine) -> May:
    """What the person may do with this routine's runs; nothing once it is deleted."""
    if routine.deleted_at is not None:
        return May(False, False, False)
    membership = request.membership
    return May(membership.may(Role.MEMBER), may_edit(request, routine), membership.may(Role.ADMIN))


def page_context(request: WorkspaceRequest, run: Run, after: int = 0) -> dict[str, Any]:
    """The whole page. Steps numbered up to `after` are left out of `lines`."""
    now, zone = clock.now(), request.user.zone
    over = is_over(run)
    may = may_of(request, run.routine)
    # a live page asks each second: the contents of steps that it has are left in the database
    steps = list(run.steps.filter(number__gt=after).order_by("number"))
    outline, ended, already = _outline(run, steps, after)
    deliveries = list(run.deliveries.order_by("id"))
    told = tellings(run, deliveries, zone)
    typical = typical_of([run.routine_id], but_not=run.pk).get(run.routine_id)
    sentence = sentence_for(
        run,
        zone=zone,
        now=now,
        place=place_in_line(run) if run.status == RunStatus.QUEUED else 0,
        doing="" if over else doing_of(run, outline),
        usual_wake=usual_wake(run),
    )
    past = past_of(run) if over else []
    usual = typical
    if run.status == RunStatus.NOTHING_TO_DO:
        seconds = usual_quiet(past)
        usual = None if seconds is None else Typical(0, seconds)
    began = run.waking_at or run.queued_at
    context = {
        "run": run,
        "routine": run.routine,
        "title": title_words(run, now, zone),
        "over": over,
        "shape": shape_of(run),
        "sentence": sentence,
        "phase": said_status(run),
        "chip_word": sentence.lead.removesuffix("."),
        "track": track(run, deliveries, already, now, zone),
        "meters": meters(run, usual, len(outline), tally(ended), now),
        "lines": transcript(
            steps,
            began,
            by_cost=run.status == RunStatus.STOP_COST,
            all_open=run.snapshot.get("runtime") == AgentRuntime.SCRIPT,
        ),
        "last_step": outline[-1][0] if outline else 0,
        "how": _how_heading(run),
        "told": told,
        "typical": typical,
        "typical_length": rounded(typical.seconds) if typical else "",
        "may": may,
        "key": uuid.uuid4(),
    }
    if over:
        return context | _ended(run, steps, past, context, now, zone)
    return context | {
        "at_now": at_now(run, now),
        "facts": run_facts(run, "", 0, now, zone),
        "next_words": carries_on(run.routine, now, zone),
        "memory_so_far": [] if request.htmx else _memory_so_far(run),
        "read_at": clock_time(now, zone),
        "file_href": memory_link(run.routine),
        "when_it_ends": when_it_ends(str(run.snapshot.get("notify") or run.routine.notify)),
    }


def _outline(
    run: Run, steps: list[Step], after: int
) -> tuple[list[tuple[int, str, str]], list[str], bool | None]:
    """Number, kind and title of every step, the kinds of those that were done, and whether
    the machine was awake already, None where no step says so."""
    fields = ("number", "kind", "title", "facts__outcome", "facts__already", "facts__refused")
    if not after:
        rows = [
            (
                each.number,
                each.kind,
                each.title,
                each.facts.get("outcome"),
                each.facts.get("already"),
                each.facts.get("refused"),
            )
            for each in steps
        ]
    else:
        rows = list(run.steps.order_by("number").values_list(*fields))
    outline = [(number, kind, title) for number, kind, title, *_ in rows]
    ended = [
        kind
        for _, kind, _, outcome, _, refused in rows
        if outcome is None and (not refused or kind == StepKind.CALLED)
    ]
    woke = [already for _, kind, _, _, already, _ in rows if kind == StepKind.WOKE]
    return outline, ended, woke[0] if woke else None


def _ended(
    run: Run,
    steps: list[Step],
    past: list[PastRun],
    so_far: dict[str, Any],
    now: datetime,
    zone: str,
) -> dict[str, Any]:
    """What only the page of a run that is over shows."""
    streak = streak_at(run, past)
    routine, may, shape = run.routine, so_far["may"], so_far["shape"]
    gone = routine.deleted_at is not None
    ending = ending_of(run, so_far["sentence"], past, streak, now, zone)
    capped = run.status == RunStatus.STOP_COST
    looks = shape in (Shape.BLOCK, Shape.POINT)
    memory = memory_diff(run.state_before, run.state_after)
    return {
        "ending": ending,
        "ending_acts": [] if gone else [act for act in ending.acts if _allowed(act, may)],
        "deleted_words": deleted_words(routine, now, zone),
        "may_run_again": may.run and not reason_holds(run),
        "closing": closing(run, run.waking_at or run.queued_at, zone),
        "made": _made(run),
        "lasted": lasted(run.duration.total_seconds()) if run.duration else "",
        "only_said": run.status in (RunStatus.FAIL_EMPTY, RunStatus.FAIL_MODEL),
        "files": changed_files(run),
        "kept": beside.kept_files(run, steps) if shape is Shape.BLOCK else [],
        "memory": memory,
        "shows_memory": bool(memory) or shape in (Shape.DONE, Shape.QUIET),
        "file_href": memory_link(routine),
        "facts": run_facts(run, so_far["told"].line, streak, now, zone),
        "keep": _keep(run, now, zone) if may.edit else "",
        "look": to_look_at(run, steps),
        "ledger": ledger_of(run) if run.cause == "ours" else [],
        "after_this": None
        if shape in (Shape.DONE, Shape.QUIET)
        else beside.after_this(run, now, zone),
        "lately": beside.lately(run, past, now, zone)
        if run.status == RunStatus.NOTHING_TO_DO
        else "",
        "quiet": quiet_words(routine) if run.status == RunStatus.NOTHING_TO_DO and not gone else "",
        "changed": changed_since_it_worked(run, past, now, zone) if looks else None,
        "higher_caps": beside.higher_caps(run, now) if capped and not gone else [],
        "routine_off": beside.routine_off(run, now, zone) if shape is Shape.RING else "",
        "elsewhere": may.edit and run.status in _ELSEWHERE and run.machine is not None,
    }


def _memory_so_far(run: Run) -> list[DiffLine]:
    """What a live run has changed in its state.md by now; empty when that can't be read."""
    if run.effects_begun_at is None:
        return []
    now = read_memory(run.routine)
    return memory_diff(run.state_before, now) if now is not None else []


_ELSEWHERE = (RunStatus.SKIP_COLD, RunStatus.SKIP_WAKE_REFUSED, RunStatus.SKIP_WAKE_TIMEOUT)


def _allowed(act: ActLink, may: May) -> bool:
    if act.admin:
        return may.admin
    return may.edit if act.edits else may.run or not act.posts


def _made(run: Run) -> Made | None:
    """A program ends its lines where they shall end; an agent's may be wrapped."""
    lines = run.snapshot.get("runtime") == AgentRuntime.SCRIPT
    body = as_printed(run.body) if lines else without_escapes(run.body)
    return made_of(body, lines) if body.strip() else None


def deleted_words(routine: Routine, now: datetime, zone: str) -> str:
    """Who deleted the routine, and when; "" for one that is there."""
    if routine.deleted_at is None:
        return ""
    who = f" by {routine.off_by}" if routine.off_by else ""
    return f"{routine.name} was deleted{who} {moment_words(routine.deleted_at, now, zone)}."


def reason_holds(run: Run) -> bool:
    """Whether what kept this run from starting would still do so: then it isn't offered again."""
    routine, machine = run.routine, run.routine.machine
    match run.status:
        case RunStatus.SKIP_PAUSED:
            return run.workspace.paused_at is not None
        case RunStatus.SKIP_COLD:
            return machine is not None and MachineState(machine.state).cold
        case RunStatus.SKIP_MACHINE_GONE:
            return machine is None or machine.deleted_at is not None
        case RunStatus.SKIP_NO_MODEL:
            return isinstance(model_for(routine), Unusable)
        case RunStatus.SKIP_CONNECTOR:
            return what_keeps_it(routine) is not None
        case RunStatus.FAIL_NO_GRANT | RunStatus.STOP_DELETED:
            return True
        case _:
            return False


def _keep(run: Run, now: datetime, zone: str) -> str:
    """After a watched run of a routine that was never on: when it would run, if it is kept."""
    routine = run.routine
    ended_well = shape_of(run) in (Shape.DONE, Shape.QUIET)
    if routine.enabled or routine.off_reason != "never_on" or not ended_well:
        return ""
    at = next_occurrence(routine.schedule, now)
    if at is None:
        return ""
    said = f"{figures(routine.schedule)}, {zones.words(routine.zone)}."
    return f"{said} The first would be {moment_words(at, now, zone)}."


def _how_heading(run: Run) -> str:
    if not is_over(run):
        return "What it’s doing"
    match run.status:
        case RunStatus.STOP_COST:
            return "Where the money went"
        case RunStatus.NOTHING_TO_DO:
            return "What it ran"
        case RunStatus.FAIL_RESTART | RunStatus.STOP_PERSON | RunStatus.STOP_DELETED:
            return "As far as it got"
        case RunStatus.FAIL_SCRIPT:
            return "What it printed"
    if shape_of(run) is Shape.POINT and run.turn_at is None:
        return "What it printed"
    return "How it got there"
