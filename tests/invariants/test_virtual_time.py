"""Months of schedules in minutes, against a reader that looks at every minute of the wall.

`ROUTINES_LONG_INVARIANTS=1` takes 200 schedules, 400 days and 12 zones instead of CI's share.
"""

import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db import connection

from routines_app.fires.accounting import accounted
from routines_app.models import Fire, Routine, Run
from routines_app.producers import timer
from routines_app.rules.occurrence import occurrence_key
from routines_app.rules.schedule import instants_between, next_occurrence
from tests.invariants.virtual_time import DAY, MINUTE, ZONES, Walked, expressions
from tests.invariants.world import World, a_world, cron
from tests.rules import oracle

LONG = bool(os.environ.get("ROUTINES_LONG_INVARIANTS"))
DAYS = 400 if LONG else 60
SCHEDULES = 200 if LONG else 20
START = datetime(2027, 2, 20, tzinfo=UTC)  # clocks change in most of the zones within 60 days
END = START + DAY * DAYS
SEED = 20_270_220


@pytest.mark.parametrize("zone", ZONES)
def test_schedules_come_when_the_wall_says_so(zone: str) -> None:
    rng = random.Random(SEED)
    walked = Walked(zone, START, END)
    compared = 0
    for _ in range(SCHEDULES if LONG else 6):
        texts = expressions(rng)
        expected = sorted(set().union(*(walked.due(text) for text in texts)))
        schedule = cron(*texts, zone=zone)
        found, at = [], next_occurrence(schedule, START)
        while at is not None and at <= END:
            found.append(at)
            at = next_occurrence(schedule, at)
        assert found == expected, f"{texts} in {zone}"
        counted = instants_between(schedule, START + MINUTE / 60, END + MINUTE / 60)
        assert sorted(counted) == [int(each.timestamp()) for each in expected]
        compared += len(found)
    assert compared
    print(f"{zone}: {compared:,} occurrences, 0 mismatches")


def test_the_walk_that_is_kept_reads_as_the_oracle_does() -> None:
    """For the indexed walk itself: the plain oracle over the weeks around London's change."""
    start = datetime(2027, 10, 25, tzinfo=UTC)
    walked = Walked("Europe/London", start, start + 10 * DAY)
    zone = oracle.ZoneInfo("Europe/London")
    plain = oracle.walk(zone, start - DAY, start + 10 * DAY + MINUTE, MINUTE)
    rng = random.Random(SEED)
    for _ in range(10):
        for text in expressions(rng):
            expected = {at for at in oracle.occurrences(text, plain) if at > start}
            assert walked.due(text) == expected, text


@pytest.mark.django_db(transaction=True)
def test_the_real_scan_writes_each_occurrence_once_and_no_other(tmp_path: Path) -> None:
    """The clock hops by up to a few hours, is set back an hour now and then, and scans."""
    rng = random.Random(SEED)
    with a_world(tmp_path, START) as world:
        routines = {
            world.create(cron(*texts, zone=zone)).pk: (zone, texts)
            for number in range(SCHEDULES)
            for zone, texts in [(ZONES[number % len(ZONES)], expressions(rng))]
        }
        begun = {r.pk: r.evaluated_until for r in Routine.objects.all()}
        scans = _live_through(world, rng)
        _compare(routines, begun, scans)


def _live_through(world: World, rng: random.Random) -> int:
    at, scans, last = START, 0, END + MINUTE / 2
    while at < last:
        at = min(at + MINUTE * rng.randint(1, 600), last)
        world.clock.set(at)
        timer.scan()
        scans += 1
        if scans % 40 == 0:
            world.clock.move(timedelta(hours=-1))
            timer.scan()
    return scans


def _compare(
    routines: dict[int, tuple[str, tuple[str, ...]]],
    begun: dict[int, datetime | None],
    scans: int,
) -> None:
    walks = {zone: Walked(zone, START, END) for zone in {zone for zone, _ in routines.values()}}
    total = mismatches = 0
    for pk, (zone, texts) in routines.items():
        start = begun[pk]
        assert start is not None
        due = set().union(*(walks[zone].due(text) for text in texts))
        expected = sorted(occurrence_key(at) for at in due if at > start)
        written = sorted(Fire.objects.filter(routine=pk).values_list("dedup_key", flat=True))
        mismatches += written != expected
        total += len(expected)
    assert (mismatches, Fire.objects.count(), Run.objects.count()) == (0, total, total)
    sums = [accounted(routine, None, END) for routine in Routine.objects.all()]
    assert sum(found for found, _ in sums) == sum(owed for _, owed in sums) == total
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM routines_app_fire WHERE requested_at < due_at")
        assert cursor.fetchone() == (0,)
    print(
        f"{len(routines)} routines, {DAYS} days, {len(walks)} zones, {scans:,} scans: "
        f"{total:,} of {total:,} occurrences accounted for, 0 mismatches"
    )
