"""What a person typed into a routine's form, kept as typed, and the form of what is stored.

Field names are those of the form and of `FieldError.field`.
"""

from dataclasses import dataclass, replace
from decimal import Decimal

from django.http import QueryDict

from routines_app.configure.content import RoutineContent
from routines_app.rules import zones
from routines_app.rules.checks import read_instant
from routines_app.rules.kinds import MOST_TIMES, Schedule, ScheduleKind
from routines_app.rules.wording import figures
from routines_app.web.app_tools import LIMITED
from routines_app.web.sentence import code_of, form_template, option_of, pieces

MICRO = 1_000_000
MODEL = "model:"  # before a `provider/model` that is chosen in place of an agent
APP_LIMIT = "app_limit-"  # before an app's slug: the field that says whether its tools are limited
WEEKDAY_CODES = frozenset("0123456")


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
    quiet_days: str = ""
    apps: tuple[str, ...] = ()  # each a slug, a colon, and may or must
    app_limits: tuple[str, ...] = ()  # the slugs of those of which only ticked tools are given
    app_tools: tuple[str, ...] = ()  # what is ticked, each a slug, a slash and a tool's name
    version: str = ""
    starter: str = ""
    tried: str = ""  # the key of a check that was tried

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
    def window_weekdays(self) -> list[int]:
        """The days of its window; what isn't a weekday's code is left out."""
        return [int(day) for day in self.window_days.split(",") if day in WEEKDAY_CODES]

    @property
    def may_add_time(self) -> bool:
        """Whether its sentence has room for one more time."""
        return "times" in self.blanks and len(self.times) < MOST_TIMES


_TEXTS = (
    "every", "was", "time", "minute", "window", "window_from", "window_to", "window_days", "day",
    "which", "weekday", "month", "date", "at", "expressions", "zone", "name", "instructions",
    "agent", "machine", "folder", "check_command", "cap", "time_limit", "step_limit",
    "conversation", "notify", "quiet_days", "version", "starter", "tried",
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
    if "apps_shown" in post:
        state = _with_apps(state, post)
    if "days" in post or "days_shown" in post:
        state = replace(state, days=tuple(post.getlist("days")))
    return state


def _with_apps(state: FormState, post: QueryDict) -> FormState:
    """The apps that were sent. The page shows a choice of tools for each app that has any."""
    limited = [key for key in post if key.startswith(APP_LIMIT) and post[key] == LIMITED]
    return replace(
        state,
        apps=tuple(each for each in post.getlist("apps") if each),
        app_limits=tuple(key.removeprefix(APP_LIMIT) for key in limited),
        app_tools=tuple(post.getlist("app_tools")),
    )


def state_of(content: RoutineContent, version: int) -> FormState:
    """The form filled with what a routine is set to."""
    text = FormState(
        zone=content.schedule.zone,
        name=content.name,
        instructions=content.instructions,
        agent=MODEL + content.model if content.model else str(content.agent_id or ""),
        machine=str(content.machine_id or ""),
        folder=content.folder,
        check_command=content.check_command,
        cap=f"{Decimal(content.cap) / MICRO:.6f}".rstrip("0").rstrip("."),
        time_limit=f"{content.time_limit.total_seconds() / 60:g}",
        step_limit=str(content.step_limit),
        conversation=content.conversation,
        notify=content.notify,
        quiet_days="" if content.quiet_days is None else str(content.quiet_days),
        apps=tuple(f"{use.app}:{'must' if use.required else 'may'}" for use in content.apps),
        app_limits=tuple(use.app for use in content.apps if use.tools is not None),
        app_tools=tuple(f"{use.app}/{name}" for use in content.apps for name in use.tools or ()),
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
        given |= wall_of(values["at"], schedule.zone)
    return replace(state, **given)  # type: ignore[arg-type]


def wall_of(at: str, zone: str) -> dict[str, object]:
    """The date and time fields of an instant, as clocks in the zone show it."""
    instant = read_instant(at)
    if instant is None:
        return {"at": at}
    local = zones.wall_at(instant, zones.as_zone(zone))
    return {"at": at, "date": f"{local:%Y-%m-%d}", "time": figures(local.hour * 60 + local.minute)}
