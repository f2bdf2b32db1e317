"""How far a run came: five stages on a track, and three meters."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from routines_app.models import AgentRuntime, Delivery, Run
from routines_app.producers import asked_by
from routines_app.rules.money import dollars, lasted, took
from routines_app.rules.said import limit_words
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.dates import clock_time
from routines_app.web.routine_rows import Typical
from routines_app.web.run_words import elapsed, is_over, paid, shape_of

CHECK_FAILURES = (
    RunStatus.FAIL_CHECK_MISSING,
    RunStatus.FAIL_CHECK_DENIED,
    RunStatus.FAIL_CHECK_TIMEOUT,
    RunStatus.FAIL_CHECK_CRASH,
)
QUIET = "no model was called"
StageState = Literal["done", "now", "todo", "off", "skip", "stop", "fail"]


@dataclass(frozen=True)
class Stage:
    """One stop of the track."""

    state: StageState
    label: str
    note: str


@dataclass(frozen=True)
class Meter:
    """One figure with its remark; `percent` None draws no bar."""

    name: str
    figure: str
    remark: str
    percent: float | None = None
    kind: str = ""

    @property
    def none(self) -> bool:
        """Whether nothing is what one would expect of it: not of a quiet check or a refund."""
        expected = self.name == "You pay" or self.remark == QUIET
        return self.figure in ("$0.00", "0") and not expected


def track(
    run: Run, told: Sequence[Delivery], already: bool | None, now: datetime, zone: str
) -> list[Stage]:
    """The five stages: queued, awake, checked, worked, told. `already`: whether its machine was
    awake when it came, None where its steps don't say."""
    if shape_of(run) is Shape.RING:
        return _refused(run, zone)
    return [
        _queued(run, now),
        _woke(run, already, now),
        _checked(run, now),
        _worked(run, now),
        _told(run, told, zone),
    ]


def _refused(run: Run, zone: str) -> list[Stage]:
    asked = f"{asked_by(run.fire)}, at {clock_time(run.fire.due_at, zone)}"
    rest = [Stage("off", label, "not reached") for label in ("Check", "Work", "Tell")]
    return [Stage("done", "Asked", asked), Stage("skip", "Not started", _why_not(run)), *rest]


def _why_not(run: Run) -> str:
    """Why nothing began, in a few words; its sentence says it whole."""
    machine = run.machine.name if run.machine else "the machine"
    named = {
        RunStatus.SKIP_OFF: "it was off",
        RunStatus.SKIP_PAUSED: "everything was paused",
        RunStatus.SKIP_AUTO_OFF: "it had turned itself off",
        RunStatus.SKIP_BUDGET: "the money was spent",
        RunStatus.SKIP_PLAN_COUNT: "more than the plan covers",
        RunStatus.SKIP_PLAN_QUOTA: "today’s run was used",
        RunStatus.SKIP_COLD: f"{machine} was cold",
        RunStatus.SKIP_WAKE_REFUSED: f"{machine} was refused",
        RunStatus.SKIP_WAKE_TIMEOUT: f"{machine} didn’t wake",
        RunStatus.SKIP_MACHINE_GONE: "it has no machine",
        RunStatus.SKIP_OVERLAP: "one was still going",
        RunStatus.SKIP_TOO_FREQUENT: "too soon",
        RunStatus.SKIP_MISSED: "nothing was there to start it",
        RunStatus.SKIP_SUPERSEDED: "a newer one came",
        RunStatus.SKIP_CHANGED: "the schedule changed",
        RunStatus.SKIP_WAITED: "it waited too long",
        RunStatus.SKIP_NO_MODEL: "no model to use",
        RunStatus.SKIP_CONNECTOR: _app_words(run),
        RunStatus.FAIL_NO_GRANT: "not approved",
    }
    return named.get(RunStatus(run.status), "it says why above")


