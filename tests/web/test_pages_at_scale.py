"""The list's, a routine's, a run's and an agent's page ask and weigh the same whatever the history
behind."""

from datetime import timedelta
from typing import NamedTuple

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User, Workspace
from foundation import clock
from machines.models import Machine
from routines_app.configure.workspace import furnish
from routines_app.models import Agent, Fire, Routine, RoutineTotals, Run
from routines_app.rules.status import RunStatus
from routines_app.web.agent_figures import last_shapes, picked_for, usual_costs
from tests.bench.rows import multiply
from tests.factories import make_routine, make_run, make_step

ROUTINES, RUNS = 30, 100_000
FEW = 60  # runs of each routine, so that each page has as many as it shows
MOST_QUERIES, MOST_BYTES = 15, 120_000
MOST_OF_A_FORM = 25  # an agent's page is its form, with all that can be chosen
STATUS = (
    "CASE WHEN g % 11 = 0 THEN 'fail_script' WHEN g % 3 = 0 THEN 'done_changed' "
    "WHEN g % 7 = 0 THEN 'skip_overlap' ELSE 'nothing_to_do' END"
)
HEADLINE = "Three pull requests wait for a review; the oldest is two days old."


class Weighed(NamedTuple):
    """What one page asked of the database, and how long its HTML is."""

    queries: int
    size: int


@pytest.fixture
def thirty(harbour: Workspace) -> list[Routine]:
    """Thirty routines with a few runs each, one of them with a run that goes on."""
    furnish(harbour, harbour.memberships.get().user)
    machine = Machine.objects.get(workspace=harbour)
    routines = []
    for place in range(ROUTINES):
        due = clock.now() + timedelta(minutes=9 * place + 5)
        routine = make_routine(harbour, machine=machine, next_fire_at=due)
        began = clock.now() - timedelta(days=400)
        run = make_run(routine, RunStatus.NOTHING_TO_DO, at=began, headline=HEADLINE)
        RoutineTotals.objects.create(routine=routine, runs=1)
        add_runs(routine, run, FEW)
        routines.append(routine)
    long = routines[7]
    ended = make_run(long, at=clock.now() - timedelta(hours=1), headline=HEADLINE, spent=90_000)
    add_runs(long, long.runs.order_by("number")[0], FEW)
    make_run(routines[8], RunStatus.RUNNING, at=clock.now() - timedelta(minutes=1))
    for number in range(100):
        make_step(ended, "ran", f"make part-{number}", content="ok, and nothing else\n" * 12)
    return routines


def add_runs(routine: Routine, pattern: Run, count: int) -> None:
    """So many newer runs of a routine, one each half minute, the newest some minutes old."""
    numbered = routine.run_counter
    fires, runs = Fire.objects.latest("pk").pk, Run.objects.latest("pk").pk
    at = f"now() - interval '9 minutes' - ({count} - g) * interval '30 seconds'"
    multiply(
        pattern.fire,
        count,
        {
            "dedup_key": f"'copy ' || {numbered} + g",
            "due_at": at,
            "requested_at": at,
            "closed_at": f"{at} + interval '20 s'",
        },
        first=fires,
    )
    multiply(
        pattern,
        count,
        {
            "key": "gen_random_uuid()",
            "fire_id": f"{fires} + g",
            "number": f"{numbered} + g",
            "status": STATUS,
            "queued_at": at,
            "waking_at": at,
            "effects_begun_at": at,
            "turn_at": f"CASE WHEN g % 3 = 0 THEN {at} END",
            "finished_at": f"{at} + interval '20 s'",
            "spent": "g % 3 * 12000",
        },
        first=runs,
    )
    routine.run_counter += count
    routine.save(update_fields=["run_counter"])


def weigh(browser: Client, path: str) -> Weighed:
    with CaptureQueriesContext(connection) as said:
        answer = browser.get(path)
    assert answer.status_code == 200, path
    return Weighed(len(said), len(answer.content))


def weigh_all(browser: Client, routines: list[Routine]) -> dict[str, Weighed]:
    """The list, a routine's page, a run's (one that ended long ago, one that goes on), the roster
    and an agent's page."""
    root = f"/w/{routines[0].workspace.slug}/routines/"
    long = Run.objects.filter(routine=routines[7], steps__isnull=False).distinct().get()
    live = Run.objects.get(routine=routines[8], status="running")
    paths = {
        "list": root,
        "routine": f"{root}{routines[7].slug}/",
        "run": f"{root}{routines[7].slug}/runs/{long.number}/",
        "roster": root.replace("routines", "agents"),
        "agent": f"{root.replace('routines', 'agents')}assistant/",
        "live run": f"{root}{routines[8].slug}/runs/{live.number}/",
    }
    return {name: weigh(browser, path) for name, path in paths.items()}


def test_pages_ask_and_weigh_the_same_with_a_hundred_thousand_runs(
    browser_of_owner: Client, owner: User, thirty: list[Routine]
) -> None:
    few = weigh_all(browser_of_owner, thirty)
    for routine in thirty:
        add_runs(routine, routine.runs.order_by("number")[0], RUNS // ROUTINES)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE routines_app_fire, routines_app_run")
    assert Run.objects.count() > RUNS
    many = weigh_all(browser_of_owner, thirty)
    assert {name: page.queries for name, page in many.items()} == {
        name: page.queries for name, page in few.items()
    }
    for name, page in many.items():
        most = MOST_OF_A_FORM if name == "agent" else MOST_QUERIES
        assert page.queries < most, (name, page)
        assert page.size < MOST_BYTES, (name, page)
    assistant = Agent.objects.get(workspace=thirty[0].workspace, slug="assistant")
    with CaptureQueriesContext(connection) as said:
        last_shapes(assistant), usual_costs([assistant]), picked_for([assistant])
    assert len(said) == 3
    for query in said.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {query['sql']}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
        assert "run_by_agent" in plan or "run_turned_by_agent" in plan, plan
        assert "Seq Scan on routines_app_run" not in plan, plan
