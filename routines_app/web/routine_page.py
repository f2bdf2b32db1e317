"""A routine's own page: its sentence, its heartbeat, its history, what comes next, its memory."""

import re
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Role
from foundation import clock
from machines.lifecycle import MachineState
from routines_app.admission.restoring import time_to_restore
from routines_app.configure.agent_apps import app_names
from routines_app.configure.apps import GivenApp, given_apps
from routines_app.configure.content import apps_of
from routines_app.fires.accounting import SLACK, accounted
from routines_app.models import AgentRuntime, Routine, Run
from routines_app.producers.manual import run_it_now
from routines_app.rules.chosen import count_said
from routines_app.rules.money import dollars
from routines_app.rules.terminal import without_escapes
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.cold import about, back_words
from routines_app.web.coming import next_five, place_of
from routines_app.web.conversation import conversation_of, with_turns
from routines_app.web.dates import moment_words
from routines_app.web.failures import IN_A_ROW, Failure, counts, failure_of, failures_before
from routines_app.web.history import (
    FILTERS,
    PAGE,
    Filter,
    filter_of,
    history_of,
    newest_and_of_kind,
    newest_runs,
    older_history,
)
from routines_app.web.list_row import off_words
from routines_app.web.pulse import is_tick, ticking
from routines_app.web.quiet import quiet_now
from routines_app.web.routine_memory import memory_link, read_memory
from routines_app.web.routine_past import (
    RANGES,
    TICKS,
    USUAL,
    Range,
    beats_of,
    panel_words,
    range_of,
    sums_of,
    within,
)
from routines_app.web.sentence import spoken_sentence

ACCOUNTED_FOR = timedelta(weeks=6)


def find_routine(request: WorkspaceRequest, slug: str) -> Routine:
    """This workspace's routine. Raises Http404 when there is none."""
    return get_object_or_404(_routines_of(request), slug=slug)


def _routines_of(request: WorkspaceRequest) -> QuerySet[Routine]:
    return (
        Routine.objects.present()
        .select_related(
            "workspace", "agent", "machine", "off_by", "totals", "owner", "talk__anew_by"
        )
        .filter(workspace=request.workspace)
    )


def may_edit(request: WorkspaceRequest, routine: Routine) -> bool:
    """Whether this person may change it: an admin any, a member their own."""
    own = routine.owner_id == request.user.pk
    return request.membership.may(Role.MEMBER if own else Role.ADMIN)


@dataclass(frozen=True)
class Choice:
    """One of several views of the page: the address that shows it."""

    words: str
    href: str
    current: bool


