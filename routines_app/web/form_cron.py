"""A custom schedule explained: a box for each field, and what is remarked beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from routines_app.rules.cron import Cron, CronError, compile_cron
from routines_app.rules.describe import explain_fields, without_seconds
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.read_back import describe_schedule
from routines_app.rules.recognise import both_days_only, same_sentence
from routines_app.web.form_state import FormState, with_schedule
from routines_app.web.sentence import figures


@dataclass(frozen=True)
class Box:
    """One field of an expression: its text, what that means, and which field it is."""

    text: str
    words: str
    field: str


@dataclass(frozen=True)
class Remark:
    """Something to know about the expressions. `act` is a button's words, `then` its value."""

    lead: str
    rest: str
    code: str = ""
    act: str = ""
    then: str = ""


def boxes_of(cron: Cron) -> tuple[Box, ...]:
    """A box for each field, in the order in which they are written."""
    return tuple(
        Box(each.text, _short(each.words), _SMALL.get(each.field, each.field))
        for each in explain_fields(cron)
    )


_SMALL = {"day of the month": "of the month"}
_SHORT = {
    "any day of the month": "any day",
    "any day of the week": "any day",
    "at 0 seconds": "on the minute",
}


def _short(words: str) -> str:
    return _SHORT.get(words, words)


def remarks_of(crons: Sequence[Cron], zone: str) -> list[Remark]:
    """What there is to remark: seconds, a sentence that says the same, both day fields."""
    same = same_sentence(crons, zone)
    found = [*_about_seconds(crons, zone)] if len(crons) == 1 else []
    if same is not None:
        said = f"{describe_schedule(same)}."
        found.append(Remark("Same as:", said, act="Use the sentence", then="sentence"))
    for cron in crons[:1]:
        both = both_days_only(cron, zone)
        if both is not None:
            found.append(
                Remark(
                    f"Want {both.words}?",
                    "Cron can’t say that. Let it come on the date, and have the check look at the"
                    " day: any other day then ends as “nothing to do”, for $0.00.",
                    both.check,
                    f"Make it {both.words}",
                    "both",
                )
            )
    return found


def _about_seconds(crons: Sequence[Cron], zone: str) -> list[Remark]:
    count = len(crons[0].parsed.texts)
    if count < 6:
        return []
    lead = (
        "Six fields: the first one is seconds."
        if count == 6
        else "Seven fields: the first one is seconds, the last one is the year."
    )
    rest = "A start within the second isn’t promised; runs usually begin within two."
    plain = without_seconds(crons[0])
    if plain is None or crons[0].parsed.seconds == (0,):
        return [Remark(lead, rest)]
    same = same_sentence([compile_cron(plain)], zone)
    act = f"Use “{_lower(figures(same))}”" if same else "Leave the seconds out"
    return [Remark(lead, f"{rest} Without the seconds it is the same as", plain, act, "plain")]


def _lower(words: str) -> str:
    return f"{words[:1].lower()}{words[1:]}"


def as_sentence(state: FormState) -> FormState:
    """The sentence that says the same; when there is none, the weekdays at the times that the form
    had before."""
    crons = _compiled(state)
    same = same_sentence(crons, state.zone) if crons else None
    if same is not None:
        return with_schedule(state, same)
    return replace(state, every=ScheduleKind.WEEKDAYS.value, was=ScheduleKind.WEEKDAYS.value)


def without_its_seconds(state: FormState) -> FormState:
    """The sentence of the same expression without seconds; when there is none, its five fields."""
    crons = _compiled(state)
    plain = without_seconds(crons[0]) if len(crons) == 1 else None
    if plain is None:
        return state
    same = same_sentence([compile_cron(plain)], state.zone)
    if same is not None:
        return with_schedule(state, same)
    return replace(state, expressions=plain)


def with_both_days(state: FormState) -> FormState:
    """The dates by cron and the weekday by the check, before a check that is there already."""
    crons = _compiled(state)
    both = both_days_only(crons[0], state.zone) if crons else None
    if both is None:
        return state
    texts = [both.expression, *(cron.text for cron in crons[1:])]
    check = state.check_command.strip()
    return replace(
        state,
        expressions="; ".join(texts),
        check_command=f"{both.check} && {{ {check}; }}" if check else both.check,
    )


def _compiled(state: FormState) -> list[Cron]:
    """The expressions as typed; none when one of them can't be read."""
    try:
        return [compile_cron(text.strip()) for text in state.expressions.split(";") if text.strip()]
    except CronError:
        return []
