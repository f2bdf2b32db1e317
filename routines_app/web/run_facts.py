"""What stands beside a run: who asked, who did it, where, with which model and version."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils.html import format_html

from routines_app.models import AgentRuntime, Run
from routines_app.producers import asked_by
from routines_app.rules.chosen import count_said
from routines_app.rules.money import dollars, took
from routines_app.rules.said import rounded
from routines_app.rules.status import Shape
from routines_app.rules.talk import runs_words, tokens_words
from routines_app.rules.terminal import without_escapes
from routines_app.web.dates import clock_time, moment_words
from routines_app.web.run_words import is_over, shape_of
from routines_app.web.sentence import figures


@dataclass(frozen=True)
class Title:
    """A run page's first lines."""

    name: str
    about: str


def title_words(run: Run, now: datetime, zone: str) -> Title:
    """The run's name and, beneath it, who asked and when it ended."""
    due = run.fire.due_at if run.fire.source == "timer" else run.fire.requested_at
    name = f"{run.routine.name}, {moment_words(due, now, zone)}"
    return Title(name, f"Run {run.number:,}. {_about(run, now, zone)}")


def _about(run: Run, now: datetime, zone: str) -> str:
    person = run.fire.requested_by
    if run.waking_at is not None and not is_over(run):
        began = max(int((now - run.waking_at).total_seconds()), 0)
        return f"Started {asked_by(run.fire)}, {rounded(began)} before you opened this page."
    if is_over(run) and run.finished_at and run.turn_at:
        said = f"Asked for {asked_by(run.fire)}"
        ended = {Shape.DONE: "finished", Shape.QUIET: "finished"}.get(shape_of(run), "stopped")
        return f"{said}; {ended} at {clock_time(run.finished_at, zone)}."
    if person:
        return f"{person} asked for it with Run it now."
    if run.fire.source == "timer":
        said = figures(run.routine.schedule)
        return f"Asked for {asked_by(run.fire)}, {said[:1].lower()}{said[1:]}."
    return f"Asked for {asked_by(run.fire)}."


def run_facts(run: Run, told: str, streak: int, now: datetime, zone: str) -> list[tuple[str, str]]:
    """Pairs of a name and what it is, as text or safe HTML; what doesn't apply is left out.

    `told` says who was told where the page has no part of its own for that; `streak` how many
    failures in a row this was the last of.
    """
    snapshot: dict[str, object] = run.snapshot
    pairs = [("Asked by", _asked_by(run)), ("Due", _lateness(run))]
    if shape_of(run) is Shape.RING and run.finished_at:
        pairs.append(("Refused at", f"{_exact(run.finished_at, zone)}, before anything was spent"))
    agent, version = snapshot.get("agent"), snapshot.get("agent_version")
    called = "" if run.requests or not is_over(run) or _script(run) else ", not called"
    if agent:
        named = f"{agent}, version {version}" if version else str(agent)
        pairs.append(("Agent", f"{named}{called or _picked(snapshot)}"))
    elif run.routine.agent:
        reached = ", not reached" if is_over(run) else ""
        pairs.append(("Agent", f"{run.routine.agent}{reached}"))
    if not called:
        pairs.append(("Model", _model(run, snapshot)))
    pairs.append(("Apps", _apps(snapshot)))
    pairs.append(("Machine", str(snapshot.get("machine") or run.machine or "")))
    pairs.append(("Conversation", _conversation(snapshot)))
    if run.version:
        pairs.append(("Definition", _definition(run, now, zone)))
    if shape_of(run) is Shape.RING:
        pairs.append(("Counts towards", "Nothing: a refusal never turns a routine off"))
    elif run.cause == "ours":
        pairs.append(("Counts towards", "Nothing: it was our doing"))
    elif streak:
        pairs.append(("Counts towards", f"The five in a row: {streak} of 5"))
    rang = told and not told.startswith("Nobody")
    pairs.append(("Rang" if rang else "Told", told))
    return [(name, words) for name, words in pairs if words]


def _picked(snapshot: dict[str, object]) -> str:
    """Who picked the agent, where the routine named nobody."""
    by, because = snapshot.get("picked_by"), snapshot.get("picked_because")
    return f", picked by {by}: {because}" if by and because else ""


def _apps(snapshot: dict[str, object]) -> str:
    """What it was offered of its routine's apps: "Helpdesk, 3 of 9 tools; Billing not offered"."""
    kept = snapshot.get("offered")
    return "; ".join(_offered(each) for each in kept) if isinstance(kept, list) else ""


def _offered(app: dict[str, Any]) -> str:
    if not app["there"]:
        return f"{app['name']} not connected"
    gone = [without_escapes(name) for name in app.get("gone", ())]
    return count_said(app["name"], app["tools"], app["of"], gone)


def _conversation(snapshot: dict[str, object]) -> str:
    """Whether it began with what earlier runs said, and how much that was."""
    if not snapshot.get("conversation"):
        return ""
    if snapshot["conversation"] != "continued":
        return "Fresh"
    noted = snapshot.get("talk")
    if not isinstance(noted, dict):
        return "Continued"
    if noted.get("anew_by"):
        return f"Continued, started anew by {noted['anew_by']}"
    if not noted["runs"]:
        return "Continued, from here on"
    return f"Continued, {runs_words(noted['runs'])}, {tokens_words(noted['size'])}"


def _definition(run: Run, now: datetime, zone: str) -> str:
    """The version that it ran, and who saved that and when; a link while the routine is there."""
    saved_at, saved_by = getattr(run, "saved_at", None), getattr(run, "saved_by", None)
    said = f"Version {run.version}"
    if run.routine.deleted_at is None:
        page = reverse("routine_versions", args=[run.workspace.slug, run.routine.slug])
        link = '<a class="link" href="{}#v{}">{}</a>'
        said = format_html(link, page, run.version, said)
    if saved_at is None:
        return said
    when = moment_words(saved_at, now, zone)
    return format_html("{}, saved by {} {}", said, saved_by or "somebody", when)


def _exact(moment: datetime, zone: str) -> str:
    local = moment.astimezone(ZoneInfo(zone))
    return f"{local.hour}:{local:%M:%S}"


def _asked_by(run: Run) -> str:
    if run.fire.source == "timer":
        said = figures(run.routine.schedule)
        return f"The schedule, {said[:1].lower()}{said[1:]}"
    if run.fire.requested_by:
        return f"{run.fire.requested_by}, Run it now"
    return run.fire.source.capitalize()


def _lateness(run: Run) -> str:
    """How late it began, when that is worth saying."""
    began = run.waking_at
    if run.fire.source != "timer" or began is None:
        return ""
    late = (began - run.fire.due_at).total_seconds()
    return f"Began {took(int(late))} late" if late >= 60 else ""


def _script(run: Run) -> bool:
    return bool(run.snapshot.get("runtime") == AgentRuntime.SCRIPT)


def _model(run: Run, snapshot: dict[str, object]) -> str:
    if _script(run):
        return "None: a script"
    name = snapshot.get("model")
    if not name:
        return ""
    if not run.requests:
        return str(name)
    read, written = run.input_tokens, run.output_tokens  # what came from a cache was read too
    if run.spent and not read and not written:
        what = f"{run.requests:,} requests" if run.requests > 1 else "a request"
        most = f"{dollars(run.spent)} at most, for {what} without an answer"
        return f"{name}, {most}: nobody said what was charged"
    return f"{name}, {dollars(run.spent)} for {read:,} tokens read, {written:,} written"
