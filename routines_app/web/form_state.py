"""What a person typed into a routine's form: kept as typed, read into content, or explained.

Field names are those of the form and of `FieldError.field`.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

from django.http import QueryDict

from routines_app.configure.content import FieldError, RoutineContent
from routines_app.rules import zones
from routines_app.rules.checks import read_instant
from routines_app.rules.cron import CronError, compile_cron
from routines_app.rules.kinds import MOST_TIMES, Schedule, ScheduleKind, schedule_of
from routines_app.rules.times import Question, Settled, read_time
from routines_app.rules.wording import figures, minutes_of
from routines_app.web.sentence import code_of, form_template, option_of, pieces

MICRO = 1_000_000
LONGEST_NUMBER = 12


@dataclass(frozen=True)
class FormState:
    """The form's fields as text. `was` is the first blank that the other blanks belong to."""

    every: str = ScheduleKind.WEEKDAYS.value
    was: str = ScheduleKind.WEEKDAYS.value
    times: tuple[str, ...] = ("8:00",)
    time: str = "9:00"
    days: tuple[str, ...] = ("1", "4")
    minute: str = "0"
    window: str = ""  # empty: day and night; hours: the three below
    window_from: str = "8"
    window_to: str = "18"
    window_days: str = "1,2,3,4,5"
    day: str = "1"
    which: str = "1"
    weekday: str = "1"
    month: str = "1"
    date: str = ""
    at: str = ""  # the exact instant that date and time came from, kept while they still say it
    expressions: str = ""
    zone: str = "UTC"
    name: str = ""
    instructions: str = ""
    agent: str = ""
    machine: str = ""
    folder: str = ""
    check_command: str = ""
    cap: str = "0.50"
    time_limit: str = "20"
    step_limit: str = "100"
    conversation: str = "fresh"
    notify: str = "change"
    version: str = ""
    starter: str = ""

    @property
    def kind(self) -> ScheduleKind:
        """The kind whose sentence is shown; weekdays when the first blank isn't known."""
        option = option_of(self.every)
        return option.kind if option else ScheduleKind.WEEKDAYS

    @property
    def blanks(self) -> set[str]:
        """The names of the blanks in its sentence."""
        return {part for kind, part in pieces(form_template(self.kind)) if kind == "blank"}

    @property
    def may_add_time(self) -> bool:
        """Whether its sentence has room for one more time."""
        return "times" in self.blanks and len(self.times) < MOST_TIMES


_TEXTS = (
    "every", "was", "time", "minute", "window", "window_from", "window_to", "window_days", "day",
    "which", "weekday", "month", "date", "at", "expressions", "zone", "name", "instructions",
    "agent", "machine", "folder", "check_command", "cap", "time_limit", "step_limit",
    "conversation", "notify", "version", "starter",
)  # fmt: skip


def typed(post: QueryDict, start: FormState) -> FormState:
    """What was sent; a field that the shown sentence didn't have keeps its value of `start`."""
    given: dict[str, str] = {name: str(post[name]) for name in _TEXTS if name in post}
    if "instructions" in given:
        given["instructions"] = given["instructions"].replace("\r\n", "\n")
    state = replace(start, **given)  # type: ignore[arg-type]  # every name is a text field
    if "times" in post:
        kept = tuple(text for text in post.getlist("times") if text.strip())
        state = replace(state, times=kept)
    if "days" in post or "days_shown" in post:
        state = replace(state, days=tuple(post.getlist("days")))
    return state


def state_of(content: RoutineContent, version: int) -> FormState:
    """The form filled with what a routine is set to."""
    text = FormState(
        zone=content.schedule.zone,
        name=content.name,
        instructions=content.instructions,
        agent=str(content.agent_id or ""),
        machine=str(content.machine_id or ""),
        folder=content.folder,
        check_command=content.check_command,
        cap=f"{Decimal(content.cap) / MICRO:.6f}".rstrip("0").rstrip("."),
        time_limit=f"{content.time_limit.total_seconds() / 60:g}",
        step_limit=str(content.step_limit),
        conversation=content.conversation,
        notify=content.notify,
        version=str(version),
    )
    text = replace(text, cap=f"{Decimal(text.cap):.2f}" if _cents(text.cap) else text.cap)
    return with_schedule(text, content.schedule)


def _cents(amount: str) -> bool:
    return Decimal(amount) * 100 == int(Decimal(amount) * 100)


def with_schedule(state: FormState, schedule: Schedule) -> FormState:
    """The form with its sentence filled from a schedule; the other fields stay."""
    values = schedule.values
    given: dict[str, object] = {"zone": schedule.zone}
    given["every"] = given["was"] = code_of(schedule)
    for name in ("minute", "day", "which", "weekday", "month", "time"):
        if name in values:
            given[name] = str(values[name])
    if "times" in values:
        given["times"] = tuple(values["times"])
    if "days" in values:
        given["days"] = tuple(str(day) for day in values["days"])
    if "expressions" in values:
        given["expressions"] = "; ".join(values["expressions"])
    window = values.get("window")
    given["window"] = "hours" if window else ""
    if window:
        given["window_from"], given["window_to"] = str(window["from"]), str(window["to"])
        given["window_days"] = ",".join(str(day) for day in window["days"])
    if "at" in values:
        given |= _wall_of(values["at"], schedule.zone)
    return replace(state, **given)  # type: ignore[arg-type]


def _wall_of(at: str, zone: str) -> dict[str, object]:
    instant = read_instant(at)
    if instant is None:
        return {"at": at}
    local = zones.wall_at(instant, zones.as_zone(zone))
    return {"at": at, "date": f"{local:%Y-%m-%d}", "time": figures(local.hour * 60 + local.minute)}


