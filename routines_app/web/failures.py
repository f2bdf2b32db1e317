"""Where a routine stopped, each time, before it turned itself off; and that it is well again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from routines_app.models import Routine, Run
from routines_app.rules.sentences import Sentence
from routines_app.rules.status import RunStatus
from routines_app.web.dates import count_words, moment_words
from routines_app.web.run_words import sentence_for

IN_A_ROW = 5
COUNTED = tuple(status for status in RunStatus if status.may_count)
COMPLETED = tuple(status for status in RunStatus if status.completed)
FEW = 2  # so many failures before a good run are worth a word
_SMALL = ("A ", "An ", "It ", "Our ", "Reading ", "Listing ", "The ", "We ", "Writing ")

_BEFORE = """
SELECT t.id, f.id FROM unnest(%s::bigint[]) AS asked(id)
JOIN routines_app_run t ON t.id = asked.id
CROSS JOIN LATERAL (
    SELECT id, number FROM routines_app_run
    WHERE routine_id = t.routine_id AND number <= t.number AND status = ANY(%s) AND cause <> 'ours'
    ORDER BY number DESC LIMIT %s) f
ORDER BY t.id, f.number
"""


@dataclass(frozen=True)
class Failure:
    """One of them. `said` is where it stopped, without what followed from it."""

    number: int
    when: str
    said: str


def counts(status: str, cause: str) -> bool:
    """Whether a run that ended so counts towards turning its routine off."""
    return status in COUNTED and cause != "ours"


def failure_of(run: Run, now: datetime, zone: str) -> Failure:
    """A run that failed, as one of those in a row."""
    said = sentence_for(run, zone=zone, now=now).rest
    return Failure(run.number, moment_words(run.fire.due_at, now, zone), said)


def failures_before(routine: Routine, upto: int, now: datetime, zone: str) -> list[Failure]:
    """The failures in a row that ended with run number `upto`, the oldest first."""
    runs = Run.objects.select_related("machine", "fire__requested_by", "stop_asked_by").filter(
        routine=routine, number__lte=upto, status__in=COUNTED
    )
    found = runs.exclude(cause="ours").order_by("-number")[:IN_A_ROW]
    return [failure_of(run, now, zone) for run in found][::-1]


def failures_of(runs: Sequence[Run], now: datetime, zone: str) -> dict[int, list[Failure]]:
    """The failures in a row that ended with each of these runs, by the run's id; oldest first."""
    if not runs:
        return {}
    with connection.cursor() as cursor:
        asked = [run.pk for run in runs]
        cursor.execute(_BEFORE, [asked, [status.value for status in COUNTED], IN_A_ROW])
        pairs = cursor.fetchall()
    known = Run.objects.select_related("machine", "fire__requested_by", "stop_asked_by").in_bulk(
        {failed for _, failed in pairs}
    )
    found: dict[int, list[Failure]] = {run.pk: [] for run in runs}
    for last, failed in pairs:
        found[last].append(failure_of(known[failed], now, zone))
    return found


def carried_on(rest: str) -> str:
    """The rest of a sentence as it follows a dash: without its stop, and small where it begins
    with a word of ours."""
    said = _reason(rest.removesuffix(".").removeprefix("Running "))
    return _small(said.replace("It looked, and nothing had changed", "nothing new", 1))


def _reason(said: str) -> str:
    """What stopped it, without whose word that is."""
    return said.removeprefix("It said it couldn’t finish: ")


def _small(said: str) -> str:
    return f"{said[0].lower()}{said[1:]}" if said.startswith(_SMALL) else said


def where_they_stopped(failures: Iterable[Failure], last: Sentence) -> str:
    """The one place where each stopped, or else what the last of them says."""
    places = {failure.said for failure in failures}
    if len(places) == 1:
        return f"Each stopped at the same place: {_small(_reason(places.pop()))}"
    return f"The last: {last.text}"


def turned_itself_off(failures: list[Failure], sentence: Sentence) -> Sentence:
    """What the bell says of the last of them, whose own sentence is `sentence`."""
    where = where_they_stopped(failures, sentence)
    return Sentence("Turned itself off", "after five failures in a row.", where, sentence.act)


def back_in_time(ended: Sequence[tuple[str, str]], *, whole: bool = False) -> str:
    """What is said of the last of these runs when it is well again after failures; "" when not.

    They are status and cause, the oldest first; `whole` when there was none before them. Nothing
    is said when the first failure may lie before them, since their number isn't known then.

    >>> failed, done = ("fail_script", "theirs"), ("done_changed", "")
    >>> back_in_time([done, failed, failed, failed, failed, failed, done])
    'Back in time. First good run after five failures.'
    >>> back_in_time([failed, failed, done]), back_in_time([done, failed, done, done])
    ('', '')
    """
    if not ended or ended[-1][0] not in COMPLETED:
        return ""
    failed = 0
    for status, cause in reversed(ended[:-1]):
        if status in COMPLETED:
            break
        failed += counts(status, cause)
    else:
        if not whole:
            return ""
    if failed < FEW:
        return ""
    return f"Back in time. First good run after {count_words(failed)} failures."
