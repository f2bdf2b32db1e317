"""What a plan's minimum is tested on: the smallest gap, and one occurrence a calendar date."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from routines_app.rules import zones
from routines_app.rules.schedule import (
    Schedule,
    ScheduleKind,
    at_most_once_a_day,
    dates_are_distinct,
    occurrences_between,
    preview,
    schedule_of,
    smallest_gap,
)
from tests.rules import oracle

AFTER = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def _cron(zone: str, *texts: str) -> Schedule:
    return schedule_of(ScheduleKind.CRON, {"expressions": [*texts]}, zone)


GAPS = [
    ("a step that doesn't divide", "UTC", ["*/25 * * * *"], 10 * MINUTE),
    ("spring's short day isn't counted", "Europe/London", ["0 8 * * *"], DAY),
    ("fixed times that spring drops together", "America/New_York", ["0 2,3 * * *"], HOUR),
    ("real time across a spring gap", "America/New_York", ["0 */3 * * *"], 2 * HOUR),
    ("a half-hour fold of an hourly schedule", "Australia/Lord_Howe", ["52 * * * *"], HOUR / 2),
    ("several expressions", "UTC", ["0 8 * * *", "30 17 * * *", "40 17 * * 1"], 10 * MINUTE),
    ("two that meet", "UTC", ["0 9 * * *", "0 9 * * 1-5"], DAY),
    ("fixed beside real time", "UTC", ["0 * * * *", "5 9 * * *"], 5 * MINUTE),
    (
        "real time decides where both meet",
        "Europe/London",
        ["0 8 * * *", "*/60 8 * * *"],
        23 * HOUR,
    ),
    ("every second", "UTC", ["* * * * * *"], timedelta(seconds=1)),
    ("across midnight", "UTC", ["59 23 * * *", "0 0 * * *"], MINUTE),
    ("only on the last day of the year", "UTC", ["0 9,10 31 12 *"], HOUR),
    ("never twice in a year", "UTC", ["0 9 29 2 *"], None),
]


@pytest.mark.parametrize(("case", "zone", "texts", "gap"), GAPS, ids=[row[0] for row in GAPS])
def test_the_smallest_gap_of_the_next_year(
    case: str, zone: str, texts: list[str], gap: timedelta | None
) -> None:
    assert smallest_gap(_cron(zone, *texts), AFTER) == gap


FIXED = ["30 1 * * *", "0 0 * * *", "20 0 * * *", "0 9 1 * 1", "5 1-4 * * 0", "40 2 * * *"]
INTERVAL = ["*/15 * * * *", "0 */3 * * *", "*/10 2 * * *", "52 * * * *", "10 */5 * * 1-5"]


@pytest.mark.parametrize("round_", range(5))
def test_gaps_of_real_time_agree_with_the_oracle(round_: int) -> None:
    rng = random.Random(900 + round_)
    name = rng.choice(sorted(zones.known_zones()))
    texts = rng.sample(FIXED, rng.randint(0, 2)) + rng.sample(INTERVAL, rng.randint(1, 2))
    start = datetime(rng.randint(1990, 2036), rng.randint(1, 12), rng.randint(1, 28), tzinfo=UTC)
    schedule = _cron(name, *texts)
    end = start + timedelta(days=366)
    walked = oracle.walk(ZoneInfo(name), start + MINUTE, end + MINUTE, MINUTE)
    if any(wall.second for wall in walked.walls):
        pytest.skip("the zone's offsets had seconds in that year")
    due: dict[datetime, bool] = {}
    for text in texts:
        for at in oracle.occurrences(text, walked):
            due[at] = due.get(at, True) and not oracle.read(text).interval
    real = [b - a for a, b in pairwise(sorted(due)) if not (due[a] and due[b])]
    walls = sorted({w for text in texts for w in _fixed_walls(text, walked)})
    assert smallest_gap(schedule, start) == min(real + [b - a for a, b in pairwise(walls)])
    assert occurrences_between(schedule, start + MINUTE, end + MINUTE) == len(due)


def _fixed_walls(text: str, walked: oracle.Walk) -> list[datetime]:
    """Wall times of a FIXED expression between the walk's first wall and its last."""
    reading = oracle.read(text)
    if reading.interval:
        return []
    wall, last = walked.walls[0].replace(fold=0), walked.walls[0].replace(fold=0) + DAY * 366
    steps = int((last - wall) / MINUTE)
    return [at for at in (wall + MINUTE * step for step in range(steps)) if reading.names(at)]


ONCE_A_DAY = [
    ("Europe/London", ["0 8 * * *"], True),
    ("Europe/London", ["0 8 * * 1-5", "0 9 * * 6"], True),
    ("America/Santiago", ["30 23 * * *"], True),  # repeated in autumn, and run once
    ("Europe/London", ["0 8,9 * * *"], False),
    ("Europe/London", ["0 8 * * *", "0 9 * * 1"], False),
    ("Europe/London", ["59 23 * * *", "0 0 * * *"], False),
    ("America/Santiago", ["*/60 23 * * *"], False),  # real time: 23:00 comes twice in autumn
    ("UTC", ["*/60 23 * * *"], True),
]


@pytest.mark.parametrize(("zone", "texts", "distinct"), ONCE_A_DAY)
def test_once_a_day_is_one_occurrence_a_calendar_date(
    zone: str, texts: list[str], distinct: bool
) -> None:
    assert at_most_once_a_day(_cron(zone, *texts), AFTER) is distinct


def test_dates_are_compared_where_the_schedule_lives() -> None:
    late, early = datetime(2026, 6, 1, 22, tzinfo=UTC), datetime(2026, 6, 2, 1, tzinfo=UTC)
    assert dates_are_distinct([late, early], "UTC")
    assert not dates_are_distinct([late, early], "America/New_York")
    assert dates_are_distinct([], "UTC")


def test_a_union_fires_once_where_its_expressions_meet() -> None:
    found = preview(_cron("UTC", "0 9 * * *", "0 9,10 * * 1"), AFTER, 4)
    assert [(at.day, at.hour) for at in found] == [(1, 9), (2, 9), (2, 10), (3, 9)]


def test_missed_occurrences_are_all_known_from_the_last_evaluated_instant() -> None:
    schedule = _cron("Europe/London", "*/15 * * * *")
    found = preview(schedule, datetime(2026, 3, 29, 0, 40, tzinfo=UTC), 3)
    assert [at.strftime("%H:%M") for at in found] == ["00:45", "01:00", "01:15"]
