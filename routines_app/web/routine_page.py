"""A routine's own page: its sentence, its heartbeat, its history, what comes next, its memory."""

import re
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Role
from foundation import clock, database_clock
from machines.access import provider_for
from machines.lifecycle import MachineState
from machines.providers.base import MachineError, NotFound
from routines_app.admission.restoring import time_to_restore
from routines_app.configure.routine import Refused, turn_off, turn_on
from routines_app.fires.accounting import accounted
from routines_app.models import AgentRuntime, Routine, Run
from routines_app.producers.manual import run_it_now
from routines_app.rules.money import dollars, took
from routines_app.rules.status import OPEN_STATUSES, Shape
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.back import back_to
from routines_app.web.cold import about, back_words
from routines_app.web.coming import next_five, place_of
from routines_app.web.dates import axis_day, day_of, moment_words
from routines_app.web.failures import Failure, failures_before
from routines_app.web.history import history_of
from routines_app.web.routine_rows import off_words, typical_of
from routines_app.web.run_words import is_over, paid, sentence_for, shape_of
from routines_app.web.sentence import spoken_sentence

log = structlog.get_logger()

TICKS = 40
MEMORY_SHOWN = 20_000  # bytes of state.md

ACCOUNTED_FOR = timedelta(weeks=6)


@dataclass(frozen=True)
class Beat:
    """One tick of the page's heartbeat; `shape` None is the run that is still to come."""

    href: str
    name: str
    shape: Shape | None
    axis: str


def find_routine(request: WorkspaceRequest, slug: str) -> Routine:
    """This workspace's routine. Raises Http404 when there is none."""
    return get_object_or_404(
        Routine.objects.present().select_related(
            "workspace", "agent", "machine", "off_by", "totals", "owner"
        ),
        workspace=request.workspace,
        slug=slug,
    )


def may_edit(request: WorkspaceRequest, routine: Routine) -> bool:
    """Whether this person may change it: an admin any, a member their own."""
    own = routine.owner_id == request.user.pk
    return request.membership.may(Role.MEMBER if own else Role.ADMIN)


