"""A workspace's machines: where each is in its life, since when, why, and what wakes it next."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.models import Role, Workspace
from billing.plans import plan_of
from billing.standing import account_of
from foundation import clock
from machines.access import provider_for
from machines.lifecycle import MachineState
from machines.models import Machine
from machines.providers.base import MachineError
from routines_app.admission import NotWoken, wake_machine
from routines_app.admission.machine_care import UNUSED
from routines_app.admission.machine_delete import (
    NotNow,
    StillNeeded,
    delete_machine,
    needed_by,
)
from routines_app.admission.restoring import bring_back, time_to_restore
from routines_app.configure.machine import NoMachine, full_words, make_machine
from routines_app.models import Routine, Run
from routines_app.rules.status import RunStatus
from routines_app.web import cold, plan_words
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.back import back_to
from routines_app.web.machine_facts import (
    axis,
    day_bounds,
    day_of_machine,
    falls_asleep,
    next_wakings,
    plan_here,
    spans_shown,
    spent_on,
    what_woke_it,
)
from routines_app.web.machine_stop import StillAwake, live_run_on, stop_machine
from routines_app.web.sentence import figures
from routines_app.web.templatetags.words import NUMBERS, counted

HOLDS_COMPUTE = {MachineState.AWAKE, MachineState.WAKING, MachineState.SUSPENDING}


def machines_of(workspace: Workspace) -> QuerySet[Machine]:
    """Those that aren't deleted, each with the routines that live on it, in `lives_here`."""
    routines = Routine.objects.filter(deleted_at__isnull=True).order_by("name")
    return (
        Machine.objects.filter(workspace=workspace, deleted_at__isnull=True)
        .prefetch_related(Prefetch("routines", queryset=routines, to_attr="lives_here"))
        .order_by("created_at", "id")
    )


def headline(machines: list[Machine]) -> str:
    """How many are awake, asleep and in cold storage, as a true sentence."""
    if len(machines) == 1:
        return f"{machines[0].name} is {_state_word(machines[0])}."
    counts = Counter(_state_word(machine) for machine in machines)
    if len(counts) == 1:
        every = "Both" if len(machines) == 2 else f"All {_number(len(machines))}"
        return f"{every} are {next(iter(counts))}."
    awake, asleep, cold = (counts[word] for word in ("awake", "asleep", "in cold storage"))
    said = [f"{_are(awake)} awake."] if awake else []
    if asleep and cold:
        said.append(f"{_are(asleep + cold)} asleep, {_number(cold)} of them cold.")
    elif asleep or cold:
        said.append(f"{_are(asleep or cold)} {'asleep' if asleep else 'in cold storage'}.")
    return " ".join(said)


def _are(count: int) -> str:
    return f"{_number(count).capitalize()} {'is' if count == 1 else 'are'}"


