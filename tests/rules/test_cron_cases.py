"""The checked cases: expressions with their next instants, and expressions that are refused."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from routines_app.rules.cron import CronError, CronKind, compile_cron

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads((DATA / "schedules.json").read_text())
REJECTS = json.loads((DATA / "schedule_rejects.json").read_text())


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_no_case_is_lost() -> None:
    assert len(CASES) == 59
    assert len(REJECTS) == 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_checked_expression_fires_when_it_should(case: dict[str, Any]) -> None:
    cron = compile_cron(case["expr"])
    expected = [_instant(text) for text in case["expect"]]
    wanted = len(expected) + (1 if case["exhausted"] else 0)
    assert cron.preview(_instant(case["from"]), case["tz"], wanted) == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_checked_expression_is_of_its_kind(case: dict[str, Any]) -> None:
    assert (compile_cron(case["expr"]).kind is CronKind.FIXED) == ("fixed" in case["features"])


@pytest.mark.parametrize("case", REJECTS, ids=lambda case: case["id"])
def test_a_refused_expression_says_where_and_why(case: dict[str, Any]) -> None:
    with pytest.raises(CronError) as refused:
        compile_cron(case["expr"])
    assert refused.value.field
    assert refused.value.reason.endswith(".")


FIELD_AND_ADVICE = [
    ("60 * * * *", "minute", "0 to 59"),
    ("* 24 * * *", "hour", "0 to 23"),
    ("0 0 0 * *", "day of the month", "1 to 31"),
    ("0 0 32 * *", "day of the month", "1 to 31"),
    ("0 0 * 13 *", "month", "1 to 12"),
    ("0 0 * * 8", "weekday", "0 to 7"),
    ("61 0 0 * * *", "second", "0 to 59"),
    ("0 0 0 1 1 * 1969", "year", "1970 to 2099"),
    ("0 0 0 1 1 * 2030-2027", "year", "2027-2030"),
    ("*/0 * * * *", "minute", "from 1 to 60"),
    ("*/90 * * * *", "minute", "from 1 to 60"),
    ("*/ * * * *", "minute", "whole number"),
    ("1, * * * *", "minute", "comma"),
    ("1,,2 * * * *", "minute", "comma"),
    ("5- * * * *", "minute", "ranges"),
    ("H/15 * * * *", "minute", "Write a number"),
    ("0 R * * *", "hour", "Write a number"),
    ("0~30 * * * *", "minute", "Write a number"),
    ("? * * * *", "minute", "Write *"),
    ("0 9 * ? *", "month", "Write *"),
    ("0 9 ? * ?", "weekday", "Write *"),
    ("0 9 * * L", "weekday", "5L"),
    ("0 9 * * 1#0", "weekday", "1 to 5"),
    ("0 9 15W,20 * *", "day of the month", "alone"),
    ("0 9 L-0 * *", "day of the month", "1 to 30"),
    ("0 0 30 2 *", "day of the month", "February never has a 30th. This would never run."),
    ("0 0 31 2,4,6,9,11 *", "day of the month", "never have a 31st"),
    ("0 0 L-30 2 *", "day of the month", "February never has such a day."),
    ("0 0 0 29 2 * 2025-2027", "day of the month", "leap year"),
    ("0 ９ * * *", "hour", "plain letters"),
    ("@reboot", "expression", "@reboot"),
    ("@noon", "expression", "@daily"),
    ("TZ=Europe/London 0 9 * * *", "expression", "its own box"),
    ("0 9 * * * * * *", "expression", "five fields"),
    ("0 " * 200, "expression", "256"),
]


@pytest.mark.parametrize(("text", "field", "advice"), FIELD_AND_ADVICE)
def test_a_refusal_names_the_field_and_what_to_do(text: str, field: str, advice: str) -> None:
    with pytest.raises(CronError) as refused:
        compile_cron(text)
    assert refused.value.field == field
    assert advice in refused.value.reason


SAME = [
    ("0 9-9 * * *", "0 9 * * *"),
    ("0 9 * * FRI-MON", "0 9 * * 5,6,0,1"),
    ("0 9 * * 7", "0 9 * * SUN"),
    ("0 9 * * 5-7", "0 9 * * 5,6,0"),
    ("0 9 * * 7-2", "0 9 * * 0,1,2"),
    ("0 9 * * 1-7/2", "0 9 * * 1,3,5,0"),
    ("0 22-4/2 * * *", "0 22,0,2,4 * * *"),
    ("0 9 28-2 * *", "0 9 28,29,30,31,1,2 * *"),
    ("0 9 1 NOV-FEB *", "0 9 1 11,12,1,2 *"),
    ("0 9 * * mon#1", "0 9 * * 1#1"),
    ("0 9 ? * MON", "0 9 * * 1"),
    ("0 9 lw * ?", "0 9 LW * *"),
    ("@hourly", "0 * * * *"),
    ("@Midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@annually", "0 0 1 1 *"),
    ("0 0 9 * * *", "0 9 * * *"),
    ("0 0 9 * * * *", "0 9 * * *"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_ways_to_write_a_schedule_mean_the_same(one: str, other: str) -> None:
    assert compile_cron(one).means_the_same(compile_cron(other))


def test_a_starred_day_field_is_combined_with_and() -> None:
    found = compile_cron("0 9 */2 * MON").preview(datetime(2026, 11, 1, tzinfo=UTC), "UTC", 40)
    assert all(at.isoweekday() == 1 and at.day % 2 == 1 for at in found)
    assert len(found) == 40


def test_an_expression_is_shown_with_its_word_written_out() -> None:
    assert compile_cron(" @daily ").text == "0 0 * * *"
    assert compile_cron("0\t9  * * mon-fri").text == "0 9 * * MON-FRI"


def test_nothing_follows_the_last_year() -> None:
    cron = compile_cron("0 0 12 * * * 2099")
    last = datetime(2099, 12, 31, 12, tzinfo=UTC)
    assert cron.next(datetime(2099, 12, 31, tzinfo=UTC), "UTC") == last
    assert cron.next(last, "UTC") is None
    assert compile_cron("* * * * *").next(datetime(2150, 1, 1, tzinfo=UTC), "UTC") is None


def test_a_search_from_long_ago_starts_in_1970() -> None:
    found = compile_cron("0 0 1 1 *").next(datetime(1950, 6, 1, tzinfo=UTC), "UTC")
    assert found == datetime(1970, 1, 1, tzinfo=UTC)


def test_a_fraction_of_a_second_is_not_skipped_or_repeated() -> None:
    cron = compile_cron("* * * * * *")
    at = datetime(2026, 11, 30, 12, 0, 0, 500_000, tzinfo=UTC)
    assert cron.next(at, "UTC") == datetime(2026, 11, 30, 12, 0, 1, tzinfo=UTC)


def test_a_naive_time_and_an_unknown_zone_are_errors() -> None:
    cron = compile_cron("* * * * *")
    with pytest.raises(ValueError, match="aware"):
        cron.next(datetime(2026, 11, 30), "UTC")  # noqa: DTZ001
    with pytest.raises(ValueError, match="Choose a place"):
        cron.next(datetime(2026, 11, 30, tzinfo=UTC), "+01:00")


def test_what_is_compiled_is_kept() -> None:
    assert compile_cron("1 2 3 4 5") is compile_cron("1 2 3 4 5")
