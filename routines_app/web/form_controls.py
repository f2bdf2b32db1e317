"""The sentence as controls: native selects and inputs, each with a label of its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from accounts.models import Workspace
from machines.models import Machine
from routines_app.configure.content import FieldError
from routines_app.configure.models import usable_models
from routines_app.models import Agent
from routines_app.rules import zones
from routines_app.rules.kinds import ALL_DAYS, WEEKEND, WORKDAYS
from routines_app.rules.read_back import ORDER
from routines_app.rules.times import Settled, read_time
from routines_app.rules.wording import MONTHS_IN_WORDS, WEEKDAYS_IN_WORDS, ordinal
from routines_app.web.form_read import numbered
from routines_app.web.form_state import MODEL, FormState
from routines_app.web.sentence import OPTIONS, form_template, pieces, window_days

FROM_MONDAY = (1, 2, 3, 4, 5, 6, 0)


@dataclass(frozen=True)
class Choice:
    """One option of a select, or one day of the toggles."""

    value: str
    words: str
    chosen: bool


@dataclass(frozen=True)
class Control:
    """One blank, or a piece of text between blanks."""

    shape: Literal["text", "select", "input", "date", "days"]
    name: str = ""
    id: str = ""
    label: str = ""
    value: str = ""
    choices: list[Choice] = field(default_factory=list)
    size: int = 4
    mono: bool = False
    bad: bool = False
    after: str = ""  # the punctuation that may not stand at the start of a line

    @property
    def options(self) -> SafeString:
        """A select's choices in HTML; a template takes long over six hundred time zones."""
        return mark_safe("\n".join(_option(each) for each in self.choices))


@lru_cache(maxsize=2048)
def _option(choice: Choice) -> SafeString:
    chosen = mark_safe(" selected" if choice.chosen else "")
    return format_html('<option value="{}"{}>{}</option>', choice.value, chosen, choice.words)


@dataclass(frozen=True)
class Roster:
    """Who and where a workspace's form can choose."""

    agents: list[Agent]
    machines: list[Machine]
    models: tuple[str, ...] = ()  # each `provider/model` that can work without an agent
    apps: Mapping[str, str] = field(default_factory=dict)  # names of those that are told of

    def machine(self, chosen: str) -> Machine | None:
        """The machine of this id; None when it isn't among them."""
        return next((machine for machine in self.machines if str(machine.pk) == chosen), None)

    def agent(self, chosen: str) -> Agent | None:
        """The agent of this id; None when it isn't among them."""
        return next((agent for agent in self.agents if str(agent.pk) == chosen), None)


def roster_of(workspace: Workspace) -> Roster:
    """The workspace's agents and machines that aren't deleted."""
    return Roster(
        list(Agent.objects.filter(workspace=workspace, deleted_at__isnull=True).order_by("id")),
        list(Machine.objects.filter(workspace=workspace, deleted_at__isnull=True).order_by("id")),
        tuple(dict.fromkeys(model.label for model in usable_models(workspace))),
    )


def sentence_controls(
    state: FormState, roster: Roster, errors: Sequence[FieldError], usual_zones: Sequence[str]
) -> list[Control]:
    """The sentence in order: words and blanks."""
    bad = {error.field for error in errors}
    controls: list[Control] = []
    for kind, part in pieces(form_template(state.kind)):
        if kind == "text" and controls and part[0] in ",:":
            controls[-1] = replace(controls[-1], after=part[0])
            controls.append(Control("text", value=part[1:]))
        elif kind == "text":
            controls.append(Control("text", value=part))
        else:
            controls += _blank(part, state, roster, bad, usual_zones)
    return controls