def _queued(run: Run, now: datetime) -> Stage:
    if run.status == RunStatus.QUEUED:
        return Stage("now", "Waiting", _so_far(run.queued_at, now))
    began = run.waking_at or run.finished_at
    return Stage("done", "Queued", _span(run.queued_at, began) if began else "")


def _woke(run: Run, already: bool | None, now: datetime) -> Stage:
    name = run.machine.name if run.machine else "the machine"
    if run.waking_at is None:
        return Stage("off" if is_over(run) else "todo", f"Wake {name}", "")
    if run.awake_at is None and run.effects_begun_at is None:
        if not is_over(run):
            return Stage("now", f"Waking {name}", _so_far(run.waking_at, now))
        state: StageState = "stop" if shape_of(run) is Shape.BLOCK else "fail"
        return Stage(state, f"Didn’t wake {name}", "")
    awake = run.awake_at or run.effects_begun_at or run.waking_at
    if already or (already is None and (awake - run.waking_at).total_seconds() < 1):
        return Stage("done", f"{name} was awake", "0s")
    return Stage("done", f"Woke {name}", _span(run.waking_at, awake))


def _checked(run: Run, now: datetime) -> Stage:
    command = run.snapshot.get("check", run.routine.check_command)
    begun = run.effects_begun_at
    if not command:
        reached = run.turn_at is not None or begun is not None
        return Stage(
            "done" if reached else "off" if is_over(run) else "todo", "No check", "always runs"
        )
    if run.status == RunStatus.CHECKING:
        return Stage("now", "Checking", _so_far(begun, now) if begun else "")
    seconds = run.facts.get("check_seconds")
    length = lasted(seconds) if isinstance(seconds, int | float) else ""
    if run.status in CHECK_FAILURES:
        code = run.facts.get("exit_code")
        said = f"exit {code}" if code is not None else ""
        if run.status == RunStatus.FAIL_CHECK_TIMEOUT:
            said = "ended by its limit"
        return Stage("fail", "Check failed", ", ".join(filter(None, (length, said))))
    if run.status == RunStatus.NOTHING_TO_DO:
        return Stage("done", "Checked", ", ".join(filter(None, (length, "found nothing"))))
    if run.turn_at is not None:
        if not length and begun and run.checked_at:
            length = lasted((run.checked_at - begun).total_seconds())
        return Stage("done", "Checked", ", ".join(filter(None, (length, "found something"))))
    return Stage("off" if is_over(run) else "todo", "Check", "not reached" if is_over(run) else "")


def _worked(run: Run, now: datetime) -> Stage:
    if not is_over(run):
        if run.turn_at is None:
            return Stage("todo", "Work", "")
        doing = "Stopping" if run.status == RunStatus.STOPPING else "Working"
        return Stage("now", doing, _so_far(run.turn_at, now))
    if run.status == RunStatus.NOTHING_TO_DO:
        return Stage("off", "Work", "not needed")
    if run.turn_at is None or run.finished_at is None:
        return Stage("off", "Work", "not reached")
    after = f"after {lasted(elapsed(run, now))}"  # of the whole run, as its sentence counts
    match shape_of(run):
        case Shape.BLOCK:
            return Stage("stop", "Stopped", after)
        case Shape.POINT:
            failed = "Interrupted" if run.status == RunStatus.FAIL_RESTART else "Failed"
            return Stage("fail", failed, after)
        case _:
            return Stage("done", "Worked", _span(run.turn_at, run.finished_at))


def _told(run: Run, told: Sequence[Delivery], zone: str) -> Stage:
    if not is_over(run):
        return Stage("todo", "Tell the bell", _when_told(run.routine.notify))
    if not told:
        needed = "nobody, as set"
        if run.status == RunStatus.NOTHING_TO_DO:
            needed = "not needed"
        elif shape_of(run) in (Shape.POINT, Shape.BLOCK):
            needed = "not reached"
        return Stage("off", "Tell the bell", needed)
    if any(delivery.state == "waiting" for delivery in told):
        return Stage("now", "Telling", channel_name(told[0].channel))
    if all(delivery.state == "given_up" for delivery in told):
        return Stage("stop", "Nobody was told", told[0].answer)
    taken = [d for d in told if d.state == "taken"]
    names = ", ".join(channel_name(d.channel) for d in taken)
    ended = [d.ended_at for d in taken if d.ended_at]
    at = f", {clock_time(max(ended), zone)}" if ended else ""
    rang = all(d.channel == "bell" for d in taken)
    return Stage("done", "Rang" if rang else "Told", f"{names}{at}")


