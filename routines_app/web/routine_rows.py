"""The rows of the list: each routine with its heartbeat, last result and what is typical.

A constant number of queries, however many routines and runs there are.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Count, Q, Sum

from accounts.models import Workspace
from routines_app.models import Routine, Run
from routines_app.rules.kinds import ScheduleKind
from routines_app.rules.money import dollars, took
from routines_app.rules.sentences import Sentence
from routines_app.rules.status import Rings, RunStatus, Shape
from routines_app.web.dates import day_of, moment_words, recently
from routines_app.web.heartbeat import TICKS
from routines_app.web.run_words import (
    elapsed,
    is_over,
    paid,
    sentence_for,
    shape_of,
    shape_of_status,
)
from routines_app.web.sentence import figures

_HEARTBEATS = """
SELECT r.id, h.id, h.status
FROM routines_app_routine r
CROSS JOIN LATERAL (
    SELECT id, number, status FROM routines_app_run
    WHERE routine_id = r.id ORDER BY number DESC LIMIT %s) h
WHERE r.workspace_id = %s AND r.deleted_at IS NULL
ORDER BY r.id, h.number
"""

# What is typical is the median of the last 20 that were done; fewer than three say nothing.
_TYPICAL = """
SELECT r.id, percentile_disc(0.5) WITHIN GROUP (ORDER BY t.spent),
       percentile_disc(0.5) WITHIN GROUP (ORDER BY t.seconds)
FROM routines_app_routine r
CROSS JOIN LATERAL (
    SELECT spent, extract(epoch FROM finished_at - waking_at) AS seconds FROM routines_app_run
    WHERE routine_id = r.id AND status IN ('done_changed', 'done_unchanged')
      AND finished_at IS NOT NULL AND id <> %s
    ORDER BY number DESC LIMIT 20) t
WHERE r.id = ANY(%s)
GROUP BY r.id
HAVING count(*) >= 3
"""


@dataclass(frozen=True)
class Typical:
    """What a run usually costs (micro-dollars) and takes (seconds)."""

    spent: int
    seconds: float

    @property
    def words(self) -> str:
        return f"{dollars(self.spent)} · {self.length}"

    @property
    def length(self) -> str:
        """How long one takes, to a tenth of a second for short ones."""
        return took(round(self.seconds, 1) if self.seconds < 10 else int(self.seconds))


@dataclass(frozen=True)
class ListRow:
    """One routine as the list shows it."""

    routine: Routine
    when: str
    shapes: list[Shape]
    last: Run | None
    last_shape: Shape | None
    sentence: Sentence | None
    last_small: str
    under: str
    off_words: str
    needs_you: bool
    first_words: str

    @property
    def asked(self) -> bool:
        """Whether it runs only when somebody asks, on or off."""
        return self.routine.schedule_kind == ScheduleKind.WHEN_ASKED

    @property
    def expects(self) -> bool:
        """Whether a run comes by itself."""
        return self.routine.enabled and not self.asked

    @property
    def lead(self) -> str:
        """The last result's lead without its full stop, as it stands before a dash."""
        return self.sentence.lead.removesuffix(".") if self.sentence else ""

    @property
    def rest(self) -> str:
        """What follows the dash; a quiet check says enough by its lead."""
        if self.last_shape is Shape.STUB:
            return ""
        return self.sentence.rest.removesuffix(".") if self.sentence else ""

    @property
    def callout_lead(self) -> str:
        """Why somebody is needed."""
        if self.routine.off_reason == "failures" and not self.routine.enabled:
            return "Turned itself off after five failures in a row."
        return self.sentence.text if self.sentence else ""

    @property
    def callout_rest(self) -> str:
        """What follows from it."""
        if self.sentence is None:
            return ""
        if self.routine.off_reason == "failures" and not self.routine.enabled:
            last = f"The last: {self.sentence.text}"
            return f"{last} Nothing more will be spent until you turn it back on."
        return self.sentence.second


@dataclass(frozen=True)
class Week:
    """The last seven days of a workspace."""

    runs: int
    spent: int


