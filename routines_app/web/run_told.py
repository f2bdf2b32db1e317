"""Who was told of a run: each delivery with its time and how it went."""

from dataclasses import dataclass

from routines_app.models import Delivery, Run
from routines_app.rules.status import Rings, RunStatus, Shape
from routines_app.web.dates import clock_time
from routines_app.web.progress import channel_name
from routines_app.web.run_words import is_over, shape_of

_RING = frozenset(status.value for status in RunStatus if status.rings is not Rings.NO)
NAMED = 4  # people who have read it, before the rest are counted


@dataclass(frozen=True)
class Told:
    """One telling of the run, in words. `amber`: it waits, or nobody got it."""

    channel: str
    time: str
    words: str
    amber: bool


@dataclass(frozen=True)
class Tellings:
    """All of them. `section`: worth a part of the page of its own; else `line` says it.

    `again`: something was told, so that it can be told again.
    """

    rows: list[Told]
    section: bool
    line: str
    again: bool


def tellings(run: Run, deliveries: list[Delivery], zone: str) -> Tellings:
    """Who was told, or why nobody was."""
    rows = [_told(each, run, zone) for each in deliveries]
    again = any(each.state != "waiting" for each in deliveries)
    if not is_over(run):
        return Tellings([], False, "", False)
    above = shape_of(run) in (Shape.DONE, Shape.QUIET)
    if not rows:
        why = _not_asked_for(run)
        bell = Told("The bell", "", f"Not asked for: {why}.", False)
        return Tellings([bell] if above else [], above, "" if above else f"Nobody: {why}", False)
    if above or any(row.amber for row in rows):
        return Tellings(rows, True, "", again)
    times = [f"{row.channel}, at {row.time}" if row.time else row.channel for row in rows]
    return Tellings(rows, False, ", ".join(times), again)


def _told(delivery: Delivery, run: Run, zone: str) -> Told:
    name = channel_name(delivery.channel)
    channel = name[:1].upper() + name[1:]
    time = clock_time(delivery.ended_at, zone) if delivery.ended_at else ""
    match delivery.state:
        case "taken":
            words = _read_by(run) if delivery.channel == "bell" else _tries(delivery)
            return Told(channel, time, words, False)
        case "given_up":
            why = delivery.answer or "no reason was given"
            return Told(channel, time, f"Given up: {why}", True)
        case _:
            tried = f" Tried {delivery.tries:,} times." if delivery.tries > 1 else ""
            return Told(channel, time, f"Waiting.{tried}", True)


def _tries(delivery: Delivery) -> str:
    first = delivery.tries <= 1
    return "Taken on the first try." if first else f"Taken on try {delivery.tries:,}."


def _read_by(run: Run) -> str:
    notice = getattr(run, "notice", None)
    people = [str(person) for person in getattr(notice, "readers", [])]
    if not people:
        return "It rang. Nobody has read it yet."
    if len(people) > NAMED:
        return f"Read by {', '.join(people[:NAMED])} and {len(people) - NAMED} more"
    *others, last = people
    return f"Read by {', '.join(others)} and {last}" if others else f"Read by {last}"


def _not_asked_for(run: Run) -> str:
    """Why the bell didn't ring."""
    notify = str(run.snapshot.get("notify") or run.routine.notify)
    match run.status:
        case RunStatus.NOTHING_TO_DO:
            return "a quiet check never rings"
        case RunStatus.DONE_CHANGED | RunStatus.DONE_UNCHANGED if notify == "failure":
            return "it rings only if it fails"
        case RunStatus.DONE_UNCHANGED:
            return "it rings only if something changed"
        case RunStatus.STOP_PERSON | RunStatus.STOP_DELETED:
            return "a person ended it"
        case _:
            rings = run.status in _RING
            return "the bell said it once already" if rings else "this doesn’t ring"