def _state_word(machine: Machine) -> str:
    if machine.state in HOLDS_COMPUTE:
        return "awake"
    return "in cold storage" if MachineState(machine.state).cold else "asleep"


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def _shown(machine: Machine, now: datetime) -> dict[str, Any]:
    """What a page says of one machine."""
    coming = next_wakings(machine)
    return {
        "machine": machine,
        "restore": cold.coming(machine, now),
        "restores_in": cold.about(time_to_restore(machine)),
        "state": machine.state,
        "holds_compute": machine.state in HOLDS_COMPUTE,
        "day": day_of_machine(machine, now),
        "next": coming[0] if coming else None,
        "coming": coming,
        "next_is_today": bool(coming) and coming[0][0] < day_bounds(now)[1],
        "idle_minutes": int(plan_here(machine).idle.total_seconds() // 60),
    }


@in_workspace(Role.VIEWER)
@require_GET
def machines(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Every machine, with its state in words and its day on the line."""
    return _list(request)


def _list(request: WorkspaceRequest, problem: str = "", name: str = "") -> HttpResponse:
    now = clock.now()
    rows = list(machines_of(request.workspace))
    shown = [_shown(machine, now) for machine in rows]
    plan = plan_of(account_of(request.workspace).plan)
    context = {
        "rows": shown,
        "awake": sum((each["day"].awake for each in shown), timedelta()),
        "plan": plan,
        "keeps": plan_words.machines(plan),
        "full": full_words(plan) if plan.machines and len(rows) >= plan.machines else "",
        "headline": headline(rows) if rows else "No machine yet.",
        "problem": problem,
        "typed": name,
        "may_make": request.membership.may(Role.ADMIN),
        "may_run": request.membership.may(Role.MEMBER),
    }
    return render(request, "pages/machines.html", context, status=422 if problem else 200)


@in_workspace(Role.ADMIN)
@require_POST
def machine_new(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """A new machine, asleep."""
    name = request.POST.get("name", "")
    made = make_machine(request.workspace, request.user, name)
    if isinstance(made, NoMachine):
        return _list(request, made.sentence, name)
    messages.success(request, f"{made.name} is there, asleep.")
    return redirect("machine", workspace_slug, made.slug)


@in_workspace(Role.VIEWER)
@require_GET
def machine(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """One machine: its day, what woke it, what wakes it next, what lives there."""
    return _one(request, get_object_or_404(machines_of(request.workspace), slug=slug))


def _one(request: WorkspaceRequest, machine: Machine, problem: str = "") -> HttpResponse:
    now = clock.now()
    if MachineState(machine.state).cold:
        return _one_cold(request, machine, problem, now)
    disk, allowed, trouble = disk_of(machine)
    spans, earlier = spans_shown(machine, now, every=request.GET.get("woken") == "all")
    waiting = Run.objects.filter(machine=machine, status=RunStatus.QUEUED).count()
    running = live_run_on(machine)
    context = _shown(machine, now) | {
        "problem": problem,
        "axis": axis(now),
        "in_use_by": running,
        "falls_asleep": None if running else falls_asleep(machine, now),
        "waits": counted(waiting, "waits,wait") if waiting else "nothing waits",
        "wakings": what_woke_it(machine, spans, now),
        "all_wakings": request.GET.get("woken") == "all",
        "earlier": earlier,
        "spent": spent_on(machine, request.workspace.zone, now),
        "lives": [
            (each, figures(each.schedule, inside=True) if each.enabled else "off")
            for each in machine.lives_here  # type: ignore[attr-defined]  # machines_of adds it
        ],
        "disk": disk,
        "disk_share": disk * 100 // allowed if allowed else None,
        "disk_left": allowed - disk if allowed else None,
        "disk_allowed": allowed,
        "disk_trouble": trouble,
        "now": now,
        "may_run": request.membership.may(Role.MEMBER),
        "may_delete": request.membership.may(Role.ADMIN),
    }
    return render(request, "pages/machine.html", context, status=409 if problem else 200)


def _one_cold(
    request: WorkspaceRequest, machine: Machine, problem: str, now: datetime
) -> HttpResponse:
    cold_by_plan = machine.state != MachineState.ARCHIVED or machine.state_reason == UNUSED
    context = _shown(machine, now) | {
        "problem": problem,
        "not_restored": "" if cold_by_plan else machine.state_reason,
        "stored_size": int(machine.archive.get("size", 0)),
        "happened": cold.how_it_got_here(machine),
        "stored": datetime.fromisoformat(since)
        if (since := machine.archive.get("since"))
        else None,
        "may_run": request.membership.may(Role.MEMBER),
        "may_delete": request.membership.may(Role.ADMIN),
    }
    return render(request, "pages/machine_cold.html", context, status=409 if problem else 200)


def disk_of(machine: Machine) -> tuple[int, int | None, str]:
    """Bytes that its disk holds and may hold, or else why that can't be told; wakes nothing."""
    if not machine.ref:
        return 0, None, ""
    try:
        provider, ref = provider_for(machine)
        used = provider.usage(ref).disk_bytes
    except MachineError as error:
        return 0, None, error.sentence
    return used, machine.spec.get("disk"), ""


@in_workspace(Role.MEMBER)
@require_POST
def machine_start(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Wake it, through the same door as a run."""
    found = get_object_or_404(machines_of(request.workspace), slug=slug)
    woken = wake_machine(found, str(request.user))
    if isinstance(woken, NotWoken):
        found = get_object_or_404(machines_of(request.workspace), slug=slug)
        return _one(request, found, woken.sentence)
    messages.success(request, f"{found.name} {'was' if woken.already else 'is'} awake.")
    return redirect("machine", workspace_slug, slug)


@in_workspace(Role.MEMBER)
@require_http_methods(["GET", "POST"])
def machine_stop(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Put it to sleep; asked again first when a run would end by it."""
    found = get_object_or_404(machines_of(request.workspace), slug=slug)
    run = live_run_on(found)
    if request.method == "GET" or (run is not None and request.POST.get("sure") != str(run.key)):
        return render(request, "pages/machine_stop.html", {"machine": found, "run": run})
    stopped = stop_machine(found, request.user)
    if isinstance(stopped, StillAwake):
        found = get_object_or_404(machines_of(request.workspace), slug=slug)
        return _one(request, found, stopped.sentence)
    messages.success(request, f"{found.name} is asleep.")
    return redirect("machine", workspace_slug, slug)


@in_workspace(Role.MEMBER)
@require_POST
def machine_restore(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Have it brought back from cold storage, and say when it will be there."""
    found = get_object_or_404(machines_of(request.workspace), slug=slug)
    length = bring_back(found, str(request.user))
    if length is not None:
        said = f"{found.name} is coming back. It will be ready in {cold.about(length)}."
        messages.info(request, said)
    else:
        messages.info(request, f"{found.name} isn’t in cold storage any more.")
    return back_to(request, reverse("machine", args=[workspace_slug, slug]))


@in_workspace(Role.ADMIN)
@require_http_methods(["GET", "POST"])
def machine_delete(request: WorkspaceRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Delete it for good; asked again first, and refused while a routine needs it."""
    found = get_object_or_404(machines_of(request.workspace), slug=slug)
    if request.method == "GET":
        return _ask_to_delete(request, found, needed_by(found))
    match delete_machine(found, request.user):
        case StillNeeded(routines=routines):
            return _ask_to_delete(request, found, routines, status=409)
        case NotNow(sentence=sentence):
            return _ask_to_delete(request, found, [], problem=sentence, status=409)
    messages.info(request, f"{found.name} is deleted.")
    return redirect("machines", workspace_slug)


def _ask_to_delete(
    request: WorkspaceRequest,
    machine: Machine,
    needed: list[Routine],
    *,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    off = [each for each in machine.lives_here if not each.enabled]  # type: ignore[attr-defined]
    context = {"machine": machine, "needed": needed, "off": off, "problem": problem}
    return render(request, "pages/machine_delete.html", context, status=status)
