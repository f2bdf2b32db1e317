"""`audit_runs`: what it prints, and how it ends."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from foundation import database_clock
from routines_app.fires import FireRequest, request_fires
from routines_app.models import Fire, Routine, Run
from routines_app.producers import timer
from tests.factories import make_routine, make_workspace

pytestmark = [pytest.mark.django_db, pytest.mark.queue]
HOURLY = {"schedule_kind": "cron", "schedule_values": {"expressions": ["0 * * * *"]}}


def audited(**options: str) -> tuple[list[str], int]:
    """The lines that it printed, and how it ended."""
    out = io.StringIO()
    try:
        call_command("audit_runs", stdout=out, **options)
    except SystemExit as over:
        return out.getvalue().splitlines(), int(str(over.code))
    return out.getvalue().splitlines(), 0


def four_hours() -> Routine:
    """A routine with a row for each of the last four hours that came, three of them missed."""
    top = database_clock.now().replace(minute=0, second=0, microsecond=0)
    routine = make_routine(
        make_workspace(),
        expressions=["0 * * * *"],
        next_fire_at=top - timedelta(hours=3),
        grace=timedelta(hours=1),
        **HOURLY,
    )
    timer.scan()
    return routine


def test_all_is_accounted_for() -> None:
    four_hours()
    lines, ended = audited()
    assert ended == 0
    (said,) = lines
    # In the first minute of an hour its occurrence may still be on its way.
    assert said in (
        "4 of 4 occurrences accounted for.", "3 of 3 occurrences accounted for."
    )  # fmt: skip


def test_a_row_that_is_gone_is_missed_by_name_and_ends_with_1() -> None:
    routine = four_hours()
    gone = Fire.objects.filter(run__status="skip_missed").order_by("due_at")[1]
    Run.objects.filter(fire=gone).delete()
    gone.delete()
    lines, ended = audited(workspace=routine.workspace.slug)
    assert ended == 1
    due = f"{gone.due_at:%Y-%m-%d %H:%M:%S}"
    assert f"I1: Routine {routine.pk} was due at {due} and has no row for it." in lines
    assert f"I1: Routine {routine.pk} has numbered 4 runs and 3 are there." in lines


def test_time_and_workspace_narrow_what_is_looked_at() -> None:
    routine = make_routine(make_workspace(), evaluated_until=database_clock.now())
    now = database_clock.now()
    early = FireRequest(routine.pk, "timer", "k", now + timedelta(hours=1))
    request_fires([early], now)
    other = make_workspace()
    assert audited()[1] == 1
    assert audited(workspace=other.slug) == (["0 of 0 occurrences accounted for."], 0)
    tomorrow = (now + timedelta(days=1)).isoformat()
    assert audited(since=tomorrow)[1] == 0


def test_what_it_cant_read_is_said() -> None:
    with pytest.raises(CommandError, match="offset"):
        call_command("audit_runs", since="2027-03-25")
    with pytest.raises(CommandError, match="no workspace"):
        call_command("audit_runs", workspace="nowhere")