def _blank(
    name: str, state: FormState, roster: Roster, bad: set[str], usual_zones: Sequence[str]
) -> Iterator[Control]:
    wrong = name in bad
    match name:
        case "every":
            options = [(option.code, option.words) for option in OPTIONS]
            yield _select(name, "How often", state.every, options, wrong)
        case "times":
            yield from _times(state, bad)
        case "time":
            yield Control("input", name, name, "Time of day", state.time, bad=wrong)
        case "days":
            chosen = set(state.days)
            days = [
                Choice(str(day), WEEKDAYS_IN_WORDS[day], str(day) in chosen) for day in FROM_MONDAY
            ]
            yield Control("days", name, name, "Days", choices=days, bad=wrong)
        case "minute":
            yield Control("input", name, name, "Minute", state.minute, size=2, bad=wrong)
        case "window":
            yield from _window(state, wrong)
        case "day" if "month" in state.blanks:
            yield _select(name, "Day", state.day, [(str(d), str(d)) for d in range(1, 32)], wrong)
        case "day":
            options = [(str(d), ordinal(d)) for d in range(1, 32)]
            yield _select(name, "Day of the month", state.day, options, wrong)
        case "which":
            options = [(str(which), words) for which, words in ORDER.items()]
            yield _select(name, "Which", state.which, options, wrong)
        case "weekday":
            options = [(str(d), WEEKDAYS_IN_WORDS[d]) for d in FROM_MONDAY]
            yield _select(name, "Day of the week", state.weekday, options, wrong)
        case "month":
            options = [(str(m), words) for m, words in enumerate(MONTHS_IN_WORDS, 1)]
            yield _select(name, "Month", state.month, options, wrong)
        case "date":
            yield Control("date", name, name, "Date", state.date, size=10, bad=wrong)
        case "expressions":
            size = min(max(len(state.expressions), 11), 60)
            label = "Cron expression"
            yield Control(
                "input", name, name, label, state.expressions, size=size, mono=True, bad=wrong
            )
        case _:
            yield _who_or_where(name, state, roster, wrong, usual_zones)


def _who_or_where(
    name: str, state: FormState, roster: Roster, wrong: bool, usual_zones: Sequence[str]
) -> Control:
    match name:
        case "zone":
            return _select(name, "Time zone", state.zone, _zones(state.zone, usual_zones), wrong)
        case "agent":
            options = [(str(agent.pk), agent.name) for agent in roster.agents]
            options.append(("", "whoever Assistant picks"))
            named = [state.agent] if state.agent.startswith(MODEL) else []
            models = dict.fromkeys([*(MODEL + label for label in roster.models), *named])
            options += [(each, each.removeprefix(MODEL)) for each in models]
            return _select(name, "Agent", state.agent, options, wrong)
        case "machine":
            options = [(str(machine.pk), machine.name) for machine in roster.machines]
            return _select(name, "Machine", state.machine, options, wrong)
        case _:
            raise AssertionError(f"the sentence has no blank called {name}")


def _times(state: FormState, bad: set[str]) -> Iterator[Control]:
    texts = state.times or ("",)
    together = "times" in bad and all(isinstance(read_time(text), Settled) for text in texts)
    last = len(texts) - 1
    for index, text in enumerate(texts):
        if index:
            yield Control("text", value=" and " if index == last else " ")
        place = numbered("times", index)
        yield Control(
            "input",
            "times",
            place,
            f"Time of day, number {index + 1}" if index else "Time of day",
            text,
            size=min(max(len(text), 4), 30),
            bad=together or place in bad,
            after="," if index < last - 1 else "",
        )


def _window(state: FormState, wrong: bool) -> Iterator[Control]:
    between = [("", "day and night"), ("hours", "between")]
    yield _select("window", "At which hours", state.window, between, wrong)
    if state.window != "hours":
        return
    starts = [(str(hour), f"{hour}:00") for hour in range(24)]
    ends = [(str(hour), f"{hour}:00") for hour in range(1, 25)]
    yield Control("text", value=" ")
    yield _select("window_from", "From", state.window_from, starts, wrong)
    yield Control("text", value=" and ")
    yield _select("window_to", "To", state.window_to, ends, wrong)
    yield Control("text", value=" ")
    kept = tuple(sorted(set(state.window_weekdays)))
    known = [WORKDAYS, ALL_DAYS, WEEKEND]
    offered = known if kept in known or not kept else [*known, kept]
    days = [(",".join(str(d) for d in each), window_days(each)) for each in offered]
    yield _select("window_days", "On which days", state.window_days, days, wrong)


def _select(
    name: str, label: str, chosen: str, options: Sequence[tuple[str, str]], wrong: bool
) -> Control:
    choices = [Choice(value, words, value == chosen) for value, words in options]
    return Control("select", name, name, label, chosen, choices, bad=wrong)


def _zones(chosen: str, usual: Sequence[str]) -> list[tuple[str, str]]:
    """The usual ones first, in words; then every name, so that any place can be chosen."""
    first = list(dict.fromkeys([chosen, *usual, "UTC"]))
    known = [zone for zone in first if zone in zones.known_zones()]
    rest = sorted(zones.known_zones() - set(known))
    unknown = [(chosen, chosen)] if chosen not in known else []
    return [
        *unknown,
        *((zone, zones.words(zone)) for zone in known),
        *((zone, zone.replace("_", " ")) for zone in rest),
    ]
