"""One routine as the list shows it: its words, its heartbeat, its last result, why it needs you."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.models import Workspace
from routines_app.models import Routine, Run
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.money import dollars, lasted, took
from routines_app.rules.sentences import Sentence
from routines_app.rules.status import Rings, RunStatus, Shape
from routines_app.web.acts import ActLink
from routines_app.web.acts_now import act_now
from routines_app.web.dates import clock_time, date_words, day_of, moment_words, recently
from routines_app.web.doing import doing_words
from routines_app.web.failures import (
    IN_A_ROW,
    Failure,
    back_in_time,
    carried_on,
    counts,
    failure_of,
    where_they_stopped,
)
from routines_app.web.quiet import quiet_act, quiet_now
from routines_app.web.routine_rows import Past, Typical, pasts_of
from routines_app.web.run_words import elapsed, is_over, paid, sentence_for, shape_of
from routines_app.web.sentence import figures

LATE = timedelta(seconds=60)  # what is due may take so long to be started
SPENT_NO_MORE = "Nothing more will be spent until you turn it back on."


@dataclass(frozen=True)
class Last:
    """The last result: its shape, its word, what follows the dash, and the line beneath.

    `shape` None: there is no run to show, and `word` stands alone.
    """

    word: str
    shape: Shape | None = None
    rest: str = ""
    small: str = ""
    also: str = ""


@dataclass(frozen=True)
class Needs:
    """Why somebody is needed, and what can be done: `number` is the run to look at, 0 for none."""

    lead: str
    rest: str
    number: int
    act: ActLink | None


@dataclass(frozen=True)
class ListRow:
    """One routine as the list shows it. `due` is since when it should have started, when late."""

    routine: Routine
    when: str
    shapes: list[Shape]
    last: Last
    under: str
    needs: Needs | None
    due: datetime | None

    @property
    def asked(self) -> bool:
        """Whether it runs only when somebody asks, on or off."""
        return self.routine.schedule_kind == ScheduleKind.WHEN_ASKED

    @property
    def expects(self) -> bool:
        """Whether a run comes by itself, beside one that is late already."""
        return self.routine.enabled and not self.asked and self.due is None

    @property
    def off(self) -> bool:
        """Whether it is drawn as one that is off."""
        return not self.routine.enabled and not self.asked and self.needs is None


def list_rows(workspace: Workspace, now: datetime, zone: str) -> list[ListRow]:
    """Every routine of the workspace by name, as the list shows it."""
    routines = list(
        Routine.objects.present()
        .filter(workspace=workspace)
        .select_related("agent", "machine", "off_by", "totals")
        .order_by("name", "id")
    )
    pasts = pasts_of(workspace)
    wanted = {past.newest for past in pasts.values()}
    for routine in routines:
        wanted |= set(_failed(routine, pasts.get(routine.pk, Past())))
    quiet = quiet_now(workspace)
    runs = Run.objects.select_related("machine", "fire__requested_by", "stop_asked_by").in_bulk(
        wanted - {0}
    )
    for routine in routines:
        routine.workspace = workspace
    return [
        _row(_known(routine, pasts.get(routine.pk, Past()), runs, now, zone), quiet)
        for routine in routines
    ]


def _failed(routine: Routine, past: Past) -> list[int]:
    """The ids of the failures that turned it off, the oldest first; empty when none did."""
    if not _turned_itself_off(routine):
        return []
    each = zip(past.ids, past.statuses, past.causes, strict=True)
    return [pk for pk, status, cause in each if counts(status, cause)][-IN_A_ROW:]


def _turned_itself_off(routine: Routine) -> bool:
    return not routine.enabled and routine.off_reason == "failures"


@dataclass(frozen=True)
class _Known:
    """What a row is made of. `due` is since when it is late."""

    routine: Routine
    past: Past
    last: Run | None
    sentence: Sentence | None
    due: datetime | None
    failures: list[Failure]
    now: datetime
    zone: str


def _known(
    routine: Routine, past: Past, runs: Mapping[int, Run], now: datetime, zone: str
) -> _Known:
    last = runs.get(past.newest)
    if last is not None:
        last.routine, last.workspace = routine, routine.workspace
    paused = routine.workspace.paused_at is not None
    return _Known(
        routine=routine,
        past=past,
        last=last,
        sentence=sentence_for(last, zone=zone, now=now, doing=doing_words(last)) if last else None,
        due=None if paused else late_since(routine, last, now),
        failures=[failure_of(runs[pk], now, zone) for pk in _failed(routine, past)],
        now=now,
        zone=zone,
    )


def _row(known: _Known, quiet: Mapping[int, Sentence]) -> ListRow:
    routine, past, due = known.routine, known.past, known.due
    return ListRow(
        routine=routine,
        when=_when(routine),
        shapes=past.shapes + ([Shape.WAITING] if due else []),
        last=_last(known),
        under=_under(routine, past.typical, bool(past.ids)),
        needs=_needs(known) or _too_quiet(known, quiet.get(known.routine.pk)),
        due=due,
    )


def late_since(routine: Routine, last: Run | None, now: datetime) -> datetime | None:
    """When it should have started, if nobody has begun to start it; None when it isn't late."""
    at = routine.next_fire_at
    if not routine.enabled or at is None or now - at <= LATE:
        return None
    return None if last is not None and not is_over(last) else at


