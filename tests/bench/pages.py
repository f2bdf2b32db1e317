"""The pages of a workspace with 30 routines, beside how many runs they have."""

from collections import defaultdict
from collections.abc import Callable
from time import perf_counter

from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Workspace
from routines_app.models import Routine, RoutineTotals, Run
from routines_app.rules.status import RunStatus
from routines_app.web.routine_rows import pasts_of
from tests.bench.ground import Ground
from tests.bench.report import Result, median, milliseconds
from tests.bench.rows import multiply, settle
from tests.bench.sizes import Sizes
from tests.factories import make_machine, make_routine, make_run, make_workspace, owner_of

ROUTINES = 30
MOST_QUERIES = 15
_STATUS = (
    "CASE WHEN g % 11 = 0 THEN 'fail_script' WHEN g % 3 = 0 THEN 'done_changed' "
    "WHEN g % 7 = 0 THEN 'skip_overlap' ELSE 'nothing_to_do' END"
)


def measure(ground: Ground, sizes: Sizes) -> list[Result]:
    """Each page at both sizes, alternating; the runs of a day are as many at both."""
    taken: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    queries: dict[str, int] = {}
    call_command("collectstatic", interactive=False, verbosity=0)
    for turn in range(sizes.views + 1):
        for count in sizes.runs:
            if ground.use(f"pages_{count}"):
                _furnish(count)
            for name, view in _views(count // ROUTINES).items():
                if turn == 0:
                    with CaptureQueriesContext(connection) as said:
                        view()
                    queries[name] = len(said)
                began = perf_counter()
                view()
                taken[name][count].append(perf_counter() - began)
    return [_judged(name, taken[name], queries[name], sizes.runs) for name in taken]


def _judged(
    name: str, taken: dict[int, list[float]], queries: int, runs: tuple[int, int]
) -> Result:
    small, large = (median(taken[count][1:]) for count in runs)
    ratio = large / small
    return Result(
        f"{name} at {runs[1]:,} runs",
        f"at most 2 x its time at {runs[0]:,} runs, under {MOST_QUERIES} queries",
        f"{milliseconds(large)} beside {milliseconds(small)}: {ratio:.2f} x, {queries} queries",
        ratio <= 2 and queries < MOST_QUERIES,
        numbers={"small_s": small, "large_s": large, "ratio": ratio, "queries": queries},
    )


def _views(history: int) -> dict[str, Callable[[], object]]:
    """What is timed in the database in use; `history` is how many runs each routine has."""
    workspace = Workspace.objects.get()
    routine = Routine.objects.order_by("id")[ROUTINES // 2]
    client = Client(SERVER_NAME="localhost")
    client.force_login(owner_of(workspace))
    page = reverse("routine", args=[workspace.slug, routine.slug])

    def view(path: str, **more: str) -> Callable[[], object]:
        def get() -> object:
            answer = client.get(path, secure=True, headers=more)
            assert answer.status_code == 200, (path, answer.status_code)
            assert b"Nothing to" in answer.content or routine.name.encode() in answer.content
            return answer

        return get

    return {
        "the heartbeats' query": lambda: pasts_of(workspace),
        "the list page": view(reverse("routines", args=[workspace.slug])),
        "a routine's page": view(page),
        "an older page of history": view(f"{page}?before={history // 2}", **{"HX-Request": "true"}),
    }


def _furnish(count: int) -> None:
    """30 routines with `count` runs between them, one each every quarter of an hour."""
    workspace = make_workspace()
    machine = make_machine(workspace)
    each = count // ROUTINES
    for place in range(ROUTINES):
        routine = make_routine(workspace, machine=machine)
        run = make_run(
            routine,
            RunStatus.NOTHING_TO_DO,
            headline="Three pull requests wait for a review; the oldest is two days old.",
            facts={"exit_code": 1},
        )
        _history(routine, run, each, base=(place + 1) * 100_000_000)
        routine.run_counter = each + 1
        routine.save(update_fields=["run_counter"])
        RoutineTotals.objects.create(routine=routine, runs=each, failures=each // 11)
    settle("routines_app_fire", "routines_app_run", "routines_app_routine")


def _history(routine: Routine, run: Run, count: int, base: int) -> None:
    """`count` newer runs of a routine, up to a few minutes ago."""
    age = f"(({count} - g) * interval '15 minutes' + interval '1 minute' * {routine.pk % 15})"
    at = f"now() - interval '5 minutes' - {age}"
    multiply(
        run.fire,
        count,
        {
            "dedup_key": "'copy ' || g",
            "due_at": at,
            "requested_at": at,
            "closed_at": f"{at} + interval '30 s'",
        },
        first=base,
    )
    multiply(
        run,
        count,
        {
            "key": "gen_random_uuid()",
            "fire_id": f"{base} + g",
            "number": "g + 1",
            "status": _STATUS,
            "queued_at": at,
            "waking_at": at,
            "effects_begun_at": at,
            "turn_at": f"CASE WHEN g % 3 = 0 THEN {at} END",
            "finished_at": f"{at} + interval '30 s'",
            "spent": "g % 3 * 12000",
        },
    )
