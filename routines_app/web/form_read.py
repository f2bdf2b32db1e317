"""The form read: settled times, a schedule, content to save, or what has to be fixed."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

from routines_app.configure.content import AppUse, FieldError, RoutineContent
from routines_app.rules import zones
from routines_app.rules.cron import CronError, compile_cron
from routines_app.rules.kinds import Schedule, ScheduleKind, schedule_of
from routines_app.rules.times import Question, Settled, read_time
from routines_app.rules.wording import minutes_of
from routines_app.web.app_tools import ticked_of
from routines_app.web.form_state import MICRO, MODEL, WEEKDAY_CODES, FormState, wall_of
from routines_app.web.sentence import option_of

LONGEST_NUMBER = 12


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
        values["days"] = [int(day) for day in state.days if day in WEEKDAY_CODES]
    for name in ("minute", "day", "weekday", "month"):
        if name in blanks:
            values[name] = whole(getattr(state, name))
    if "which" in blanks:
        values["which"] = "last" if state.which == "last" else whole(state.which)
    if "window" in blanks and state.window == "hours":
        values["window"] = {
            "from": whole(state.window_from),
            "to": whole(state.window_to),
            "days": state.window_weekdays,
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
        for index, text in enumerate(texts):
            match read_time(text):
                case Settled() as time:
                    said.append(time.text)
                case unclear:
                    said.append(text)
                    errors.append(FieldError(numbered(name, index), unclear.sentence))
        found[name] = tuple(said)
    settled = replace(
        state,
        times=found.get("times", state.times),
        time=found["time"][0] if "time" in found else state.time,
    )
    return settled, found


def numbered(name: str, index: int) -> str:
    """The field of one of several times: "times", then "times-2"."""
    return name if index == 0 else f"{name}-{index + 1}"


def choices_at(state: FormState, field: str) -> tuple[str, ...]:
    """Both meanings of the time that stands in this field; none unless it has two."""
    for name, texts in (("times", state.times), ("time", (state.time,))):
        for index, text in enumerate(texts):
            if numbered(name, index) == field and isinstance(found := read_time(text), Question):
                return found.choices
    return ()


def with_choice(state: FormState, chosen: str) -> FormState:
    """The first time that has two meanings, settled to the one that was chosen."""
    if "time" in state.blanks and chosen in choices_at(state, "time"):
        return replace(state, time=chosen)
    times = list(state.times)
    for index in range(len(times)):
        if chosen in choices_at(state, numbered("times", index)):
            times[index] = chosen
            break
    return replace(state, times=tuple(times))


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
    kept = wall_of(state.at, state.zone) if state.at else {}
    if kept.get("date") == state.date and kept.get("time") == time:
        return state.at
    instant = zones.first_instant(day + timedelta(minutes=minutes), zone)
    return instant.astimezone(zone).isoformat()


def whole(text: str) -> int | None:
    """A whole number as typed; None for anything else."""
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
        whole(state.step_limit),
    )
    if cap is None:
        errors.append(FieldError("cap", "Write an amount in dollars, like 0.50."))
    if time_limit is None:
        errors.append(FieldError("time_limit", "Write the minutes in figures, like 20."))
    if steps is None:
        errors.append(FieldError("step_limit", "Write the steps in figures, like 100."))
    quiet_days = whole(state.quiet_days)
    if quiet_days is None and state.quiet_days.strip():
        errors.append(FieldError("quiet_days", "Write the days in figures, like 14, or nothing."))
    content = RoutineContent(
        name=state.name,
        instructions=state.instructions,
        agent_id=whole(state.agent),
        machine_id=whole(state.machine),
        schedule=read.schedule or Schedule(ScheduleKind.WHEN_ASKED, {}, "UTC"),
        folder=state.folder.strip(),
        check_command=state.check_command.strip(),
        cap=0 if cap is None else cap,
        time_limit=timedelta(minutes=20) if time_limit is None else time_limit,
        step_limit=100 if steps is None else steps,
        conversation=state.conversation,
        notify=state.notify,
        model=state.agent.removeprefix(MODEL) if state.agent.startswith(MODEL) else "",
        quiet_days=quiet_days,
        apps=tuple(_app_use(each, state) for each in state.apps),
    )
    return Read(read.state, read.schedule, errors), content


def _app_use(typed: str, state: FormState) -> AppUse:
    slug, _, how = typed.partition(":")
    tools = ticked_of(slug, state.app_tools) if slug in state.app_limits else None
    return AppUse(slug, how == "must", tools)


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