@in_workspace(Role.VIEWER)
@require_safe
def routine_page(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """The page; with `before` and htmx, older history."""
    routine = find_routine(request, slug)
    now, zone = clock.now(), request.user.zone
    asked = request.GET.get("before", "")
    before = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else None
    context: dict[str, object] = {
        "routine": routine,
        "history": history_of(routine, before, now, zone),
        "may_run": request.membership.may(Role.MEMBER),
        "may_edit": may_edit(request, routine),
        "key": uuid.uuid4(),
    }
    if request.htmx and before is not None:
        return render(request, "routines/partials/days.html", context)
    return render(request, "routines/routine.html", context | _whole_page(routine, now, zone))


def _whole_page(routine: Routine, now: datetime, zone: str) -> dict[str, object]:
    totals = getattr(routine, "totals", None)
    typical = typical_of([routine.pk]).get(routine.pk)
    return {
        "sentence": spoken_sentence(routine),
        "beats": _beats(routine, now, zone),
        "any_live": routine.runs.filter(status__in=OPEN_STATUSES).exists(),
        "totals": totals,
        "typical": typical,
        "fires": next_five(routine.schedule, now, zone) if routine.enabled else [],
        "off_words": off_words(routine, now, zone),
        "cold_words": _cold_words(routine, now),
        "failures": _failures(routine, now, zone),
        "no_runs": _no_runs(routine, now, zone),
        "memory": read_memory(routine),
        "rules": _rules(routine),
        "first_line": _first_line(routine),
        "place": place_of(routine.schedule),
        "accounted": _accounted(routine),
        "file_href": memory_link(routine),
    }


def _accounted(routine: Routine) -> str:
    """How many of what was due in six weeks has its row, up to a minute ago; "" when none was."""
    found, due = accounted(routine, database_clock.now() - ACCOUNTED_FOR, None)
    return f"{found:,} of {due:,} occurrences accounted for in six weeks." if due else ""


def _failures(routine: Routine, now: datetime, zone: str) -> list[Failure]:
    """Where it stopped each time, when that turned it off."""
    if routine.enabled or routine.off_reason != "failures":
        return []
    last = (
        routine.runs.filter(finished_at__lte=routine.off_at).order_by("-number").first()
        if routine.off_at
        else None
    )
    return failures_before(routine, last.number, now, zone) if last else []


def _cold_words(routine: Routine, now: datetime) -> str:
    """That its machine is in cold storage or on the way back, and what brings it back; or ""."""
    machine = routine.machine
    if machine is None or machine.deleted_at is not None:
        return ""
    if machine.state == MachineState.ARCHIVED:
        length = about(time_to_restore(machine))
        turning = "Turning this on restores it too" if not routine.enabled else "Restore it"
        return f"{machine.name} is in cold storage. {turning}; that takes {length}."
    if machine.state == MachineState.ARCHIVING:
        return f"{machine.name} is going into cold storage."
    return back_words(machine, now)


def _beats(routine: Routine, now: datetime, zone: str) -> list[Beat]:
    runs = list(
        routine.runs.select_related("machine", "fire__requested_by", "stop_asked_by").order_by(
            "-number"
        )[:TICKS]
    )
    runs.reverse()
    today = day_of(now, zone)
    beats: list[Beat] = []
    last_axis = ""
    for place, run in enumerate(runs):
        day = axis_day(day_of(run.fire.due_at, zone), today)
        shows = place % 6 == 0 or place == len(runs) - 1
        axis = day if shows and day != last_axis else ""
        last_axis = axis or last_axis
        href = reverse("run", args=[routine.workspace.slug, routine.slug, run.number])
        beats.append(Beat(href, _beat_name(run, now, zone), shape_of(run), axis))
    if routine.enabled and routine.next_fire_at:
        name = f"Next run: {moment_words(routine.next_fire_at, now, zone)}"
        beats.append(Beat("#next", name, None, ""))
    return beats


def _beat_name(run: Run, now: datetime, zone: str) -> str:
    when = moment_words(run.fire.due_at, now, zone)
    said = f"{when[:1].upper()}{when[1:]}. {sentence_for(run, zone=zone, now=now).text}"
    if not is_over(run):
        return said
    lasted = run.duration
    length = f", took {took(round(lasted.total_seconds(), 1))}" if lasted else ""
    return f"{said} Cost {dollars(paid(run))}{length}."


def _no_runs(routine: Routine, now: datetime, zone: str) -> str:
    """What stands in an empty history: when the first run is."""
    if routine.run_counter:
        return ""
    if routine.enabled and routine.next_fire_at:
        return f"No runs yet. The first is {moment_words(routine.next_fire_at, now, zone)}."
    return "No runs yet."


def _first_line(routine: Routine) -> str:
    """The first words of what it does; a script is said to be one."""
    if routine.agent and routine.agent.runtime == AgentRuntime.SCRIPT:
        return "Runs its script."
    line = next((line.strip() for line in routine.instructions.splitlines() if line.strip()), "")
    return f"{line[:200].rstrip()}…" if len(line) > 200 else line


def memory_link(routine: Routine) -> str:
    """The page of its state.md; empty when it has no machine."""
    if routine.machine is None or routine.machine.deleted_at is not None:
        return ""
    path = f"{routine.memory_folder.removeprefix('~/')}/state.md"
    try:
        return reverse("file", args=[routine.workspace.slug, routine.machine.slug, path])
    except NoReverseMatch:  # the files of machines aren't part of this site
        return ""


def read_memory(routine: Routine) -> str | None:
    """The text of its state.md; empty when it has none yet, None when it can't be read now."""
    if routine.machine is None or routine.machine.deleted_at is not None:
        return None
    if MachineState(routine.machine.state).cold:
        return None
    if not routine.machine.ref:
        return ""
    try:
        provider, ref = provider_for(routine.machine)
        data = provider.read_file(ref, f"{routine.memory_folder}/state.md")
    except NotFound:
        return ""
    except MachineError as error:
        log.info("memory_unread", routine=routine.pk, reason=str(error))
        return None
    return data[:MEMORY_SHOWN].decode(errors="replace")


def _rules(routine: Routine) -> list[tuple[str, str, str]]:
    """Name, words, and whether the words are a command."""
    kept = routine.conversation == "continued"
    minutes = routine.time_limit.total_seconds() / 60
    tells = {"change": "The bell, on change", "every": "The bell, every time"}
    return [
        ("Cost cap", f"{dollars(routine.cap)} a run", ""),
        ("Time limit", f"{minutes:g} minute{'' if minutes == 1 else 's'}", ""),
        ("Steps", f"{routine.step_limit} at most", ""),
        ("Check first", routine.check_command or "None, always runs", routine.check_command),
        ("Folder", routine.working_folder, routine.working_folder),
        ("Conversation", "Continued" if kept else "Fresh each run", ""),
        ("Tells", tells.get(routine.notify, "The bell, only when it fails"), ""),
    ]


def run_key(post: QueryDict) -> str:
    """What makes a double click one run: the form's key, or a new one when it isn't one of ours."""
    sent = post.get("key", "")
    return sent if re.fullmatch(r"[0-9A-Za-z-]{1,64}", sent) else uuid.uuid4().hex


@in_workspace(Role.MEMBER)
@require_POST
def run_now(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Ask for a run and land on its page; the same key twice is one run."""
    routine = find_routine(request, slug)
    run = run_it_now(routine, request.user, run_key(request.POST))
    return redirect("run", workspace_slug, slug, run.number)


@in_workspace(Role.MEMBER)
@require_POST
def switch_on(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Turn it on and say when the next run is and, if its machine is cold, when that is back; or
    what stands against it."""
    routine = find_routine(request, slug)
    if not may_edit(request, routine):
        return role_too_low(request, Role.ADMIN)
    now = clock.now()
    answer = turn_on(routine, request.user)
    if isinstance(answer, Refused):
        messages.error(request, " ".join(error.sentence for error in answer.errors))
    else:
        said = "It runs when somebody asks for it."
        if answer.next_fire_at is not None:
            said = f"Next run: {moment_words(answer.next_fire_at, now, request.user.zone)}."
        back = back_words(answer.machine, now)
        messages.info(request, f"{routine.name} is on. {said} {back}".strip())
    return back_to(request, reverse("routine", args=[workspace_slug, slug]))


@in_workspace(Role.MEMBER)
@require_POST
def switch_off(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Turn it off, at once."""
    routine = find_routine(request, slug)
    if not may_edit(request, routine):
        return role_too_low(request, Role.ADMIN)
    turn_off(routine, request.user)
    messages.info(request, f"{routine.name} is off.")
    return back_to(request, reverse("routine", args=[workspace_slug, slug]))
