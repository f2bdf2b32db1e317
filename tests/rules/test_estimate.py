"""The month's ceiling, and what is likely once seven runs have been seen."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from routines_app.rules.estimate import dollars, estimate, runs_in_month
from routines_app.rules.schedule import ScheduleKind, schedule_of

K = ScheduleKind
LONDON = "Europe/London"
AFTER = datetime(2027, 3, 25, 9, 41, tzinfo=UTC)
HALF_DOLLAR = 500_000

SENTENCES: list[tuple[ScheduleKind, dict[str, Any], str]] = [
    (
        K.WEEKDAYS,
        {"times": ["8:00"]},
        "At most $11.00 a month. 22 runs in April × $0.50 cap.",
    ),
    (
        K.CRON,
        {"expressions": ["30 1,13 * * 6,0"]},
        "At most $8.00 a month. 16 runs in April × $0.50 cap.",
    ),
    (
        K.EVERY_MINUTES,
        {"every": 5},
        "At most $4,320.00 a month. 8,640 runs in April × $0.50 cap.",
    ),
    (
        K.MONTH_LAST_DAY,
        {"times": ["9:00"]},
        "At most $0.50 a month. 1 run in April × $0.50 cap.",
    ),
    (
        K.MONTH_DATE,
        {"day": 31, "times": ["9:00"]},
        "At most $0.50 a run. None in April; the next is on Wednesday 31 March 2027.",
    ),
    (
        K.ONCE,
        {"at": "2027-03-30T09:00:00+01:00"},
        "At most $0.50, once, on Tuesday 30 March 2027.",
    ),
    (K.WHEN_ASKED, {}, "At most $0.50 each time someone asks."),
    (K.ONCE, {"at": "2027-03-20T09:00:00Z"}, "It won't run again, so it costs nothing."),
]


@pytest.mark.parametrize(("kind", "values", "sentence"), SENTENCES)
def test_the_ceiling_is_runs_times_the_cap(
    kind: ScheduleKind, values: dict[str, Any], sentence: str
) -> None:
    assert estimate(schedule_of(kind, values, LONDON), AFTER, HALF_DOLLAR).sentence == sentence


def test_after_seven_runs_what_is_likely_comes_with_the_ceiling() -> None:
    schedule = schedule_of(K.WEEKDAYS, {"times": ["8:00"]}, LONDON)
    found = estimate(schedule, AFTER, HALF_DOLLAR, typical=100_000, seen=7)
    assert (found.month, found.runs, found.ceiling, found.likely) == (
        date(2027, 4, 1),
        22,
        11_000_000,
        2_200_000,
    )
    assert found.sentence == "Likely about $2.20, at most $11.00."
    early = estimate(schedule, AFTER, HALF_DOLLAR, typical=100_000, seen=6)
    assert early.likely is None
    assert early.sentence.startswith("At most $11.00 a month.")


def test_what_is_likely_never_passes_the_ceiling() -> None:
    schedule = schedule_of(K.WEEKDAYS, {"times": ["8:00"]}, LONDON)
    found = estimate(schedule, AFTER, 10_000, typical=50_000, seen=20)
    assert found.likely == found.ceiling == 220_000


@pytest.mark.parametrize(
    ("zone", "texts", "month", "runs"),
    [
        (LONDON, ["0 * * * *"], 3, 743),  # an hour is missing
        (LONDON, ["0 * * * *"], 10, 745),  # an hour comes twice
        (LONDON, ["0 0-23 * * *"], 10, 744),  # fixed times: each once
        (LONDON, ["0 0-23 * * *"], 3, 743),  # 1:00 and 2:00 are one instant
        ("UTC", ["0 9 * * *", "0 9 * * 1-5"], 4, 30),
        ("UTC", ["0 8 * * *", "30 17 * * *"], 4, 60),
        ("UTC", ["* * * * * *"], 4, 2_592_000),
    ],
)
def test_a_months_runs_follow_its_clock(zone: str, texts: list[str], month: int, runs: int) -> None:
    schedule = schedule_of(K.CRON, {"expressions": texts}, zone)
    assert runs_in_month(schedule, 2027, month) == runs


def test_the_next_month_may_be_next_year() -> None:
    schedule = schedule_of(K.DAILY, {"times": ["8:00"]}, "Pacific/Auckland")
    found = estimate(schedule, datetime(2026, 11, 30, 12, tzinfo=UTC), HALF_DOLLAR)
    assert found.month == date(2027, 1, 1)  # it is December already in Auckland


@pytest.mark.parametrize(
    ("micros", "up", "said"),
    [
        (0, False, "$0.00"),
        (4_000, False, "<$0.01"),
        (4_000, True, "$0.01"),
        (10_000, False, "$0.01"),
        (114_999, False, "$0.11"),
        (115_000, False, "$0.12"),
        (110_001, True, "$0.12"),
        (1_234_560_000, False, "$1,234.56"),
    ],
)
def test_money_has_two_decimals_and_a_ceiling_is_never_too_low(
    micros: int, up: bool, said: str
) -> None:
    assert dollars(micros, up=up) == said


def test_a_cap_below_zero_is_an_error() -> None:
    with pytest.raises(ValueError, match="zero or more"):
        estimate(schedule_of(K.WHEN_ASKED, {}, LONDON), AFTER, -1)
