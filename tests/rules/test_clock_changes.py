"""What the next-five list says beside a fire that a clock change touches."""

from datetime import UTC, datetime
from typing import Any

import pytest

from routines_app.rules.clock_changes import Note, Tone, next_fires, rare_note
from routines_app.rules.schedule import Schedule, ScheduleKind, schedule_of

LONDON, NEW_YORK = "Europe/London", "America/New_York"
K = ScheduleKind


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _cron(zone: str, *texts: str) -> Schedule:
    return schedule_of(K.CRON, {"expressions": [*texts]}, zone)


def _lines(schedule: Schedule, after: str, **more: Any) -> list[tuple[str, str, Note | None]]:
    fires = next_fires(schedule, _utc(after), **more)
    return [(fire.wall.strftime("%d %b"), fire.time, fire.note) for fire in fires]


def test_a_change_that_does_not_touch_the_run_is_reassuring() -> None:
    schedule = schedule_of(K.WEEKDAYS, {"times": ["8:00"]}, LONDON)
    lines = _lines(schedule, "2027-03-25T09:41")
    assert [line[:2] for line in lines] == [
        ("26 Mar", "8:00"),
        ("29 Mar", "8:00"),
        ("30 Mar", "8:00"),
        ("31 Mar", "8:00"),
        ("01 Apr", "8:00"),
    ]
    assert [line[2] for line in lines] == [
        None,
        Note("Clocks go forward on Sunday. Still eight o'clock.", Tone.STEADY),
        None,
        None,
        None,
    ]


def test_a_time_that_does_not_exist_is_amber() -> None:
    lines = _lines(_cron(LONDON, "30 1,13 * * 6,0"), "2027-03-26T09:41")
    assert lines[2] == (
        "28 Mar",
        "2:00",
        Note(
            "1:30 doesn't exist that night: clocks jump from 1:00 to 2:00. "
            "It runs at the first real moment after.",
            Tone.CHANGED,
        ),
    )
    assert [line[2] for line in lines if line[1] != "2:00"] == [None] * 4


def test_several_times_that_do_not_exist_run_once() -> None:
    lines = _lines(_cron(NEW_YORK, "5,25,55 2 * * *"), "2027-03-14T06:59", n=1)
    assert lines[0][1] == "3:00"
    assert lines[0][2] == Note(
        "2:05, 2:25 and 2:55 don't exist that night: clocks jump from 2:00 to 3:00. "
        "It runs once, at the first real moment after.",
        Tone.CHANGED,
    )


def test_a_time_that_happens_twice_runs_the_first_time_only() -> None:
    schedule = schedule_of(K.DAILY, {"times": ["1:30"]}, LONDON)
    notes = [line[2] for line in _lines(schedule, "2027-10-29T23:50")]
    assert notes == [
        None,
        Note(
            "1:30 happens twice that night: clocks go back from 2:00 to 1:00. "
            "It runs the first time only.",
            Tone.CHANGED,
        ),
        None,
        None,
        None,
    ]


def test_real_time_says_so_in_spring_and_in_autumn() -> None:
    schedule = schedule_of(K.EVERY_MINUTES, {"every": 30}, LONDON)
    spring = _lines(schedule, "2027-03-28T00:00", n=3)
    assert [line[1] for line in spring] == ["0:30", "2:00", "2:30"]
    assert spring[1][2] == Note(
        "Clocks go forward on Sunday, from 1:00 to 2:00. "
        "It follows real time, so nothing runs in the time that is skipped.",
        Tone.CHANGED,
    )
    autumn = _lines(schedule, "2027-10-31T00:00", n=4)
    assert [line[1] for line in autumn] == ["1:30", "1:00", "1:30", "2:00"]
    assert [line[2] for line in autumn] == [
        None,
        Note(
            "Clocks go back on Sunday, from 2:00 to 1:00. "
            "It follows real time, so it runs in both passes.",
            Tone.CHANGED,
        ),
        None,
        None,
    ]


