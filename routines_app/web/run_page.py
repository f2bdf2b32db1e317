"""One run: how far it is, what it does and did, and how it ended. Live while it lasts."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Role
from foundation import clock
from routines_app.agents.turn import StepKind
from routines_app.delivery.attention import mark_read
from routines_app.fires import place_in_line
from routines_app.models import AgentRuntime, Delivery, Notice, Run
from routines_app.rules import zones
from routines_app.rules.schedule import next_occurrence
from routines_app.rules.status import RunStatus, Shape
from routines_app.runner.stop import ask_to_stop
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.acts import act_link
from routines_app.web.agent_text import agent_html
from routines_app.web.dates import clock_time, count_words, moment_words
from routines_app.web.memory import memory_diff
from routines_app.web.progress import CHECK_FAILURES, channel_name, meters, track
from routines_app.web.routine_page import may_edit, memory_link, next_words
from routines_app.web.routine_rows import typical_of
from routines_app.web.run_beside import after_this, check_change, higher_caps, lately
from routines_app.web.run_facts import run_facts, title_words
from routines_app.web.run_words import is_over, sentence_for, shape_of
from routines_app.web.sentence import figures
from routines_app.web.terminal import without_escapes
from routines_app.web.transcript import tally, transcript

STOP_POLLING = 286  # htmx ends a poll that answers with this


@dataclass(frozen=True)
class Told:
    """One telling of the run, in words."""

    channel: str
    time: str
    words: str


@in_workspace(Role.VIEWER)
@require_safe
def run_page(
    request: WorkspaceRequest, workspace_slug: str, slug: str, number: int
) -> HttpResponse:
    """The page; with `after` and htmx, what came after that step."""
    run = find_run(request, slug, number)
    after = _whole(request.GET.get("after", ""))
    if request.htmx and after is not None:
        return _what_came(request, run, after)
    mark_read(Notice.objects.filter(run=run), request.user)
    return render(request, "runs/run.html", page_context(request, run))


@in_workspace(Role.MEMBER)
@require_POST
def stop_run(
    request: WorkspaceRequest, workspace_slug: str, slug: str, number: int
) -> HttpResponse:
    """Ask the run to stop, and show it again."""
    run = find_run(request, slug, number)
    ask_to_stop(run, request.user)
    return redirect("run", workspace_slug, slug, number)


def find_run(request: WorkspaceRequest, slug: str, number: int) -> Run:
    """This workspace's run. Raises Http404 when there is none."""
    return get_object_or_404(
        Run.objects.select_related(
            "workspace", "routine__agent", "machine", "fire__requested_by", "stop_asked_by"
        ),
        workspace=request.workspace,
        routine__slug=slug,
        routine__deleted_at__isnull=True,
        number=number,
    )


def _what_came(request: WorkspaceRequest, run: Run, after: int) -> HttpResponse:
    """New steps, and the parts that move; once it is over, the whole page and the end of asking."""
    if is_over(run):
        response = render(request, "runs/run.html#page", page_context(request, run))
        response.status_code = STOP_POLLING
        response["HX-Retarget"] = "#run-page"
        response["HX-Reswap"] = "outerHTML"
        return response
    context = page_context(request, run, after)
    context["announce"] = request.GET.get("phase", "") != run.status
    return render(request, "runs/live.html", context)


