"""The bell rings once for a routine from which nothing useful comes, and rests when that ends."""

from datetime import timedelta

import pytest
from django.test import Client

from accounts.models import Workspace
from foundation import clock
from routines_app.delivery.attention import settle
from routines_app.delivery.quiet import ring_for_quiet
from routines_app.models import Notice, OnSpan, Routine, RoutineTotals
from routines_app.rules.schedule import to_json
from routines_app.rules.status import RunStatus
from routines_app.runner.closing import hold_open, write_end
from routines_app.runner.ending import Ending
from tests.factories import make_routine, make_run, make_workspace, owner_of

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def workspace() -> Workspace:
    return make_workspace()


def quiet_routine(workspace: Workspace, days: int = 11, **fields: object) -> Routine:
    """On for so many days, with a check that found nothing each day, two of them skipped."""
    now = clock.now()
    routine = make_routine(workspace, **fields)
    OnSpan.objects.create(
        routine=routine, schedule=to_json(routine.schedule), started_at=now - days * DAY - DAY / 48
    )
    RoutineTotals.objects.create(routine=routine)
    for day in range(days):
        skipped = day in (3, 4)
        status = RunStatus.SKIP_OVERLAP if skipped else RunStatus.NOTHING_TO_DO
        make_run(routine, status, at=now - (days - day) * DAY)
    return routine


def test_it_rings_once_and_says_what_came_instead(workspace: Workspace) -> None:
    routine = quiet_routine(workspace)
    assert ring_for_quiet() == 1
    assert ring_for_quiet() == 0
    assert ring_for_quiet(clock.now() + 2 * DAY) == 0
    notice = Notice.objects.get()
    assert (notice.routine, notice.needs_someone) == (routine, True)
    assert (notice.facts["checks"], notice.facts["skipped"]) == (9, 2)


def test_list_bell_and_page_say_it(workspace: Workspace, client: Client) -> None:
    routine = quiet_routine(workspace)
    ring_for_quiet()
    client.force_login(owner_of(workspace))
    said = "Nothing useful in 11 days: 9 quiet checks, 2 skipped."
    listed = client.get(f"/w/{workspace.slug}/routines/").content.decode()
    assert listed.index("Needs you") < listed.index(said)
    assert "One routine needs you." in listed
    assert said in client.get(f"/w/{workspace.slug}/routines/{routine.slug}/").content.decode()
    bell = client.get(f"/w/{workspace.slug}/bell/").content.decode()
    assert "Nothing useful in 11 days:" in bell and "One unread ring needs someone" in bell


@pytest.mark.parametrize(
    "fields",
    [
        {"enabled": False},
        {"quiet_days": 0},
        {"quiet_days": 12},
        {"schedule_kind": "when_asked", "schedule_values": {}, "expressions": []},
        {"deleted_at": clock.now()},
    ],
)
def test_it_stays_silent_where_quiet_is_as_it_should_be(
    workspace: Workspace, fields: dict[str, object]
) -> None:
    quiet_routine(workspace, **fields)
    assert ring_for_quiet() == 0


def test_nothing_is_said_while_the_workspace_is_paused(workspace: Workspace) -> None:
    quiet_routine(workspace)
    Workspace.objects.update(paused_at=clock.now())
    assert ring_for_quiet() == 0


@pytest.mark.parametrize("status", [RunStatus.DONE_CHANGED, RunStatus.FAIL_SCRIPT])
def test_something_useful_or_a_failure_ends_it(workspace: Workspace, status: RunStatus) -> None:
    routine = quiet_routine(workspace)
    ring_for_quiet()
    run = make_run(routine, RunStatus.RUNNING, at=clock.now())
    held = hold_open(run.fire_id, None)
    assert held is not None and held.attention
    write_end(held, Ending(status), 0, {})
    run.refresh_from_db()
    settle(run)
    assert not Notice.objects.get().needs_someone
    assert RoutineTotals.objects.get(routine=routine).heard_at == run.finished_at
    assert ring_for_quiet(clock.now() + 5 * DAY) == 0


def test_a_quiet_check_does_not_end_it(workspace: Workspace) -> None:
    routine = quiet_routine(workspace)
    ring_for_quiet()
    run = make_run(routine, RunStatus.RUNNING, at=clock.now())
    held = hold_open(run.fire_id, None)
    assert held is not None
    write_end(held, Ending(RunStatus.NOTHING_TO_DO), 0, {})
    run.refresh_from_db()
    settle(run)
    assert Notice.objects.get().needs_someone
    assert RoutineTotals.objects.get(routine=routine).heard_at is None


def test_it_rests_when_the_routine_is_turned_off_or_may_be_quiet(workspace: Workspace) -> None:
    routine = quiet_routine(workspace)
    ring_for_quiet()
    Routine.objects.filter(pk=routine.pk).update(quiet_days=30)
    ring_for_quiet()
    assert not Notice.objects.get().needs_someone
