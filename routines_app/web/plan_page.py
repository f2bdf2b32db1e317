"""The plan: what the month has cost, what is left, what is likely, and for what it went."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.contrib import messages
from django.db.models import Avg, Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role, Workspace
from billing.budget import BudgetRefused, set_budget
from billing.holds import month_start
from billing.models import Account
from billing.standing import Standing, account_of, next_month, standing
from foundation import clock
from routines_app.models import AgentRuntime, Routine, Run
from routines_app.rules.forecast import Forecast, Pace, forecast, lasts_until
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.form_read import typed_money
from routines_app.web.ledger import Held, holds
from routines_app.web.plan_words import covers
from routines_app.web.statement import GROUPS, Statement, statement

MICRO = 1_000_000
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
LATELY = timedelta(days=30)  # of whose runs the usual cost is the average


@dataclass(frozen=True)
class Month:
    """A calendar month of the workspace. `end` is the next one's first instant."""

    start: datetime
    end: datetime

    @property
    def key(self) -> str:
        """As an address has it: 2027-03."""
        return f"{self.start:%Y-%m}"

    @property
    def name(self) -> str:
        """March."""
        return f"{self.start:%B}"

    @property
    def title(self) -> str:
        """March 2027."""
        return f"{self.start:%B %Y}"

    @property
    def last_day(self) -> str:
        """Its last day as an ordinal: 31st."""
        return ordinal((self.end.date() - timedelta(days=1)).day)