def test_real_time_that_no_change_touches_is_reassuring() -> None:
    window = {"from": 8, "to": 18, "days": [1, 2, 3, 4, 5]}
    schedule = schedule_of(K.EVERY_MINUTES, {"every": 15, "window": window}, LONDON)
    lines = _lines(schedule, "2027-03-26T17:40", n=2)
    assert lines[1] == (
        "29 Mar",
        "8:00",
        Note("Clocks go forward on Sunday. Still eight o'clock.", Tone.STEADY),
    )


def test_a_day_on_which_nothing_fires_is_named() -> None:
    lines = _lines(_cron(NEW_YORK, "*/10 2 * * *"), "2027-03-13T07:45", n=2)
    assert [line[:2] for line in lines] == [("13 Mar", "2:50"), ("15 Mar", "2:00")]
    assert lines[1][2] == Note(
        "Nothing on Sunday 14 March: clocks jump from 2:00 to 3:00, so its times don't exist.",
        Tone.CHANGED,
    )


def test_a_day_that_a_zone_skipped_is_named() -> None:
    schedule = schedule_of(K.DAILY, {"times": ["9:00"]}, "Pacific/Apia")
    lines = _lines(schedule, "2011-12-29T20:00", n=2)
    assert [line[:2] for line in lines] == [("31 Dec", "0:00"), ("31 Dec", "9:00")]
    assert lines[0][2] is not None
    assert lines[0][2].text.startswith("Friday 30 December doesn't exist there.")


def test_a_change_weeks_before_the_fire_is_not_mentioned() -> None:
    schedule = schedule_of(K.YEARLY, {"month": 5, "day": 20, "time": "9:00"}, LONDON)
    assert [line[2] for line in _lines(schedule, "2027-03-25T09:41", n=3)] == [None, None, None]


def test_a_distant_change_has_its_date() -> None:
    schedule = schedule_of(K.MONTH_DATE, {"day": 31, "times": ["9:00"]}, LONDON)
    note = _lines(schedule, "2027-09-01T00:00", n=1)[0][2]
    assert note == Note("Clocks go back on Sunday 31 October. Still nine o'clock.", Tone.STEADY)


def test_abbreviations_are_shown_only_when_the_list_crosses_a_change() -> None:
    schedule = schedule_of(K.DAILY, {"times": ["8:00"]}, LONDON)
    crossing = next_fires(schedule, _utc("2027-03-26T09:00"), 3)
    assert [fire.abbreviation for fire in crossing] == ["GMT", "BST", "BST"]
    quiet = next_fires(schedule, _utc("2027-05-26T09:00"), 3)
    assert [fire.abbreviation for fire in quiet] == [None, None, None]


def test_another_viewer_sees_their_own_time_and_their_own_change() -> None:
    fires = next_fires(
        _cron(NEW_YORK, "15 30 9 * * MON-FRI"), _utc("2027-03-25T09:41"), 5, viewer_zone=LONDON
    )
    assert [fire.time for fire in fires] == ["9:30:15"] * 5
    assert [fire.viewer_time for fire in fires] == ["13:30:15"] * 2 + ["14:30:15"] * 3
    assert [fire.note for fire in fires] == [
        None,
        None,
        Note(
            "London's clocks go forward on Sunday. Still half past nine in New York.", Tone.STEADY
        ),
        None,
        None,
    ]


def test_a_viewer_in_the_same_zone_sees_one_time() -> None:
    schedule = schedule_of(K.DAILY, {"times": ["8:00"]}, LONDON)
    fires = next_fires(schedule, _utc("2027-03-26T09:00"), 2, viewer_zone=LONDON)
    assert [fire.viewer_time for fire in fires] == [None, None]


def test_nothing_is_listed_when_nothing_follows() -> None:
    assert next_fires(schedule_of(K.WHEN_ASKED, {}, LONDON), _utc("2027-03-26T09:00")) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 9 29 2 *", "The next run is on Tuesday 29 February 2028, 340 days from now."),
        ("0 9 1 6 *", "The next run is on Tuesday 1 June 2027, 67 days from now."),
        ("0 9 1 5 *", None),
    ],
)
def test_a_next_run_over_sixty_days_off_is_said_out_loud(text: str, words: str | None) -> None:
    assert rare_note(_cron(LONDON, text), _utc("2027-03-25T09:41")) == words