def _when_told(notify: str) -> str:
    match notify:
        case "every":
            return "every time"
        case "failure":
            return "only if it fails"
        case _:
            return "if something changed"


def channel_name(channel: str) -> str:
    """A channel as pages name it."""
    return "the bell" if channel == "bell" else channel.capitalize()


def meters(run: Run, typical: Typical | None, steps: int, tally: str, now: datetime) -> list[Meter]:
    """Spent, time and steps."""
    if shape_of(run) is Shape.RING:
        return [
            Meter("Spent", dollars(run.spent), "nothing was started"),
            Meter("Time", _to_find_out(run), "to find out"),
            Meter("Steps", "0", ""),
        ]
    return [_spent(run), _time(run, typical, now), Meter("Steps", f"{steps:,}", tally)]


def _to_find_out(run: Run) -> str:
    return _span(run.queued_at, run.finished_at or run.queued_at)


def _spent(run: Run) -> Meter:
    kind = _bar_kind(run)
    if run.cause == "ours" and run.spent:
        back = dollars(run.spent)
        return Meter("You pay", dollars(paid(run)), f"{back} spent, {back} refunded")
    script = run.snapshot.get("runtime") == AgentRuntime.SCRIPT
    if run.status == RunStatus.NOTHING_TO_DO:
        return Meter("Spent", dollars(run.spent), "the check is free" if script else QUIET)
    cap = run.snapshot.get("cap", run.routine.cap)
    if not isinstance(cap, int) or cap <= 0:
        return Meter("Spent", dollars(run.spent), "")
    remark = f"of {dollars(cap)} cap"
    if run.status == RunStatus.STOP_COST and cap > run.spent:
        remark = f"{remark}; {dollars(cap - run.spent)} left unspent"
    return Meter("Spent", dollars(run.spent), remark, 100 * run.spent / cap, kind)


def _time(run: Run, typical: Typical | None, now: datetime) -> Meter:
    seconds = elapsed(run, now)
    limit = run.routine.time_limit.total_seconds()
    remark = f"typically {typical.length}" if typical else f"of {limit_words(limit)} at most"
    figure = lasted(seconds) if is_over(run) else took(int(seconds))
    kind = _bar_kind(run) if run.status != RunStatus.STOP_COST else "past"
    if run.status in CHECK_FAILURES and run.waking_at and run.awake_at:
        waking = (run.awake_at - run.waking_at).total_seconds()
        remark = f"{lasted(waking)} of it waking" if waking >= 1 else remark
    if run.status == RunStatus.NOTHING_TO_DO or (run.cause == "ours" and run.spent):
        return Meter("Time", figure, remark)
    return Meter("Time", figure, remark, 100 * seconds / limit if limit else None, kind)


def _bar_kind(run: Run) -> str:
    if not is_over(run):
        return ""
    return "stop" if run.status in (RunStatus.STOP_COST, RunStatus.STOP_TIME) else "past"


def _span(start: datetime, end: datetime) -> str:
    seconds = (end - start).total_seconds()
    return "under 1s" if seconds < 1 else lasted(seconds)


def _so_far(start: datetime, now: datetime) -> str:
    """A length that still grows, in whole seconds."""
    seconds = int((now - start).total_seconds())
    return f"{took(seconds) if seconds > 0 else 'under 1s'} so far"


def _app_words(run: Run) -> str:
    """What an app lacked: a connection, or a tool that may be used."""
    narrowed = run.facts.get("barred") or run.facts.get("tools")
    return "no tool to use" if narrowed else "not connected"