def ordinal(day: int) -> str:
    """A day of the month: 1st, 22nd, 13th.

    >>> ordinal(1), ordinal(12), ordinal(23), ordinal(30)
    ('1st', '12th', '23rd', '30th')
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{'th' if 11 <= day <= 13 else ending}"


def month_of(workspace: Workspace, typed: str, now: datetime) -> Month:
    """The month that an address names, or this one."""
    this = month_start(workspace.zone, now)
    try:
        named = datetime.strptime(typed, "%Y-%m").replace(tzinfo=this.tzinfo)
    except ValueError:
        named = this
    start = named if 1970 < named.year < 9999 and named <= this else this
    return Month(start, next_month(start))


def month_before(month: Month) -> Month:
    """The one before."""
    start = (month.start - timedelta(days=1)).replace(day=1)
    return Month(start, month.start)


def only_own(request: WorkspaceRequest) -> int | None:
    """Whose routines a person's statement is of: everybody's (None) for an admin, else theirs."""
    return None if request.membership.may(Role.ADMIN) else request.user.pk


def paces(workspace: Workspace, now: datetime) -> list[Pace]:
    """Each routine that is on, with what its runs usually cost."""
    on = list(Routine.objects.filter(
        workspace=workspace, enabled=True, deleted_at__isnull=True
    ).select_related("agent"))  # fmt: skip
    usual = {
        row["routine"]: (int(row["mean"] or 0), row["seen"])
        for row in Run.objects.filter(
            workspace=workspace,
            routine__in=on,
            effects_begun_at__isnull=False,
            finished_at__gte=now - LATELY,
        )
        .values("routine")
        .annotate(mean=Avg("spent"), seen=Count("id"))
    }
    return [
        Pace(
            each.schedule,
            each.cap,
            *usual.get(each.pk, (0, 0)),
            free=each.agent is not None and each.agent.runtime == AgentRuntime.SCRIPT,
        )
        for each in on
    ]


@dataclass(frozen=True)
class Ahead:
    """The rest of the month. `at_most` never passes what may be spent at all; `gone` is the day on
    which the money is used up at the usual pace, None when it lasts."""

    likely: int
    at_most: int
    new: int
    gone: date | None
    on: int


def ahead(account: Account, stands: Standing, now: datetime) -> Ahead:
    """The forecast, within what credit and budget let happen."""
    pace = paces(account.workspace, now)
    coming: Forecast = forecast(pace, now, stands.end, spent=stands.spent, held=stands.held)
    limit = None if stands.left is None else stands.spent + stands.left
    at_most = coming.at_most if limit is None else min(coming.at_most, limit)
    gone = None
    if stands.left is not None and coming.likely > stands.spent + stands.left:
        gone = lasts_until(pace, now, stands.end, left=stands.left)
    return Ahead(min(coming.likely, at_most), at_most, coming.new, gone, len(pace))


@in_workspace(Role.VIEWER)
@require_http_methods(["GET", "POST"])
def plan(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """The page; a post sets the budget, which takes an admin."""
    if request.method == "GET":
        return _page(request)
    if not request.membership.may(Role.ADMIN):
        return role_too_low(request, Role.ADMIN)
    typed = request.POST.get("budget", "").strip()
    amount = typed_money(typed) if typed else None
    if typed and amount is None:
        return _page(request, typed, "Write an amount in dollars, like 50, or nothing for none.")
    answer = set_budget(request.membership, amount, clock.now())
    if isinstance(answer, BudgetRefused):
        return _page(request, typed, answer.sentence)
    messages.info(request, "Saved." if typed else "Saved. There is no budget now.")
    return redirect("plan", workspace_slug)


def _page(request: WorkspaceRequest, typed: str | None = None, wrong: str = "") -> HttpResponse:
    now = clock.now()
    account = account_of(request.workspace)
    stands = standing(account, now)
    month = month_of(request.workspace, request.GET.get("month", ""), now)
    budget = "" if stands.budget is None else f"{stands.budget / MICRO:.2f}"
    owner_id = only_own(request)
    context = {
        "account": account,
        "stands": stands,
        "month": month,
        "this_month": Month(stands.start, stands.end),
        "month_before": month_before(month),
        "is_past": month.start != stands.start,
        "covers": covers(stands.plan),
        "ahead": ahead(account, stands, now),
        "held_for": _held_for(holds(request.workspace, owner_id)),
        "statement": _statement(request, month),
        "budget_share": _share(stands.spent, stands.budget),
        "may_set": request.membership.may(Role.ADMIN),
        "typed": budget if typed is None else typed,
        "wrong": wrong,
        "groups": GROUPS,
        "own_only": owner_id is not None,
    }
    return render(request, "pages/plan.html", context, status=422 if wrong else 200)


def _statement(request: WorkspaceRequest, month: Month) -> Statement:
    by = request.GET.get("by", "")
    return statement(
        request.workspace,
        month.start,
        month.end,
        by=by if by in GROUPS else GROUPS[0],
        owner_id=only_own(request),
    )


def _held_for(held: Sequence[Held]) -> str:
    """Whose caps are held, by name when it is one run."""
    if len(held) == 1 and held[0].run is not None:
        return f"{held[0].run.routine.name}, running"
    return f"{len(held)} runs going on" if held else ""


def _share(part: int, whole: int | None) -> int:
    """A part in whole percent, from 0 to 100; all of it where the whole is nothing."""
    if not whole:
        return 0 if whole is None else 100
    return max(0, min(100, part * 100 // whole))


@in_workspace(Role.VIEWER)
@require_GET
def statement_csv(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """The statement as a file, exact to the micro-dollar."""
    month = month_of(request.workspace, request.GET.get("month", ""), clock.now())
    found = _statement(request, month)
    name = f"{request.workspace.slug}-{month.key}-by-{found.by}.csv"
    return csv_file(name, _csv_rows(found))


def csv_file(name: str, rows: Iterator[list[str]]) -> HttpResponse:
    """A download of rows. A cell that a spreadsheet would take for a formula is quoted."""
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(answer).writerows([[_plain(cell) for cell in row] for row in rows])
    return answer


def _plain(cell: str) -> str:
    formula = cell[:1] in {"=", "+", "-", "@", "\t", "\r"}
    return f"'{cell}" if formula and not _NUMBER.fullmatch(cell) else cell


def exact(micro: int) -> str:
    """Micro-dollars as dollars with six decimals, for a file."""
    return f"{'-' if micro < 0 else ''}{abs(micro) // MICRO}.{abs(micro) % MICRO:06d}"


def _csv_rows(found: Statement) -> Iterator[list[str]]:
    yield [found.by.capitalize(), "Runs", "Dollars"]
    for line in found.lines:
        yield [line.label, str(line.runs), exact(line.spent)]
    yield ["Refunded", str(found.refunds), exact(-found.refunded)]
    yield ["Together", str(found.runs), exact(found.together)]
