"""A month's statement: what was spent by routine, agent or day, recomputed from the ledger."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db import connection

from accounts.models import Workspace
from routines_app.models import Routine

GROUPS = ("routine", "agent", "day")

# The group of a row, as SQL over the run `r`, its routine `t` and the instant `at`.
_GROUP = {
    "routine": "t.id::text",
    "agent": "COALESCE(NULLIF(r.snapshot->>'agent', ''), a.name,"
    " NULLIF(r.snapshot->>'model', ''), 'Assistant')",
    "day": "to_char({at} AT TIME ZONE %(zone)s, 'YYYY-MM-DD')",
}
_OF_A_RUN = """
JOIN routines_app_routine t ON t.id = r.routine_id
LEFT JOIN routines_app_agent a ON a.id = t.agent_id
"""
_MONEY = """
SELECT {group}, COALESCE(-SUM(e.amount) FILTER (WHERE e.kind = 'run'), 0)::bigint,
       COALESCE(SUM(e.amount) FILTER (WHERE e.kind = 'refund'), 0)::bigint,
       COUNT(*) FILTER (WHERE e.kind = 'refund')
FROM billing_ledgerentry e JOIN routines_app_run r ON r.key = e.run_key {of_a_run}
WHERE e.workspace_id = %(workspace)s AND e.kind IN ('run', 'refund')
  AND e.created_at >= %(start)s AND e.created_at < %(end)s
  AND (%(owner)s::bigint IS NULL OR t.owner_id = %(owner)s)
GROUP BY 1
"""
_RUNS = """
SELECT {group}, COUNT(*)
FROM routines_app_run r {of_a_run}
WHERE r.workspace_id = %(workspace)s AND r.effects_begun_at IS NOT NULL
  AND r.finished_at >= %(start)s AND r.finished_at < %(end)s
  AND (%(owner)s::bigint IS NULL OR t.owner_id = %(owner)s)
GROUP BY 1
"""


@dataclass(frozen=True)
class Line:
    """One line. `runs` began their check or turn; `spent` is micro-dollars before refunds.

    `routine` is set in a statement by routine, `day` in one by day.
    """

    label: str
    runs: int
    spent: int
    routine: Routine | None = None
    day: date | None = None


@dataclass(frozen=True)
class Statement:
    """The lines, and what they come to. `refunded` is micro-dollars given back for `refunds`."""

    by: str
    lines: list[Line]
    refunded: int
    refunds: int

    @property
    def runs(self) -> int:
        """All runs."""
        return sum(line.runs for line in self.lines)

    @property
    def spent(self) -> int:
        """All spending before refunds, in micro-dollars."""
        return sum(line.spent for line in self.lines)

    @property
    def together(self) -> int:
        """Spending with refunds taken off."""
        return self.spent - self.refunded


def statement(
    workspace: Workspace, start: datetime, end: datetime, *, by: str, owner_id: int | None = None
) -> Statement:
    """The statement of [start, end), in groups of `by`; only one person's routines with `owner_id`.

    Raises KeyError for a group that isn't one of GROUPS.
    """
    facts: dict[str, str | int | datetime | None] = {
        "workspace": workspace.pk,
        "start": start,
        "end": end,
        "owner": owner_id,
        "zone": workspace.zone,
    }
    money = _rows(_MONEY, by, "e.created_at", facts)
    runs = {row[0]: row[1] for row in _rows(_RUNS, by, "r.finished_at", facts)}
    spent = {row[0]: row[1] for row in money}
    groups = {key: (runs.get(key, 0), spent.get(key, 0)) for key in spent.keys() | runs.keys()}
    lines = _by_routine(workspace, groups, owner_id) if by == "routine" else _by_word(groups, by)
    return Statement(by, lines, sum(row[2] for row in money), sum(row[3] for row in money))


def _rows(
    sql: str, by: str, at: str, facts: dict[str, str | int | datetime | None]
) -> list[tuple[str, int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(sql.format(group=_GROUP[by].format(at=at), of_a_run=_OF_A_RUN), facts)
        return list(cursor.fetchall())


def _by_routine(
    workspace: Workspace, groups: dict[str, tuple[int, int]], owner_id: int | None
) -> list[Line]:
    """The dearest first; those that are there and didn't run stand at the end with $0.00."""
    routines = Routine.objects.filter(workspace=workspace).select_related("agent")
    if owner_id is not None:
        routines = routines.filter(owner_id=owner_id)
    lines = [
        Line(each.name, *groups.get(str(each.pk), (0, 0)), routine=each)
        for each in routines
        if each.deleted_at is None or str(each.pk) in groups
    ]
    return sorted(lines, key=lambda line: (-line.spent, -line.runs, line.label.lower()))


def _by_word(groups: dict[str, tuple[int, int]], by: str) -> list[Line]:
    if by == "day":
        return [
            Line(key, *groups[key], day=date.fromisoformat(key)) for key in sorted(groups)[::-1]
        ]
    lines = [Line(key, *of) for key, of in groups.items()]
    return sorted(lines, key=lambda line: (-line.spent, -line.runs, line.label.lower()))