@in_workspace(Role.VIEWER)
@ticking
@require_safe
def routine_page(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """The page; with `before` and htmx, older history; to a page that asks again, its parts."""
    routine = get_object_or_404(with_turns(_routines_of(request)), slug=slug)
    now, zone = clock.now(), request.user.zone
    kind = filter_of(request.GET.get("show", ""))
    before = _number(request.GET.get("before", ""))
    context: dict[str, object] = {
        "routine": routine,
        "may_run": request.membership.may(Role.MEMBER),
        "may_edit": may_edit(request, routine),
        "is_admin": request.membership.may(Role.ADMIN),
        "key": uuid.uuid4(),
        "kind": kind,
        "older_query": urlencode({"show": kind.code} if kind.code else {}),
    }
    if request.htmx and before is not None:
        context["history"] = older_history(routine, before, kind, now, zone)
        return render(request, "routines/partials/days.html", context)
    shown = range_of(request.GET.get("range", USUAL.code))
    if before is None and kind.code:
        newest, found = newest_and_of_kind(routine, TICKS, kind, PAGE + 1)
    else:
        newest = found = newest_runs(routine, TICKS)
    if before is None:
        history = history_of(found, kind, now, zone)
    else:
        history = older_history(routine, before, kind, now, zone)
    context |= {
        "history": history,
        "ranges": _ranges(shown, kind),
        "filters": _filters(shown, kind),
        "no_runs": _no_runs(routine, now, zone),
    }
    context |= _panel(routine, newest, shown, now, zone) | _around(routine, newest, now, zone)
    template = "routines/routine_tick.html" if is_tick(request) else "routines/routine.html"
    return render(request, template, context)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _address(shown: Range, kind: Filter) -> str:
    """The page with this range and this filter; what is usual isn't named."""
    asked = {}
    if shown is not USUAL:
        asked["range"] = shown.code
    if kind.code:
        asked["show"] = kind.code
    return f"?{urlencode(asked)}" if asked else "?"


def _ranges(shown: Range, kind: Filter) -> list[Choice]:
    return [Choice(each.words, _address(each, kind), each is shown) for each in RANGES]


def _filters(shown: Range, kind: Filter) -> list[Choice]:
    return [
        Choice(each.words, f"{_address(shown, each)}#history", each is kind) for each in FILTERS
    ]


def _panel(
    routine: Routine, newest: list[Run], shown: Range, now: datetime, zone: str
) -> dict[str, object]:
    """The heartbeat over a range, with what it comes to."""
    sums = sums_of(routine, shown, now)
    drawn = within(newest, shown, now)
    return {
        "beats": beats_of(routine, drawn, now, zone),
        "sums": sums,
        "panel_words": panel_words(sums),
        "drawn": len(drawn) if len(drawn) < sums.rows else 0,
        "accounted": _accounted(routine, now),
    }


def _around(routine: Routine, newest: list[Run], now: datetime, zone: str) -> dict[str, object]:
    """What stands above the heartbeat and beside it."""
    off, since = off_words(routine, now, zone)
    return {
        "too_quiet": quiet_now(routine.workspace).get(routine.pk),
        "sentence": spoken_sentence(routine),
        "first_line": _first_line(routine),
        "longer": _is_longer(routine),
        "off_words": ", ".join(filter(None, (off, since))),
        "cold_words": _cold_words(routine, now),
        "failures": _failures(routine, newest, now, zone),
        "fires": next_five(routine.schedule, now, zone) if routine.enabled else [],
        "place": place_of(routine.schedule),
        "memory": read_memory(routine),
        "talk": conversation_of(routine, now, zone),
        "file_href": memory_link(routine),
        "rules": _rules(routine),
    }


def _accounted(routine: Routine, now: datetime) -> str:
    """How many of what was due in six weeks has its row, up to a minute ago; "" when none was."""
    found, due = accounted(routine, now - ACCOUNTED_FOR, now - SLACK)
    return f"{found:,} of {due:,} occurrences accounted for in six weeks." if due else ""


def _failures(routine: Routine, newest: list[Run], now: datetime, zone: str) -> list[Failure]:
    """Where it stopped each time, when that turned it off."""
    if routine.enabled or routine.off_reason != "failures" or routine.off_at is None:
        return []
    before = [run for run in newest if run.finished_at and run.finished_at <= routine.off_at]
    if not before:
        return []
    failed = [run for run in before if counts(run.status, run.cause)][:IN_A_ROW]
    if len(failed) < IN_A_ROW:  # they lie further back than what was read
        return failures_before(routine, before[0].number, now, zone)
    return [failure_of(run, now, zone) for run in failed][::-1]


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


def _no_runs(routine: Routine, now: datetime, zone: str) -> str:
    """What stands in an empty history: when the first run is."""
    if routine.run_counter:
        return ""
    if routine.enabled and routine.next_fire_at:
        return f"No runs yet. The first is {moment_words(routine.next_fire_at, now, zone)}."
    return "No runs yet."


def _first_line(routine: Routine) -> str:
    """The first words of what it does; a script is said to be one."""
    if _runs_a_script(routine):
        return "its script."
    line = next((line.strip() for line in routine.instructions.splitlines() if line.strip()), "")
    return f"{line[:200].rstrip()}…" if len(line) > 200 else line


def _is_longer(routine: Routine) -> bool:
    """Whether there is more to read of what it does than its first line."""
    return _runs_a_script(routine) or routine.instructions.strip() != _first_line(routine)


def _runs_a_script(routine: Routine) -> bool:
    return routine.agent is not None and routine.agent.runtime == AgentRuntime.SCRIPT


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
        *([("Apps", _apps(routine), "")] if routine.apps else []),
        ("Tells", tells.get(routine.notify, "The bell, only when it fails"), ""),
    ]


def _apps(routine: Routine) -> str:
    """The apps that it is given, and how many of their tools: "Helpdesk, 2 of 3 tools"."""
    uses = apps_of(routine.apps)
    there = {each.use.app: each for each in given_apps(routine.workspace, uses)}
    gone = [use.app for use in uses if use.app not in there]
    names = app_names(routine.workspace, gone) if gone else {}
    return "; ".join(_given(there.get(use.app), names.get(use.app, use.app)) for use in uses)


def _given(given: GivenApp | None, name: str) -> str:
    if given is None:
        return f"{name} not connected"
    gone = [without_escapes(name) for name in given.gone]
    return count_said(given.row.name, len(given.tools), len(given.row.tools), gone)


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
