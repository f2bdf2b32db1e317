"""The ledger as it is read: entries newest first, each with what was left after it, and holds."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from accounts.models import Workspace
from billing.models import Hold, LedgerEntry
from routines_app.models import Run

PAGE = 50
KINDS = {"run": "Model", "refund": "Refund", "credit": "Included credit"}

_RUNNING = """
SELECT id, SUM(amount) OVER (ORDER BY created_at, id)::bigint FROM billing_ledgerentry
WHERE workspace_id = %s AND created_at >= %s AND created_at <= %s
"""


@dataclass(frozen=True)
class Entry:
    """One entry with the run that it belongs to, None for credit. `left` is the balance after it,
    in micro-dollars."""

    row: LedgerEntry
    run: Run | None
    left: int

    @property
    def spent(self) -> int:
        """All that was spent until it, where no credit is kept to be left."""
        return -self.left

    @property
    def kind(self) -> str:
        """What kind it is, in words."""
        return KINDS.get(self.row.kind, self.row.kind.capitalize())

    @property
    def about(self) -> str:
        """What an entry without a run is for; a month's credit names its month."""
        try:
            month = date.fromisoformat(f"{self.row.key.removeprefix('credit ')}-01")
        except ValueError:
            return self.row.note
        return f"{month:%B %Y}"


@dataclass(frozen=True)
class Held:
    """A live run's cap, set aside until it ends. Micro-dollars."""

    amount: int
    run: Run | None


@dataclass(frozen=True)
class Page:
    """Entries, newest first; `older` is the instant that the next page begins before, else None."""

    entries: list[Entry]
    older: datetime | None


@dataclass(frozen=True)
class Filters:
    """Which entries: of a kind, of [start, end), for routines whose name holds `words` or runs
    of that number, and of one person's routines."""

    kind: str = ""
    start: datetime | None = None
    end: datetime | None = None
    words: str = ""
    owner_id: int | None = None


def entries(workspace: Workspace, filters: Filters, before: datetime | None = None) -> Page:
    """One page of the entries, those before the instant when it is given.

    Entries of the same instant stay on one page, so that the instant alone is the key.
    """
    found = _found(workspace, filters).order_by("-created_at", "-id")
    if before is not None:
        found = found.filter(created_at__lt=before)
    rows = list(found[: PAGE + 1])
    older = None
    if len(rows) > PAGE:
        last = rows[PAGE - 1].created_at
        if rows[PAGE].created_at == last:
            rows = list(found.filter(created_at__gte=last))
        else:
            rows = rows[:PAGE]
        older = last if found.filter(created_at__lt=last).exists() else None
    return Page(_with_runs(rows, _left_after(workspace, rows)), older)


def _found(workspace: Workspace, filters: Filters) -> QuerySet[LedgerEntry]:
    found = LedgerEntry.objects.filter(workspace=workspace)
    if filters.kind:
        found = found.filter(kind=filters.kind)
    if filters.start is not None:
        found = found.filter(created_at__gte=filters.start)
    if filters.end is not None:
        found = found.filter(created_at__lt=filters.end)
    if filters.words or filters.owner_id is not None:
        of_run = Run.objects.filter(key=OuterRef("run_key"))
        if filters.words:
            asked = Q(routine__name__icontains=filters.words)
            if filters.words.isdecimal() and len(filters.words) < 9:
                asked |= Q(number=int(filters.words))
            of_run = of_run.filter(asked)
        if filters.owner_id is not None:
            of_run = of_run.filter(routine__owner_id=filters.owner_id)
        found = found.filter(Exists(of_run))
    return found


def _left_after(workspace: Workspace, rows: list[LedgerEntry]) -> dict[int, int]:
    """The balance after each entry: all that came before the page, then one after another."""
    if not rows:
        return {}
    newest, oldest = rows[0].created_at, rows[-1].created_at
    earlier = LedgerEntry.objects.filter(workspace=workspace, created_at__lt=oldest)
    base = int(earlier.aggregate(sum=Sum("amount"))["sum"] or 0)
    with connection.cursor() as cursor:
        cursor.execute(_RUNNING, [workspace.pk, oldest, newest])
        return {key: base + running for key, running in cursor.fetchall()}


def _with_runs(rows: Iterable[LedgerEntry], left: dict[int, int]) -> list[Entry]:
    rows = list(rows)
    keys = [row.run_key for row in rows if row.run_key is not None]
    runs = _runs(keys)
    return [Entry(row, runs.get(row.run_key), left[row.pk]) for row in rows]


def _runs(keys: Iterable[UUID]) -> dict[UUID | None, Run]:
    found = Run.objects.filter(key__in=keys).select_related("routine").defer(
        "state_before", "state_after", "body", "snapshot"
    )  # fmt: skip
    return {run.key: run for run in found}


def holds(workspace: Workspace, owner_id: int | None = None) -> list[Held]:
    """What live runs hold now, the oldest first; only one person's with `owner_id`."""
    rows = list(
        Hold.objects.filter(workspace=workspace, freed_at__isnull=True, amount__gt=0).order_by(
            "taken_at", "id"
        )
    )
    runs = _runs([row.run_key for row in rows])
    found = [Held(row.amount, runs.get(row.run_key)) for row in rows]
    if owner_id is None:
        return found
    return [each for each in found if each.run and each.run.routine.owner_id == owner_id]
