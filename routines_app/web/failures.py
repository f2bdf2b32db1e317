"""Where a routine stopped, each time, before it turned itself off."""

from dataclasses import dataclass
from datetime import datetime

from routines_app.models import Routine, Run
from routines_app.rules.sentences import Sentence
from routines_app.rules.status import RunStatus
from routines_app.web.dates import moment_words
from routines_app.web.run_words import sentence_for

IN_A_ROW = 5
COUNTED = tuple(status for status in RunStatus if status.may_count)


@dataclass(frozen=True)
class Failure:
    """One of them. `said` is where it stopped, without what followed from it."""

    number: int
    when: str
    said: str


def failures_before(routine: Routine, upto: int, now: datetime, zone: str) -> list[Failure]:
    """The failures in a row that ended with run number `upto`, the oldest first."""
    runs = Run.objects.select_related("machine", "fire__requested_by", "stop_asked_by").filter(
        routine=routine, number__lte=upto, status__in=COUNTED
    )
    found = []
    for run in runs.exclude(cause="ours").order_by("-number")[:IN_A_ROW]:
        sentence = sentence_for(run, zone=zone, now=now)
        when = moment_words(run.fire.due_at, now, zone)
        found.append(Failure(run.number, when, sentence.rest))
    return found[::-1]


def turned_itself_off(failures: list[Failure], sentence: Sentence) -> Sentence:
    """What the bell says of the last of them, whose own sentence is `sentence`."""
    places = {failure.said for failure in failures}
    if len(places) == 1:
        where = f"Each stopped at the same place: {places.pop()}"
    else:
        where = f"The last: {sentence.text}"
    return Sentence("Turned itself off", "after five failures in a row.", where, sentence.act)