def needs_someone(routine: Routine, last: Run | None) -> bool:
    """Whether a person has to do something: it turned itself off, or its last run says so."""
    if not routine.enabled:
        return routine.off_reason == "failures"
    if last is None or not is_over(last) or last.cause == "ours":
        return False
    try:
        status = RunStatus(last.status)
    except ValueError:
        return True
    return status.rings is Rings.YES


def _needs(known: _Known) -> Needs | None:
    routine, last, sentence = known.routine, known.last, known.sentence
    if not needs_someone(routine, last):
        return None
    number = last.number if last else 0
    if _turned_itself_off(routine):
        lead = "Turned itself off after five failures in a row."
        where = ""
        if sentence and known.failures:
            where = where_they_stopped(known.failures, sentence)
        return Needs(lead, f"{where} {SPENT_NO_MORE}".strip(), number, None)
    assert last is not None and sentence is not None  # only its last run can need somebody
    return Needs(sentence.text, sentence.second, number, act_now(sentence.act, last))


def _too_quiet(known: _Known, said: Sentence | None) -> Needs | None:
    if said is None:
        return None
    number = known.last.number if known.last else 0
    return Needs(said.text, said.second, number, quiet_act(known.routine))


def _when(routine: Routine) -> str:
    where = f" on {routine.machine.name}" if routine.machine else ""
    return f"{figures(routine.schedule)} · {routine.who}{where}"


def _last(known: _Known) -> Last:
    routine, last, sentence = known.routine, known.last, known.sentence
    now, zone = known.now, known.zone
    off, since = off_words(routine, now, zone)
    if known.due is not None:
        rest = f"due at {clock_time(known.due, zone)}"
        return Last("Waiting", Shape.WAITING, rest, "starts as soon as we’ve caught up")
    if last is None or sentence is None:
        return Last(off or _first_words(routine, now, zone), small=since)
    if off and is_over(last) and routine.off_reason in ("person", "once"):
        return Last(off, small=since)
    shape = shape_of(last)
    rest = "" if shape is Shape.STUB else carried_on(sentence.rest)
    if shape is Shape.WAITING:
        rest = f"due at {clock_time(last.fire.due_at, zone)}"
    also = "" if known.routine.off_reason == "failures" else ", ".join(filter(None, (off, since)))
    word = sentence.lead.removesuffix(".")
    return Last(word, shape, rest, _small(last, sentence, now, zone), also or _well(known))


def _well(known: _Known) -> str:
    """That it is back in time, when its last run says so."""
    past = known.past
    ended = list(zip(past.statuses, past.causes, strict=True))
    return back_in_time(ended, whole=known.routine.run_counter == len(ended))


def _first_words(routine: Routine, now: datetime, zone: str) -> str:
    """What stands for the last result before there is one."""
    if routine.schedule_kind == ScheduleKind.WHEN_ASKED:
        return "Runs when somebody asks"
    if routine.next_fire_at is None:
        return "No runs yet"
    return f"The first is {moment_words(routine.next_fire_at, now, zone)}"


def _small(last: Run, sentence: Sentence, now: datetime, zone: str) -> str:
    if not is_over(last):
        if last.waking_at is None:
            return sentence.second.removesuffix(".")
        return f"{took(int(elapsed(last, now)))} so far · {dollars(last.spent)} so far"
    ended = last.finished_at or last.queued_at
    parts = [recently(ended, now, zone), dollars(paid(last))]
    if last.duration is not None and last.effects_begun_at is not None:
        parts.append(lasted(last.duration.total_seconds()))
    return " · ".join(parts)


def _under(routine: Routine, typical: Typical | None, any_runs: bool) -> str:
    totals = getattr(routine, "totals", None)
    if routine.enabled and typical:
        return f"typically {typical.words}"
    if totals is not None and totals.runs:
        noun = "run" if totals.runs == 1 else "runs"
        return f"{totals.runs:,} {noun} · {dollars(totals.spent)}"
    return "" if any_runs else "no runs yet"


def off_words(routine: Routine, now: datetime, zone: str) -> tuple[str, str]:
    """Why it is off, and since when; both empty when it is on, and when it has no schedule that
    anybody turned off."""
    if routine.enabled:
        return "", ""
    if routine.schedule_kind == ScheduleKind.WHEN_ASKED and routine.off_reason not in (
        "person",
        "failures",
    ):
        return "", ""
    match routine.off_reason:
        case "person" if routine.off_by:
            said = f"Turned off by {routine.off_by}"
        case "failures":
            said = "Turned itself off after five failures in a row"
        case "once":
            said = "Ran once, as it was told to"
        case "person":
            said = "Turned off"
        case _:
            said = "Not turned on yet"
    if routine.off_at is None:
        return said, ""
    if day_of(routine.off_at, zone) == day_of(now, zone):
        return said, moment_words(routine.off_at, now, zone)
    return said, date_words(day_of(routine.off_at, zone), day_of(now, zone))
