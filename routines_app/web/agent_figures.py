"""What is known of an agent's runs: those of routines that name it, and those that it was picked
for. Each query reads a bounded part of one index, however many runs there are."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.db import connection
from django.db.models import Count, Q, Sum

from billing.holds import month_start
from routines_app.models import Agent, AgentRuntime, Routine, Run
from routines_app.rules.status import Shape
from routines_app.rules.wording import MONTHS_IN_WORDS
from routines_app.web.heartbeat import TICKS
from routines_app.web.run_words import shape_of_status

LAST = 20  # runs that reached a model, of which the usual cost is the median
ENOUGH = 3

_USUAL = """
SELECT a.id, array_agg(n.spent) FROM unnest(%s::bigint[]) AS a(id)
CROSS JOIN LATERAL (
    SELECT spent FROM routines_app_run
    WHERE agent_id = a.id AND turn_at IS NOT NULL AND finished_at IS NOT NULL
    ORDER BY finished_at DESC LIMIT %s) n
GROUP BY a.id
"""
_PICKED_FOR = """
SELECT DISTINCT a.id, n.routine_id FROM unnest(%s::bigint[]) AS a(id)
CROSS JOIN LATERAL (
    SELECT routine_id FROM routines_app_run WHERE agent_id = a.id
    ORDER BY queued_at DESC LIMIT %s) n
JOIN routines_app_routine r ON r.id = n.routine_id
WHERE r.agent_id IS NULL AND r.model = '' AND r.deleted_at IS NULL
"""


@dataclass(frozen=True)
class MonthSoFar:
    """An agent's runs of one month in which a check or a turn began, and their cost in
    micro-dollars."""

    month: str
    runs: int
    spent: int


def usual_costs(agents: Iterable[Agent]) -> dict[int, int]:
    """The median cost of each one's last runs that reached a model, in micro-dollars, by its id.

    Nothing for a script; one with fewer than three such runs is absent.
    """
    thinking, found = [], {}
    for agent in agents:
        if agent.runtime == AgentRuntime.SCRIPT:
            found[agent.pk] = 0
        else:
            thinking.append(agent.pk)
    with connection.cursor() as cursor:
        cursor.execute(_USUAL, [thinking, LAST])
        for pk, spent in cursor.fetchall():
            if len(spent) >= ENOUGH:
                found[pk] = int(median(spent))
    return found


def picked_for(agents: Iterable[Agent]) -> dict[int, list[Routine]]:
    """The routines that name nobody and that each agent was picked for, in its last runs; by name.

    Assistant's are those too that it was asked for and that came to nobody.
    """
    with connection.cursor() as cursor:
        cursor.execute(_PICKED_FOR, [[agent.pk for agent in agents], TICKS])
        pairs = cursor.fetchall()
    routines = Routine.objects.in_bulk({routine for _, routine in pairs})
    found: dict[int, list[Routine]] = {}
    for agent, routine in pairs:
        found.setdefault(agent, []).append(routines[routine])
    return {pk: sorted(each, key=lambda one: one.name) for pk, each in found.items()}


def last_shapes(agent: Agent) -> list[Shape]:
    """How its last runs ended, the oldest first."""
    runs = Run.objects.filter(agent=agent).order_by("-queued_at", "-pk")
    statuses = runs.values_list("status", flat=True)[:TICKS]
    return [shape_of_status(status) for status in reversed(statuses)]


def month_so_far(agent: Agent, now: datetime) -> MonthSoFar:
    """Its runs that were asked for in this calendar month, in the workspace's zone."""
    start = month_start(agent.workspace.zone, now)
    found = Run.objects.filter(
        agent=agent, queued_at__gte=start, finished_at__isnull=False
    ).aggregate(
        runs=Count("id", filter=Q(effects_begun_at__isnull=False)),
        spent=Sum("spent", filter=~Q(cause="ours")),
    )
    return MonthSoFar(MONTHS_IN_WORDS[start.month - 1], found["runs"], found["spent"] or 0)