def page_context(request: WorkspaceRequest, run: Run, after: int = 0) -> dict[str, object]:
    """All that the page's parts need. Steps numbered up to `after` are left out of `lines`."""
    now, zone = clock.now(), request.user.zone
    over = is_over(run)
    # a live page asks each second: the contents of steps that it has are left in the database
    outline = list(run.steps.order_by("number").values_list("number", "kind", "title"))
    new = list(run.steps.filter(number__gt=after).order_by("number"))
    told = list(run.deliveries.order_by("id"))
    typical = typical_of([run.routine_id], but_not=run.pk).get(run.routine_id)
    place = place_in_line(run) if run.status == RunStatus.QUEUED else 0
    doing = "" if over else _doing(run, outline)
    sentence = sentence_for(run, zone=zone, now=now, place=place, doing=doing)
    began = run.waking_at or run.queued_at
    return {
        "run": run,
        "routine": run.routine,
        "title": title_words(run, now, zone),
        "over": over,
        "shape": shape_of(run),
        "sentence": sentence,
        "act": act_link(sentence.act, run),
        "track": track(run, told, now, zone),
        "meters": meters(run, typical, len(outline), tally(kind for _, kind, _ in outline), now),
        "lines": transcript(
            new,
            began,
            by_cost=run.status == RunStatus.STOP_COST,
            all_open=run.snapshot.get("runtime") == AgentRuntime.SCRIPT,
        ),
        "last_step": outline[-1][0] if outline else 0,
        "how": _how_heading(run),
        "body": agent_html(without_escapes(run.body)) if over and run.body.strip() else "",
        "memory": memory_diff(run.state_before, run.state_after) if over else [],
        "told": [_told_words(delivery, zone) for delivery in told],
        "facts": run_facts(run, now, zone),
        "typical": typical,
        "chip_word": sentence.lead.removesuffix("."),
        "next_words": next_words(run.routine, now, zone),
        "keep": _keep(run, now, zone),
        "streak_words": _streak(run),
        "after_this": after_this(run, now, zone) if over else None,
        "lately": lately(run, now, zone) if run.status == RunStatus.NOTHING_TO_DO else "",
        "check_change": check_change(run, now, zone) if run.status in CHECK_FAILURES else None,
        "higher_caps": higher_caps(run, now) if run.status == RunStatus.STOP_COST else [],
        "file_href": memory_link(run.routine),
        "may_run": request.membership.may(Role.MEMBER),
        "may_edit": may_edit(request, run.routine),
        "key": uuid.uuid4(),
    }


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


def _streak(run: Run) -> str:
    """How near the routine is to turning itself off, beside a failure that counts."""
    streak = run.routine.streak
    if shape_of(run) is not Shape.POINT or run.cause == "ours" or not 0 < streak < 5:
        return ""
    said = "One failure" if streak == 1 else f"{count_words(streak).capitalize()} failures"
    return f"{said} in a row. Five would turn it off."


def _doing(run: Run, outline: list[tuple[int, str, str]]) -> str:
    """What it is at: the step that is open, else its latest one."""
    title = str(run.doing.get("title", ""))[:200]
    if title:
        return f"{_participle(str(run.doing.get('kind', '')))} {title}"
    for _, kind, said in reversed(outline):
        if kind == StepKind.SAID:
            return said
        if kind in (StepKind.RAN, StepKind.READ, StepKind.LISTED, StepKind.WROTE):
            return f"{kind} {said}"
    return ""


def _participle(kind: str) -> str:
    match kind:
        case StepKind.READ:
            return "reading"
        case StepKind.LISTED:
            return "listing"
        case StepKind.WROTE:
            return "writing"
        case _:
            return "running"


def _how_heading(run: Run) -> str:
    if not is_over(run):
        return "What it’s doing"
    if run.status == RunStatus.STOP_COST:
        return "Where the money went"
    if run.status == RunStatus.NOTHING_TO_DO:
        return "What it ran"
    if run.status == RunStatus.FAIL_RESTART:
        return "As far as it got"
    if shape_of(run) is Shape.POINT and run.turn_at is None:
        return "What it printed"
    return "How it got there"


def _told_words(delivery: Delivery, zone: str) -> Told:
    match delivery.state:
        case "taken":
            words = "It rang." if delivery.channel == "bell" else "Taken."
        case "given_up":
            words = f"Given up: {delivery.answer or 'no reason was given'}"
        case _:
            words = "Waiting."
    time = clock_time(delivery.ended_at, zone) if delivery.ended_at else ""
    return Told(channel_name(delivery.channel), time, words)


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
