"""The rest of a month's cost, and the day on which the money is used up."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from routines_app.rules.forecast import Forecast, Pace, forecast, lasts_until
from routines_app.rules.kinds import Schedule, ScheduleKind

LONDON = ZoneInfo("Europe/London")
AFTER = datetime(2027, 3, 25, 9, 0, tzinfo=LONDON)
END = datetime(2027, 4, 1, tzinfo=LONDON)
DAILY = Schedule(ScheduleKind.DAILY, {"times": ["8:00"]}, "Europe/London")  # six more: 26 to 31


@pytest.mark.parametrize(
    ("pace", "expected"),
    [
        (Pace(DAILY, 500_000, 100_000, 7), Forecast(1_600_000, 4_050_000, 0)),
        (Pace(DAILY, 500_000, 100_000, 6), Forecast(4_000_000, 4_050_000, 1)),
        (Pace(DAILY, 500_000, 900_000, 9), Forecast(4_000_000, 4_050_000, 0)),
        (Pace(DAILY, 500_000, free=True), Forecast(1_000_000, 1_050_000, 0)),
    ],
)
def test_what_is_likely_and_at_most(pace: Pace, expected: Forecast) -> None:
    assert forecast([pace], AFTER, END, spent=1_000_000, held=50_000) == expected


@pytest.mark.parametrize(
    ("left", "day"),
    [
        (0, date(2027, 3, 26)),
        (99_999, date(2027, 3, 26)),
        (100_000, date(2027, 3, 27)),
        (599_999, date(2027, 3, 31)),
        (600_000, None),
    ],
)
def test_the_day_on_which_it_is_used_up(left: int, day: date | None) -> None:
    assert lasts_until([Pace(DAILY, 500_000, 100_000, 7)], AFTER, END, left=left) == day


def test_the_last_second_of_a_month_has_nothing_more_to_cost() -> None:
    last = datetime(2027, 3, 31, 23, 59, 59, 500_000, tzinfo=LONDON)
    pace = Pace(DAILY, 500_000)
    assert forecast([pace], last, END, spent=5, held=0) == Forecast(5, 5, 0)
    assert lasts_until([pace], last, END, left=0) is None
