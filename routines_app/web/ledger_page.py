"""The ledger's page: every entry since the workspace began."""

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_GET

from accounts.models import Role, Workspace
from billing.models import LedgerEntry
from billing.standing import account_of, standing
from foundation import clock
from routines_app.web.access import WorkspaceRequest, in_workspace
from routines_app.web.dates import typed_instant
from routines_app.web.ledger import KINDS, Entry, Filters, entries, holds
from routines_app.web.plan_page import Month, csv_file, exact, month_before, month_of, only_own

MOST_IN_A_FILE = 100_000


@in_workspace(Role.VIEWER)
@require_GET
def ledger(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """Holds on top, then the entries, newest first, a page at a time."""
    now = clock.now()
    filters = _filters(request, now)
    stands = standing(account_of(request.workspace), now)
    page = entries(request.workspace, filters, typed_instant(request.GET.get("before", "")))
    plain = not request.GET.get("before") and not filters.kind and not filters.words
    context = {
        "stands": stands,
        "page": page,
        "holds": holds(request.workspace, filters.owner_id) if plain else [],
        "free": None if stands.credit is None else max(stands.credit - stands.held, 0),
        "kinds": KINDS,
        "months": list(_months(request.workspace, now)),
        "filters": filters,
        "month": request.GET.get("month", ""),
        "own_only": filters.owner_id is not None,
        "older": _with(request.GET, before=page.older.isoformat()) if page.older else "",
        "query": _with(request.GET),
        "filtered": bool(filters.kind or filters.words or filters.start),
    }
    return render(request, "pages/plan_ledger.html", context)


@in_workspace(Role.VIEWER)
@require_GET
def ledger_csv(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """The same entries as a file, exact to the micro-dollar."""
    filters = _filters(request, clock.now())
    rows = _csv_rows(_every(request.workspace, filters), filters.owner_id is None)
    return csv_file(f"{request.workspace.slug}-ledger.csv", rows)


def _every(workspace: Workspace, filters: Filters) -> Iterator[Entry]:
    before, count = None, 0
    while count < MOST_IN_A_FILE:
        page = entries(workspace, filters, before)
        yield from page.entries
        before, count = page.older, count + len(page.entries)
        if before is None:
            return


def _csv_rows(found: Iterator[Entry], with_left: bool) -> Iterator[list[str]]:
    yield ["When", "Kind", "For", "Dollars", *(["Left"] if with_left else [])]
    for entry in found:
        about = f"{entry.run.routine.name}, run {entry.run.number}" if entry.run else entry.row.note
        left = [exact(entry.left)] if with_left else []
        when = entry.row.created_at.isoformat()
        yield [when, entry.kind, about, exact(entry.row.amount), *left]


def _filters(request: WorkspaceRequest, now: datetime) -> Filters:
    asked = request.GET
    kind = asked.get("kind", "")
    month = month_of(request.workspace, asked["month"], now) if asked.get("month") else None
    return Filters(
        kind=kind if kind in KINDS else "",
        start=month.start if month else None,
        end=month.end if month else None,
        words=asked.get("q", "").replace("\0", "").strip()[:80],
        owner_id=only_own(request),
    )


def _months(workspace: Workspace, now: datetime) -> Iterator[Month]:
    """The months since the first entry, the newest first, two years of them at most."""
    first = LedgerEntry.objects.filter(workspace=workspace).order_by("created_at").first()
    month = month_of(workspace, "", now)
    since = first.created_at.astimezone(ZoneInfo(workspace.zone)) if first else now
    for _ in range(24):
        yield month
        if month.start <= since:
            return
        month = month_before(month)


def _with(asked: QueryDict, **changes: str) -> str:
    """The address's question with changes, and without the page."""
    query = asked.copy()
    query.pop("before", None)
    for name, value in changes.items():
        query[name] = value
    return query.urlencode()