@dataclass(frozen=True)
class Read:
    """What the sentence says: a settled state, and a schedule when every blank could be read."""

    state: FormState
    schedule: Schedule | None
    errors: list[FieldError]


def read_schedule(state: FormState) -> Read:
    """The sentence read. Typed times settle to one form; what can't be read is explained."""
    option = option_of(state.every)
    if option is None:
        return Read(state, None, [FieldError("every", "Choose how often it should run.")])
    errors: list[FieldError] = []
    settled, times = _settle(state, errors)
    if errors:
        return Read(settled, None, errors)
    values: dict[str, object] = {}
    blanks = state.blanks
    if "times" in blanks:
        values["times"] = list(times["times"])
    if "days" in blanks:
        values["days"] = [int(day) for day in state.days if day in set("0123456")]
    for name in ("minute", "day", "weekday", "month"):
        if name in blanks:
            values[name] = _whole(getattr(state, name))
    if "which" in blanks:
        values["which"] = "last" if state.which == "last" else _whole(state.which)
    if "window" in blanks and state.window == "hours":
        values["window"] = {
            "from": _whole(state.window_from),
            "to": _whole(state.window_to),
            "days": [int(day) for day in state.window_days.split(",") if day in set("0123456")],
        }
    if option.every is not None:
        values["every"] = option.every
    if option.kind is ScheduleKind.YEARLY:
        values["time"] = times["time"][0]
    if option.kind is ScheduleKind.ONCE:
        at = _instant(settled, times["time"][0])
        if isinstance(at, FieldError):
            return Read(settled, None, [at])
        values["at"] = at
    if option.kind is ScheduleKind.CRON:
        settled, values["expressions"] = _settle_cron(settled)
    return Read(settled, schedule_of(option.kind, values, state.zone), [])


def _settle(
    state: FormState, errors: list[FieldError]
) -> tuple[FormState, dict[str, tuple[str, ...]]]:
    """The state with its times in figures; what isn't a time is added to `errors`."""
    found: dict[str, tuple[str, ...]] = {}
    for name, texts in (("times", state.times), ("time", (state.time,))):
        if name not in state.blanks:
            continue
        said = []
        for text in texts:
            match read_time(text):
                case Settled() as time:
                    said.append(time.text)
                case Question(sentence=sentence):
                    said.append(text)
                    errors.append(FieldError(name, sentence))
                case unreadable:
                    said.append(text)
                    errors.append(FieldError(name, unreadable.sentence))
        found[name] = tuple(said)
    settled = replace(
        state,
        times=found.get("times", state.times),
        time=found["time"][0] if "time" in found else state.time,
    )
    return settled, found


def _settle_cron(state: FormState) -> tuple[FormState, list[str]]:
    """The expressions, and the state with macros written out (`@daily` as its five fields)."""
    typed_texts = [part.strip() for part in state.expressions.split(";") if part.strip()]
    texts = [_written_out(text) if text.startswith("@") else text for text in typed_texts]
    return replace(state, expressions="; ".join(texts)), texts


def _written_out(text: str) -> str:
    try:
        return compile_cron(text).text
    except CronError:
        return text  # its refusal is told with the others, by the schedule's own check


def _instant(state: FormState, time: str) -> str | FieldError:
    """The instant of a date and a time in the zone, as RFC 3339 text with its offset."""
    try:
        day = datetime.strptime(state.date, "%Y-%m-%d")  # noqa: DTZ007  # a wall date has no zone
        zone = zones.as_zone(state.zone)
    except ValueError:
        if zones.check_zone(state.zone):
            return FieldError("zone", zones.check_zone(state.zone) or "")
        return FieldError("date", "Choose the date, like 2027-03-30.")
    minutes = minutes_of(time)
    assert minutes is not None  # settled times only
    kept = _wall_of(state.at, state.zone) if state.at else {}
    if kept.get("date") == state.date and kept.get("time") == time:
        return state.at
    instant = zones.first_instant(day + timedelta(minutes=minutes), zone)
    return instant.astimezone(zone).isoformat()


def _whole(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER else None


def read_content(state: FormState) -> tuple[Read, RoutineContent]:
    """All of the form as content. With `errors` it must not be saved: what couldn't be read has a
    stand-in, so that the rest can still be looked at."""
    read = read_schedule(state)
    errors = list(read.errors)
    cap, time_limit, steps = (
        typed_money(state.cap),
        _minutes(state.time_limit),
        _whole(state.step_limit),
    )
    if cap is None:
        errors.append(FieldError("cap", "Write an amount in dollars, like 0.50."))
    if time_limit is None:
        errors.append(FieldError("time_limit", "Write the minutes in figures, like 20."))
    if steps is None:
        errors.append(FieldError("step_limit", "Write the steps in figures, like 100."))
    content = RoutineContent(
        name=state.name,
        instructions=state.instructions,
        agent_id=_whole(state.agent),
        machine_id=_whole(state.machine),
        schedule=read.schedule or Schedule(ScheduleKind.WHEN_ASKED, {}, "UTC"),
        folder=state.folder.strip(),
        check_command=state.check_command.strip(),
        cap=0 if cap is None else cap,
        time_limit=timedelta(minutes=20) if time_limit is None else time_limit,
        step_limit=100 if steps is None else steps,
        conversation=state.conversation,
        notify=state.notify,
    )
    return Read(read.state, read.schedule, errors), content


def typed_money(text: str) -> int | None:
    """Dollars as typed, in micro-dollars; None when it isn't an amount."""
    try:
        amount = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        return None
    if not amount.is_finite() or abs(amount) > 1_000_000:
        return None
    return int(amount * MICRO)


def _minutes(text: str) -> timedelta | None:
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not amount.is_finite() or not 0 <= amount <= 100_000:
        return None
    return timedelta(seconds=int(amount * 60))
