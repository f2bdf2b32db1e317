"""The filters that say facts in the product's words."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from routines_app.web.day import Awake, day_of
from routines_app.web.templatetags import words

NOON = datetime(2027, 3, 25, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("micro", "said"),
    [
        (None, ""), (0, "$0.00"), (1, "<$0.01"), (9_999, "<$0.01"), (10_000, "$0.01"),
        (14_999, "$0.01"), (15_000, "$0.02"), (500_000, "$0.50"), (1_234_560_000, "$1,234.56"),
        (-50_000, "−$0.05"), (-1, "−<$0.01"),
    ],
)  # fmt: skip
def test_money_has_two_decimals_and_is_never_blank(micro: int | None, said: str) -> None:
    assert words.money(micro) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, ""), (0, "0.0s"), (0.42, "0.4s"), (1, "1s"), (59.6, "1m 00s"), (188, "3m 08s"),
        (3840, "1h 04m"), (timedelta(days=2, hours=3), "2d 3h"),
    ],
)  # fmt: skip
def test_a_length_of_time_is_read_at_a_glance(seconds: float | None, said: str) -> None:
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    ("away", "said"),
    [
        (timedelta(seconds=-5), "just now"), (timedelta(seconds=5), "in a moment"),
        (timedelta(minutes=-1), "1 minute ago"), (timedelta(minutes=41), "in 41 minutes"),
        (timedelta(hours=-23), "23 hours ago"), (timedelta(days=-2), "Tuesday 23 March"),
        (timedelta(days=300), "Wednesday 19 January 2028"),
    ],
)  # fmt: skip
def test_an_instant_is_relative_under_a_day_and_a_date_after(away: timedelta, said: str) -> None:
    assert words.said(NOON + away, NOON) == said


def test_the_exact_instant_is_kept_beside_the_words() -> None:
    with timezone.override("Europe/London"):
        html = words.when(datetime(2027, 7, 1, 7, 5, tzinfo=UTC))
    assert 'datetime="2027-07-01T08:05:00+01:00"' in html
    assert "Thursday 1 July 2027, 8:05:00 BST" in html


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [
        (0, "run", "no runs"), (1, "person,people", "one person"),
        (12, "machine", "twelve machines"), (2, "person,people", "two people"),
        (1300, "run", "1,300 runs"),
    ],
)  # fmt: skip
def test_small_numbers_are_words(number: int, noun: str, said: str) -> None:
    assert words.counted(number, noun) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "never"), (1, "once"), (2, "twice"), (3, "three times"), (13, "13 times")],
)
def test_how_often_is_words(number: int, said: str) -> None:
    assert words.times(number) == said


@pytest.mark.parametrize(
    ("count", "said"), [(412, "412 B"), (999_950, "1 MB"), (1_800, "1.8 KB"), (10**13, "10 TB")]
)
def test_bytes_are_read_at_a_glance(count: int, said: str) -> None:
    assert words.size(count) == said


def test_a_day_is_cut_at_its_ends_and_counts_its_wakings() -> None:
    start, end = NOON - timedelta(hours=12), NOON + timedelta(hours=12)
    day = day_of(
        [
            Awake(start - timedelta(hours=2), start + timedelta(hours=6)),
            Awake(start - timedelta(hours=5), start - timedelta(hours=4)),
            Awake(NOON - timedelta(hours=1), None),
        ],
        [NOON - timedelta(minutes=1), NOON + timedelta(hours=6), end + timedelta(hours=1)],
        start,
        end,
        NOON,
    )
    assert [(mark.x, mark.width, mark.now) for mark in day.marks] == [
        ("0.00%", "25.00%", False),
        ("45.83%", "4.17%", True),
    ]
    assert day.expected == ("75.00%",)
    assert (day.awake, day.wakings) == (timedelta(hours=7), 2)
