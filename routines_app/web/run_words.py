"""A run's row as the facts that its sentence is made of, and the sentence itself."""

from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from foundation import clock
from routines_app.models import AgentRuntime, Run
from routines_app.producers import asked_by
from routines_app.rules.reasons import reason_words
from routines_app.rules.sentences import RunFacts, Sentence, sentence_of
from routines_app.rules.status import LIVE_STATUSES, OPEN_STATUSES, RunStatus, Shape
from routines_app.rules.terminal import without_escapes
from routines_app.web.dates import ago, clock_time, day_of, moment_words


def sentence_for(
    run: Run,
    *,
    zone: str = "UTC",
    now: datetime | None = None,
    place: int = 0,
    doing: str = "",
    usual_wake: float = 0.0,
) -> Sentence:
    """What this run's row says, in the reader's `zone`.

    `place` is its place in the line while it waits; `doing` its latest step while it works;
    `usual_wake` how many seconds its machine usually takes to wake, 0.0 when that isn't known.
    """
    facts = facts_of(run, zone, now or clock.now(), place, doing)
    return sentence_of(said_status(run), replace(facts, usual_wake=usual_wake))


def said_status(run: Run) -> str:
    """The status that the page speaks of: a live run that was asked to stop is stopping."""
    stopping = run.stop_asked_at is not None and run.status in LIVE_STATUSES
    return RunStatus.STOPPING if stopping else run.status


def facts_of(run: Run, zone: str, now: datetime, place: int = 0, doing: str = "") -> RunFacts:
    """The facts of one run; what its row lacks stays empty."""
    kept: dict[str, object] = run.facts
    snapshot: dict[str, object] = run.snapshot
    fire = run.fire
    return RunFacts(
        machine=_text(kept, "machine") or (run.machine.name if run.machine else "the machine"),
        agent=_text(kept, "agent") or _text(snapshot, "agent") or "The agent",
        person=_person(run, kept),
        source=asked_by(fire),
        asked="" if is_over(run) else ago(fire.requested_at, now),
        place=place,
        spent=run.spent,
        cap=_whole(snapshot, "cap") or 0,
        elapsed=elapsed(run, now),
        doing=doing or _text(kept, "doing"),
        command=_text(kept, "command") or _text(snapshot, "check"),
        exit_code=_whole(kept, "exit_code"),
        check_seconds=_number(kept, "check_seconds"),
        last_line=without_escapes(_text(kept, "last_line")),
        printed=_text(kept, "printed"),
        reason=reason_words(run.status, kept, lambda iso: instant_words(iso, now, zone)),
        variant=_text(kept, "variant"),
        what=_text(kept, "what"),
        since=_since(run, kept, zone, now),
        headline=without_escapes(run.headline),
        files_changed=_whole(kept, "files_changed") or 0,
        left_text=bool(run.body.strip()),
        other_run=_other_run(kept, zone),
        limit_seconds=_number(kept, "limit_seconds") or 0.0,
        plan=_text(kept, "plan"),
        script=snapshot.get("runtime") == AgentRuntime.SCRIPT,
        turned_off=kept.get("turned_off") is True,
        barred=_text(kept, "barred"),
        app_tools=without_escapes(_text(kept, "tools")),
        next_allowed=_next_allowed(run, kept, zone),
        next_worst=_whole(kept, "next_worst") or 0,
    )


def is_over(run: Run) -> bool:
    """Whether it has ended. A status that this version doesn't know counts as ended."""
    return run.status not in OPEN_STATUSES


def shape_of(run: Run) -> Shape:
    """How the run is drawn; one whose status isn't known here is a failure to look at."""
    return shape_of_status(run.status)


def shape_of_status(status: str) -> Shape:
    """How a stored status is drawn."""
    try:
        return RunStatus(status).shape
    except ValueError:
        return Shape.POINT


def paid(run: Run) -> int:
    """What the workspace pays for it, in micro-dollars: nothing when the fault was ours."""
    return 0 if run.cause == "ours" else run.spent


def elapsed(run: Run, now: datetime) -> float:
    """Seconds from leaving the queue to the end, or to now; 0.0 before it began."""
    if run.waking_at is None:
        return 0.0
    return max(((run.finished_at or now) - run.waking_at).total_seconds(), 0.0)


def _person(run: Run, kept: dict[str, object]) -> str:
    named = _text(kept, "person")
    if named:
        return named
    return str(run.stop_asked_by) if run.stop_asked_by else ""


def instant_words(iso: str, now: datetime, zone: str) -> str:
    """A stored instant: its time when it was today, else with its day."""
    moment = datetime.fromisoformat(iso)
    same = moment.astimezone(ZoneInfo(zone)).date() == now.astimezone(ZoneInfo(zone)).date()
    return clock_time(moment, zone) if same else moment_words(moment, now, zone)


def _since(run: Run, kept: dict[str, object], zone: str, now: datetime) -> str:
    """Since when: a time alone on the run's own day, else the day with it."""
    moment = _moment(kept, "since")
    if moment is None:
        return _text(kept, "since")
    if day_of(moment, zone) == day_of(run.finished_at or now, zone):
        return clock_time(moment, zone)
    return moment_words(moment, now, zone)


def _next_allowed(run: Run, kept: dict[str, object], zone: str) -> str:
    """When a schedule that came too soon might have come, by what the plan waits."""
    since, gap = _number(kept, "since_last"), _number(kept, "smallest_gap")
    if since is None or gap is None:
        return ""
    return clock_time(run.fire.due_at + timedelta(seconds=gap - since), zone)


def _other_run(kept: dict[str, object], zone: str) -> str:
    moment = _moment(kept, "other_at")
    return clock_time(moment, zone) if moment else ""


def _moment(kept: dict[str, object], name: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_text(kept, name))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _text(kept: dict[str, object], name: str) -> str:
    value = kept.get(name)
    return value if isinstance(value, str) else ""


def _number(kept: dict[str, object], name: str) -> float | None:
    value = kept.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _whole(kept: dict[str, object], name: str) -> int | None:
    value = _number(kept, name)
    return None if value is None else int(value)
