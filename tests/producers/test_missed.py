"""Occurrences that fell while nothing was scanning: each has its row, and the bell rings once."""

from datetime import UTC, datetime, timedelta

import pytest

from foundation import database_clock
from routines_app.fires.beats import beat, behind
from routines_app.models import Fire, Notice, Routine, RoutineTotals, Run
from routines_app.producers import timer
from routines_app.rules.grace import catch_up, grace_of
from tests.factories import make_routine, make_workspace

pytestmark = [pytest.mark.queue]
NOON = datetime(2027, 3, 25, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("gap", "grace"),
    [
        (timedelta(days=1), timedelta(hours=4)),
        (timedelta(hours=2), HOUR),
        (timedelta(minutes=15), timedelta(minutes=7.5)),
        (timedelta(minutes=1), timedelta(seconds=60)),
    ],
)
def test_grace_is_half_the_gap_within_bounds(gap: timedelta, grace: timedelta) -> None:
    assert grace_of(NOON, NOON + gap) == grace


def test_a_schedule_that_comes_once_may_be_a_day_late() -> None:
    assert grace_of(NOON, None) == timedelta(hours=24)


def test_the_newest_within_its_grace_fires_and_older_ones_are_missed() -> None:
    due = [NOON - 2 * HOUR, NOON - HOUR, NOON]
    outcome = catch_up(due, NOON + HOUR, NOON + timedelta(minutes=20))
    assert outcome.fires == NOON
    assert [span.first for span in outcome.missed] == due[:2]


def test_past_its_grace_even_the_newest_is_missed() -> None:
    outcome = catch_up([NOON], NOON + HOUR, NOON + timedelta(minutes=31))
    assert (outcome.fires, outcome.missed[0].first) == (None, NOON)


def test_past_a_thousand_they_are_one_row() -> None:
    due = [NOON + timedelta(minutes=n) for n in range(1_002)]
    outcome = catch_up(due, due[-1] + timedelta(minutes=1), due[-1])
    assert outcome.fires == due[-1]
    assert [(s.first, s.last, s.count) for s in outcome.missed] == [(NOON, due[-2], 1_001)]


def hourly(missed_hours: int) -> Routine:
    top = database_clock.now().replace(minute=0, second=0, microsecond=0)
    return make_routine(
        make_workspace(),
        expressions=["0 * * * *"],
        next_fire_at=top - missed_hours * HOUR,
        evaluated_until=top - missed_hours * HOUR - timedelta(minutes=1),
        grace=timedelta(hours=1),
    )


@pytest.mark.django_db
def test_three_missed_hours_are_three_rows_and_the_newest_runs() -> None:
    routine = hourly(3)
    scanned = timer.scan()
    assert (scanned.fired, scanned.missed) == (1, 3)
    runs = list(Run.objects.filter(routine=routine).select_related("fire").order_by("fire__due_at"))
    assert [run.status for run in runs] == ["skip_missed"] * 3 + ["queued"]
    assert all((run.finished_at is None) == (run.status == "queued") for run in runs)
    assert RoutineTotals.objects.get(routine=routine).refusals == 3
    assert timer.scan() == timer.Scanned(0, 0)
    assert Fire.objects.count() == 4


@pytest.mark.django_db
def test_one_digest_tells_of_all_that_a_workspace_missed() -> None:
    beat("scan", database_clock.now() - 3 * HOUR)
    first = hourly(3)
    for _ in range(4):
        make_routine(
            first.workspace,
            expressions=first.expressions,
            next_fire_at=first.next_fire_at,
            grace=HOUR,
        )
    hourly(2)
    timer.scan()
    told = {n.workspace_id: n.facts for n in Notice.objects.filter(run__isnull=True)}
    assert len(told) == 2
    assert (told[first.workspace_id]["count"], told[first.workspace_id]["routines"]) == (15, 5)


@pytest.mark.django_db
def test_per_second_schedules_of_a_long_night_are_one_row() -> None:
    now = database_clock.now().replace(microsecond=0)
    make_routine(
        make_workspace(), expressions=["* * * * * *"], next_fire_at=now - timedelta(hours=2)
    )
    timer.scan()
    missed = Run.objects.select_related("fire").get(status="skip_missed")
    assert 7_190 <= missed.fire.covers_count <= 7_210
    assert Run.objects.filter(status="queued").count() == 1


@pytest.mark.django_db
def test_the_watchdog_says_what_is_behind_and_since_when() -> None:
    now = database_clock.now()
    assert behind(now) == []
    beat("scan", now - timedelta(minutes=3))
    beat("reap", now - timedelta(seconds=5))
    assert [(b.name, b.since) for b in behind(now)] == [("scan", now - timedelta(minutes=3))]
    timer.scan()
    assert behind(database_clock.now()) == []
