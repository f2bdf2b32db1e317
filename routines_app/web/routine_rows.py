"""What the list knows of each routine's past, in a constant number of queries, however many
routines and runs there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Count, Q, Sum

from accounts.models import Workspace
from routines_app.models import Run
from routines_app.rules.money import dollars, lasted
from routines_app.rules.status import RunStatus, Shape
from routines_app.web.heartbeat import TICKS
from routines_app.web.run_words import shape_of_status

# What is typical is the median of the last 20 that were done; fewer than three say nothing.
_TYPICAL = """
SELECT count(*) AS seen, percentile_disc(0.5) WITHIN GROUP (ORDER BY d.spent) AS spent,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY d.seconds) AS seconds
FROM (SELECT spent, extract(epoch FROM finished_at - waking_at) AS seconds FROM routines_app_run
      WHERE routine_id = r.id AND status IN ('done_changed', 'done_unchanged')
        AND finished_at IS NOT NULL AND id <> %s
      ORDER BY number DESC LIMIT 20) d
"""

_PASTS = f"""
SELECT r.id, h.ids, h.statuses, h.causes, t.seen, t.spent, t.seconds
FROM routines_app_routine r
CROSS JOIN LATERAL (
    SELECT array_agg(n.id ORDER BY n.number) AS ids,
           array_agg(n.status ORDER BY n.number) AS statuses,
           array_agg(n.cause ORDER BY n.number) AS causes
    FROM (SELECT id, number, status, cause FROM routines_app_run
          WHERE routine_id = r.id ORDER BY number DESC LIMIT %s) n) h
CROSS JOIN LATERAL ({_TYPICAL}) t
WHERE r.workspace_id = %s AND r.deleted_at IS NULL
"""

# Numbers follow the order of asking, so a range is what lies above the last run before it.
_RANGE = f"""
SELECT s.*, t.* FROM (SELECT %s::bigint AS id) r
CROSS JOIN LATERAL (
    SELECT count(*),
           count(*) FILTER (WHERE effects_begun_at IS NOT NULL AND finished_at IS NOT NULL),
           count(*) FILTER (WHERE status = ANY(%s)),
           COALESCE(sum(spent) FILTER (WHERE cause <> 'ours' AND finished_at IS NOT NULL), 0)
    FROM routines_app_run
    WHERE routine_id = r.id AND number > COALESCE((
        SELECT number FROM routines_app_run WHERE routine_id = r.id AND queued_at < %s
        ORDER BY number DESC LIMIT 1), 0)) s
CROSS JOIN LATERAL ({_TYPICAL}) t
"""
_REFUSED = [status.value for status in RunStatus if status.refused]

_TYPICALS = f"""
SELECT r.id, t.seen, t.spent, t.seconds FROM routines_app_routine r
CROSS JOIN LATERAL ({_TYPICAL}) t WHERE r.id = ANY(%s)
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
        return lasted(self.seconds)


@dataclass(frozen=True)
class Past:
    """A routine's last runs, the oldest first: ids, statuses and whose fault each was."""

    ids: tuple[int, ...] = ()
    statuses: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    typical: Typical | None = None

    @property
    def shapes(self) -> list[Shape]:
        """How they are drawn."""
        return [shape_of_status(status) for status in self.statuses]

    @property
    def newest(self) -> int:
        """The id of the last run; 0 when there is none."""
        return self.ids[-1] if self.ids else 0


@dataclass(frozen=True)
class Sums:
    """What a range comes to: rows, ended runs in which a check or a turn began, refusals, and the
    money that those cost (micro-dollars); and what is typical, of whichever range. As in the
    totals, a run that goes on isn't in it yet."""

    rows: int
    runs: int
    refusals: int
    spent: int
    typical: Typical | None


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
        cursor.execute(_TYPICALS, [but_not, list(routine_ids)])
        found = {row[0]: _typical(*row[1:]) for row in cursor.fetchall()}
    return {pk: typical for pk, typical in found.items() if typical is not None}


def _typical(seen: int, spent: int | None, seconds: float | None) -> Typical | None:
    return Typical(int(spent or 0), float(seconds or 0)) if seen >= 3 else None


def sums_since(routine_id: int, since: datetime) -> Sums:
    """What a routine's runs since an instant come to."""
    with connection.cursor() as cursor:
        cursor.execute(_RANGE, [routine_id, _REFUSED, since, 0])
        rows, runs, refusals, spent, *typical = cursor.fetchone()
    return Sums(rows, runs, refusals, int(spent), _typical(*typical))


def week_of(workspace: Workspace, now: datetime) -> Week:
    """Runs in which a check or a turn began, and what all cost, in the last seven days."""
    found = Run.objects.filter(
        workspace=workspace, finished_at__gte=now - timedelta(days=7)
    ).aggregate(
        runs=Count("id", filter=Q(effects_begun_at__isnull=False)),
        spent=Sum("spent", filter=~Q(cause="ours")),
    )
    return Week(found["runs"], found["spent"] or 0)


def pasts_of(workspace: Workspace) -> dict[int, Past]:
    """The past of each routine that is there, by its id."""
    with connection.cursor() as cursor:
        cursor.execute(_PASTS, [TICKS, 0, workspace.pk])
        return {
            row[0]: Past(
                tuple(row[1] or ()), tuple(row[2] or ()), tuple(row[3] or ()), _typical(*row[4:])
            )
            for row in cursor.fetchall()
        }
