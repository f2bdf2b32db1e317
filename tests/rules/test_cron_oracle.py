"""The engine against an oracle that walks every real minute around clock changes."""

import random
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from routines_app.rules import zones
from routines_app.rules.cron import compile_cron
from routines_app.rules.schedule import (
    ScheduleKind,
    occurrences_between,
    preview,
    schedule_of,
)
from tests.rules import oracle

SEED = 20_261_130
CHUNKS = 8
AROUND = timedelta(hours=40)
MINUTE = timedelta(minutes=1)
MINUTES = ["0", "30", "15", "5,25,55", "*/10", "*/25", "*", "59", "10-40/15", "52", "1-59/2"]
HOURS = ["*", "*/2", "0", "1", "2", "3", "23", "0-4", "1,2,3", "22-2", "*/5", "0-23", "2-3"]
DAYS = ["*", "*", "*", "*", "1-31", "L", "*/2", "28-3", "15W", "LW", "L-1"]
WEEKDAYS = ["*", "*", "*", "*", "0", "SUN#1", "5L", "SAT-MON", "1-5"]


def _expression(rng: random.Random) -> str:
    minute, hour = rng.choice(MINUTES), rng.choice(HOURS)
    return f"{minute} {hour} {rng.choice(DAYS)} * {rng.choice(WEEKDAYS)}"


def _moment(rng: random.Random, zone: ZoneInfo) -> datetime:
    """A clock change of the zone in a year at random, or a moment when it has none."""
    for year in rng.sample(range(1972, 2038), 12):
        start = datetime(year, 1, 1, tzinfo=UTC)
        found = [*zones.changes_between(start, start + timedelta(days=365), zone)]
        if found:
            return rng.choice(found).at
    return datetime(rng.randint(2000, 2037), 1, 1, tzinfo=UTC) + MINUTE * rng.randrange(500_000)


def _whole_minutes(walked: oracle.Walk) -> bool:
    """Whether the zone's offsets were whole minutes: an oracle of minutes needs that."""
    return not any(wall.second for wall in walked.walls)


def _disagreements(name: str, rng: random.Random) -> list[str]:
    zone = ZoneInfo(name)
    around = _moment(rng, zone).replace(second=0)
    walked = oracle.walk(zone, around - AROUND, around + AROUND, MINUTE)
    if not _whole_minutes(walked):
        return []
    wrong = []
    for text in {_expression(rng) for _ in range(5)}:
        cron, due = compile_cron(text), oracle.occurrences(text, walked)
        for _ in range(8):
            after = around + MINUTE * rng.randint(-36 * 60, 30 * 60)
            after += timedelta(seconds=rng.choice([0, 0, 1, 59]))
            found = cron.next(after, zone)
            expected = next((at for at in due if at > after), None)
            beyond = expected is None and (found is None or found >= around + AROUND)
            if found != expected and not beyond:
                wrong.append(f"{name} {text!r} after {after}: {found}, not {expected}")
    return wrong


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_zone_agrees_with_the_oracle_around_a_clock_change(chunk: int) -> None:
    rng = random.Random(SEED + chunk)
    names = sorted(zones.known_zones())[chunk::CHUNKS]
    assert len(names) > 50
    wrong = [line for name in names for line in _disagreements(name, rng)]
    assert wrong == []


# Where clocks do the least usual things: half hours, two hours, midnights, a day that was skipped.
TRAPS = [
    ("Australia/Lord_Howe", "2026-04-04T15:00:00+00:00"),
    ("Antarctica/Troll", "2026-03-29T01:00:00+00:00"),
    ("Pacific/Apia", "2011-12-30T10:00:00+00:00"),
    ("Africa/Cairo", "2026-04-23T22:00:00+00:00"),
    ("Asia/Beirut", "2026-03-28T22:00:00+00:00"),
    ("America/Sao_Paulo", "2018-11-04T03:00:00+00:00"),
    ("America/St_Johns", "2006-10-29T02:31:00+00:00"),
    ("Africa/Casablanca", "2026-03-22T02:00:00+00:00"),
    ("Europe/Dublin", "2026-10-25T01:00:00+00:00"),
]


@pytest.mark.parametrize(("name", "change"), TRAPS, ids=[name for name, _ in TRAPS])
def test_every_instant_around_an_unusual_change_agrees(name: str, change: str) -> None:
    rng = random.Random(SEED)
    zone, around = ZoneInfo(name), datetime.fromisoformat(change)
    assert [*zones.changes_between(around - MINUTE, around, zone)]
    walked = oracle.walk(zone, around - AROUND, around + AROUND, MINUTE)
    for text in sorted({_expression(rng) for _ in range(25)}):
        due = oracle.occurrences(text, walked)
        found = compile_cron(text).preview(around - AROUND - MINUTE, zone, len(due))
        assert found == due, text


@pytest.mark.parametrize(("name", "change"), TRAPS, ids=[name for name, _ in TRAPS])
def test_a_union_agrees_around_an_unusual_change(name: str, change: str) -> None:
    rng = random.Random(SEED + 1)
    zone, around = ZoneInfo(name), datetime.fromisoformat(change)
    walked = oracle.walk(zone, around - AROUND, around + AROUND, MINUTE)
    for _ in range(8):
        texts = sorted({_expression(rng) for _ in range(rng.randint(2, 4))})
        due = oracle.union(texts, walked)
        schedule = schedule_of(ScheduleKind.CRON, {"expressions": texts}, name)
        assert preview(schedule, around - AROUND - MINUTE, len(due)) == due, texts
        assert occurrences_between(schedule, around - AROUND, around + AROUND) == len(due), texts


SPECIAL_DAYS = [f"{day}W *" for day in (1, 2, 15, 28, 29, 30, 31)]
SPECIAL_DAYS += [f"* {weekday}#{nth}" for weekday in (0, 3, 6) for nth in (1, 4, 5)]
SPECIAL_DAYS += [f"* {weekday}L" for weekday in (0, 1, 7)]
SPECIAL_DAYS += ["L *", "L-1 *", "L-30 *", "LW *", "L,15 *", "LW FRI#2", "1,L MON#1,5L"]
SPECIAL_DAYS += ["13 FRI", "*/2 FRI", "13 */2", "28-3 *", "* FRI-MON", "* 5-7", "* 7-2", "? 1-7/2"]


@pytest.mark.parametrize("days", SPECIAL_DAYS)
def test_special_days_agree_with_the_oracle_for_twelve_years(days: str) -> None:
    dates, weekdays = days.split()
    text = f"0 12 {dates} * {weekdays}"
    start, end = date(2016, 1, 1), date(2027, 12, 31)
    test = oracle.read(text).day
    every = (start + timedelta(days=step) for step in range((end - start).days + 1))
    expected = [day for day in every if test(day)]
    before = datetime(2015, 12, 31, 23, tzinfo=UTC)
    found = compile_cron(text).preview(before, "UTC", len(expected) + 1)
    assert [at.date() for at in found[:-1]] == expected


def test_seconds_agree_with_an_oracle_of_seconds() -> None:
    zone, around = ZoneInfo("America/New_York"), datetime(2026, 11, 1, 6, tzinfo=UTC)
    hours = timedelta(hours=3)
    walked = oracle.walk(zone, around - hours, around + hours, timedelta(seconds=1))
    for text in ("45 10 1 * * *", "*/40 */7 * * * *", "30 0,30 0-3 * * *", "7 * 1 * * *"):
        due = oracle.occurrences(text, walked)
        assert due
        assert compile_cron(text).preview(around - hours - MINUTE / 60, zone, len(due)) == due
