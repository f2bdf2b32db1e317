"""What a workspace's plan has to say to one fire, gathered from the rows."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from billing.models import Account
from billing.plans import Plan, plan_of
from routines_app.models import Fire, Routine, Run
from routines_app.rules.admission import PlanFacts
from routines_app.rules.status import RunStatus

_REFUSED = [status.value for status in RunStatus if status.refused]


def plan_facts(run: Run, now: datetime) -> PlanFacts:
    """The facts that the run's plan is judged by; only those that the plan limits are counted."""
    account: Account | None = getattr(run.workspace, "account", None)
    plan = plan_of(account.plan if account else "self-hosted")
    if run.fire.requested_by_id is not None:
        return PlanFacts(plan=plan.title, asked_this_hour=_asked(run, now))
    on, rank = _place(run, plan)
    today, today_at = _today(run, plan)
    gap = plan.smallest_gap
    return PlanFacts(
        plan=plan.title,
        routines=plan.routines,
        on=on,
        rank=rank,
        runs_a_day=plan.runs_a_day,
        today=today,
        today_at=today_at,
        smallest_gap=gap.total_seconds() if gap else None,
        since_last=_since_last(run) if gap else None,
    )


def _asked(run: Run, now: datetime) -> int:
    return Fire.objects.filter(
        routine_id=run.routine_id,
        requested_by__isnull=False,
        requested_at__gt=now - timedelta(hours=1),
        requested_at__lte=run.fire.requested_at,
    ).count()


def _place(run: Run, plan: Plan) -> tuple[int, int]:
    """How many are on, and this one's place among them, the oldest first."""
    if plan.routines is None:
        return 0, 1
    on = Routine.objects.filter(
        workspace_id=run.workspace_id, enabled=True, deleted_at__isnull=True
    )
    return on.count(), on.filter(pk__lte=run.routine_id).count()


def _today(run: Run, plan: Plan) -> tuple[int, str]:
    """Runs that weren't refused, of the due instants on this one's local date."""
    if plan.runs_a_day is None:
        return 0, ""
    zone = ZoneInfo(run.routine.zone)
    midnight = run.fire.due_at.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    begun = (
        _others(run)
        .filter(fire__due_at__gte=midnight, fire__due_at__lt=midnight + timedelta(days=1))
        .order_by("fire__due_at")
    )
    first = begun.first()
    return begun.count(), first.fire.due_at.isoformat() if first else ""


def _since_last(run: Run) -> float | None:
    last = _others(run).filter(fire__due_at__lt=run.fire.due_at).order_by("-fire__due_at").first()
    return (run.fire.due_at - last.fire.due_at).total_seconds() if last else None


def _others(run: Run) -> QuerySet[Run]:
    """The routine's other runs that nobody asked for in person and that weren't refused."""
    return (
        Run.objects.select_related("fire")
        .filter(routine_id=run.routine_id, fire__requested_by__isnull=True)
        .exclude(pk=run.pk)
        .exclude(status__in=[*_REFUSED, RunStatus.QUEUED])
    )
