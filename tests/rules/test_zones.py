"""Zone names, and clock changes read in a second way: from the bytes of the zone files."""

import struct
from datetime import UTC, datetime, timedelta
from importlib import resources
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from routines_app.rules import zones


def _file_changes(name: str) -> list[tuple[int, int, int]]:
    """(instant, offset before, offset after) of each change of offset in the zone's file."""
    data = resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    utc, std, leaps, times, types, chars = struct.unpack(">6l", data[20:44])
    start = 44 + times * 5 + types * 6 + chars + leaps * 8 + std + utc
    *_, times, types, _chars = struct.unpack(">6l", data[start + 20 : start + 44])
    at = start + 44
    instants = struct.unpack(f">{times}q", data[at : at + 8 * times])
    kinds = data[at + 8 * times : at + 9 * times]
    table = at + 9 * times
    offsets = [
        struct.unpack(">l", data[table + 6 * i : table + 6 * i + 4])[0] for i in range(types)
    ]
    found, before = [], offsets[0]
    for instant, kind in zip(instants, kinds, strict=True):
        if offsets[kind] != before:
            found.append((instant, before, offsets[kind]))
        before = offsets[kind]
    return found


def test_no_zone_changes_more_often_than_it_is_looked_at() -> None:
    for name in zones.known_zones():
        since_1970 = [change for change in _file_changes(name) if change[0] > 0]
        for one, other in pairwise(since_1970):
            assert other[0] - one[0] > zones.PROBE.total_seconds(), name


def test_the_changes_found_are_those_of_the_zone_files() -> None:
    start, end = datetime(2010, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
    for name in sorted(zones.known_zones())[::3]:
        found = [
            (int(c.at.timestamp()), int(c.before.total_seconds()), int(c.after.total_seconds()))
            for c in zones.changes_between(start, end, ZoneInfo(name))
        ]
        stored = [c for c in _file_changes(name) if start.timestamp() < c[0] <= end.timestamp()]
        if stored:
            assert found[: len(stored)] == stored, name
        written_until = max((c[0] for c in _file_changes(name)), default=0)
        assert all(change[0] > written_until for change in found[len(stored) :]), name


def test_names_and_aliases_are_known_and_offsets_are_not() -> None:
    assert zones.check_zone("Europe/London") is None
    assert zones.check_zone("US/Eastern") is None
    assert zones.check_zone("UTC") is None
    assert len(zones.known_zones()) > 550


@pytest.mark.parametrize("name", ["+01:00", "UTC+1", "GMT-5", "utc -0300", "+0530"])
def test_an_offset_is_refused_with_what_to_do(name: str) -> None:
    assert "Choose a place" in (zones.check_zone(name) or "")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("europe/london", "Europe/London"),
        ("America/New York", "America/New_York"),
        ("Mars/Base", "Choose a place"),
        ("", "Choose a time zone"),
        ("Factory", "Choose a place"),
        ("../etc/passwd", "Choose a place"),
    ],
)
def test_a_name_that_is_not_known_is_refused_with_what_to_do(name: str, advice: str) -> None:
    assert advice in (zones.check_zone(name) or "")


def test_a_zone_is_said_as_a_person_says_it() -> None:
    assert zones.words("Europe/London") == "London time"
    assert zones.words("America/New_York") == "New York time"
    assert zones.words("UTC") == "UTC"
    assert zones.from_words("New York time") == "America/New_York"
    assert zones.from_words("london time") == "Europe/London"
    assert zones.from_words("utc") == "UTC"
    assert zones.from_words("Nowhere time") is None


def test_a_wall_time_is_its_first_pass_or_the_end_of_its_gap() -> None:
    london = ZoneInfo("Europe/London")
    assert zones.first_instant(datetime.fromisoformat("2027-03-28T01:30"), london) == datetime(
        2027, 3, 28, 1, tzinfo=UTC
    )
    assert zones.first_instant(datetime.fromisoformat("2027-10-31T01:30"), london) == datetime(
        2027, 10, 31, 0, 30, tzinfo=UTC
    )
    gap = zones.gap_over(datetime.fromisoformat("2027-03-28T01:30"), london)
    assert gap is not None
    assert gap.forward
    assert gap.after - gap.before == timedelta(hours=1)
    assert zones.happens_twice(datetime.fromisoformat("2027-03-28T01:30"), london) is None


def test_the_version_of_the_zone_data_is_known() -> None:
    assert zones.data_version().startswith("20")