def typical_of(routine_ids: Sequence[int], *, but_not: int = 0) -> dict[int, Typical]:
    """What is typical for each routine; one with fewer than three runs that were done is absent.

    `but_not` is the id of a run that is left out, the one that is compared.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TYPICAL, [but_not, list(routine_ids)])
        return {row[0]: Typical(int(row[1]), float(row[2] or 0)) for row in cursor.fetchall()}


def week_of(workspace: Workspace, now: datetime) -> Week:
    """Runs in which a check or a turn began, and what all cost, in the last seven days."""
    found = Run.objects.filter(
        workspace=workspace, finished_at__gte=now - timedelta(days=7)
    ).aggregate(
        runs=Count("id", filter=Q(effects_begun_at__isnull=False)),
        spent=Sum("spent", filter=~Q(cause="ours")),
    )
    return Week(found["runs"], found["spent"] or 0)


def list_rows(workspace: Workspace, now: datetime, zone: str) -> list[ListRow]:
    """Every routine of the workspace by name, as the list shows it."""
    routines = list(
        Routine.objects.present()
        .filter(workspace=workspace)
        .select_related("agent", "machine", "off_by", "totals")
        .order_by("name", "id")
    )
    beats, newest = heartbeats_of(workspace)
    runs = Run.objects.select_related("machine", "fire__requested_by", "stop_asked_by").in_bulk(
        list(newest.values())
    )
    typical = typical_of([routine.pk for routine in routines])
    return [
        _row(
            routine,
            beats[routine.pk],
            runs.get(newest.get(routine.pk, 0)),
            typical.get(routine.pk),
            now,
            zone,
        )
        for routine in routines
    ]


def heartbeats_of(workspace: Workspace) -> tuple[dict[int, list[Shape]], dict[int, int]]:
    """For each routine its last outcomes, oldest first, and the id of its newest run."""
    beats: dict[int, list[Shape]] = defaultdict(list)
    newest: dict[int, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(_HEARTBEATS, [TICKS, workspace.pk])
        for routine_id, run_id, status in cursor.fetchall():
            beats[routine_id].append(shape_of_status(status))
            newest[routine_id] = run_id
    return beats, newest


def _row(
    routine: Routine,
    shapes: list[Shape],
    last: Run | None,
    typical: Typical | None,
    now: datetime,
    zone: str,
) -> ListRow:
    if last is not None:
        last.routine = routine
    return ListRow(
        routine=routine,
        when=_when(routine),
        shapes=shapes,
        last=last,
        last_shape=shape_of(last) if last else None,
        sentence=sentence_for(last, zone=zone, now=now) if last else None,
        last_small=_last_small(last, now, zone) if last else "",
        under=_under(routine, typical, bool(shapes)),
        off_words=off_words(routine, now, zone),
        needs_you=needs_someone(routine, last),
        first_words=_first_words(routine, now, zone),
    )


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


def _when(routine: Routine) -> str:
    who = routine.agent.name if routine.agent else "Assistant"
    where = f" on {routine.machine.name}" if routine.machine else ""
    return f"{figures(routine.schedule)} · {who}{where}"


def _first_words(routine: Routine, now: datetime, zone: str) -> str:
    """What stands for the last result before there is one."""
    if routine.schedule_kind == ScheduleKind.WHEN_ASKED:
        return "Runs when somebody asks"
    if routine.next_fire_at is None:
        return "No runs yet"
    return f"The first is {moment_words(routine.next_fire_at, now, zone)}"


def _last_small(last: Run, now: datetime, zone: str) -> str:
    if not is_over(last):
        if last.waking_at is None:
            return ""
        return f"{took(int(elapsed(last, now)))} so far · {dollars(last.spent)} so far"
    ended = last.finished_at or last.queued_at
    parts = [recently(ended, now, zone), dollars(paid(last))]
    if last.duration is not None and last.effects_begun_at is not None:
        parts.append(took(round(last.duration.total_seconds(), 1)))
    return " · ".join(parts)


def _under(routine: Routine, typical: Typical | None, any_runs: bool) -> str:
    totals = getattr(routine, "totals", None)
    if routine.enabled and typical:
        return f"typically {typical.words}"
    if totals is not None and totals.runs:
        noun = "run" if totals.runs == 1 else "runs"
        return f"{totals.runs:,} {noun} · {dollars(totals.spent)}"
    return "" if any_runs else "no runs yet"


def off_words(routine: Routine, now: datetime, zone: str) -> str:
    """Why it is off and since when; empty when it is on, and when it has no schedule that anybody
    turned off."""
    if routine.enabled:
        return ""
    if routine.schedule_kind == ScheduleKind.WHEN_ASKED and routine.off_reason not in (
        "person",
        "failures",
    ):
        return ""
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
        return said
    if day_of(routine.off_at, zone) == day_of(now, zone):
        return f"{said}, {moment_words(routine.off_at, now, zone)}"
    return f"{said}, {recently(routine.off_at, now, zone)}"
