"""Sentences: what is typed becomes a schedule, and what is read back means the same again."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from routines_app.rules.cron import compile_cron
from routines_app.rules.recognise import both_days_only, same_sentence
from routines_app.rules.schedule import (
    Schedule,
    ScheduleKind,
    describe_schedule,
    expressions,
    from_json,
    next_occurrence,
    read_back,
    schedule_of,
    to_json,
    validate,
)
from routines_app.rules.sentence import Refusal, parse_sentence

LONDON = "Europe/London"
TODAY = date(2026, 11, 30)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
K = ScheduleKind
NINE = {"times": ["9:00"]}
OFFICE = {"from": 8, "to": 18, "days": [1, 2, 3, 4, 5]}

# kind, values, expressions, read back
KINDS: list[tuple[ScheduleKind, dict[str, Any], tuple[str, ...], str]] = [
    (K.WEEKDAYS, {"times": ["8:00"]}, ("0 8 * * 1-5",), "every weekday at eight in the morning"),
    (K.DAILY, {"times": ["2:00"]}, ("0 2 * * *",), "every day at two in the morning"),
    (
        K.DAILY,
        {"times": ["8:00", "17:30"]},
        ("0 8 * * *", "30 17 * * *"),
        "every day at eight in the morning and half past five in the afternoon",
    ),
    (
        K.DAILY,
        {"times": ["0:00", "8:00", "9:40", "12:00", "20:00", "23:45"]},
        ("0 0,8,12,20 * * *", "40 9 * * *", "45 23 * * *"),
        "every day at midnight, eight in the morning, 9:40, noon, eight in the evening and "
        "quarter to midnight",
    ),
    (K.WEEKENDS, NINE, ("0 9 * * 6,0",), "every Saturday and Sunday at nine in the morning"),
    (
        K.CHOSEN_DAYS,
        {"days": [1, 4], "times": ["9:40"]},
        ("40 9 * * 1,4",),
        "every Monday and Thursday at 9:40",
    ),
    (
        K.CHOSEN_DAYS,
        {"days": [0, 2, 6], "times": ["21:15"]},
        ("15 21 * * 0,2,6",),
        "every Tuesday, Saturday and Sunday at quarter past nine at night",
    ),
    (K.HOURLY, {"minute": 0}, ("0 * * * *",), "every hour, day and night"),
    (K.HOURLY, {"minute": 30}, ("30 * * * *",), "every hour at half past, day and night"),
    (K.HOURLY, {"minute": 5}, ("5 * * * *",), "every hour at :05, day and night"),
    (
        K.HOURLY,
        {"minute": 0, "window": OFFICE},
        ("0 8-18 * * 1-5",),
        "every hour from eight to six on weekdays; the last is at six",
    ),
    (
        K.HOURLY,
        {"minute": 45, "window": {"from": 6, "to": 22, "days": [0, 1, 2, 3, 4, 5, 6]}},
        ("45 6-21 * * *",),
        "every hour at quarter to from 6:00 to 22:00 every day; the last is at 21:45",
    ),
    (
        K.HOURLY,
        {"minute": 0, "window": {"from": 0, "to": 24, "days": [6]}},
        ("0 * * * 6",),
        "every hour, day and night, on Saturday",
    ),
    (K.EVERY_HOURS, {"every": 4, "minute": 0}, ("0 */4 * * *",), "every four hours, from midnight"),
    (
        K.EVERY_HOURS,
        {"every": 12, "minute": 20},
        ("20 */12 * * *",),
        "every twelve hours, from 0:20",
    ),
    (K.EVERY_MINUTES, {"every": 5}, ("*/5 * * * *",), "every five minutes, day and night"),
    (
        K.EVERY_MINUTES,
        {"every": 15, "window": OFFICE},
        ("*/15 8-17 * * 1-5",),
        "every fifteen minutes from eight on weekdays; the last is at 17:45",
    ),
    (
        K.EVERY_MINUTES,
        {"every": 20, "window": {"from": 13, "to": 24, "days": [0, 6]}},
        ("*/20 13-23 * * 6,0",),
        "every twenty minutes from 13:00 on Saturday and Sunday; the last is at 23:40",
    ),
    (
        K.MONTH_DATE,
        {"day": 31, **NINE},
        ("0 9 31 * *",),
        "on the 31st of every month at nine in the morning; five months have none, and are skipped",
    ),
    (
        K.MONTH_DATE,
        {"day": 30, **NINE},
        ("0 9 30 * *",),
        "on the 30th of every month at nine in the morning; February has none, and is skipped",
    ),
    (
        K.MONTH_DATE,
        {"day": 29, **NINE},
        ("0 9 29 * *",),
        "on the 29th of every month at nine in the morning; February has one in leap years only",
    ),
    (
        K.MONTH_LAST_DAY,
        NINE,
        ("0 9 L * *",),
        "on the last day of every month at nine in the morning",
    ),
    (
        K.MONTH_WEEKDAY,
        {"which": 1, "weekday": 1, **NINE},
        ("0 9 * * 1#1",),
        "on the first Monday of every month at nine in the morning",
    ),
    (
        K.MONTH_WEEKDAY,
        {"which": "last", "weekday": 5, **NINE},
        ("0 9 * * 5L",),
        "on the last Friday of every month at nine in the morning",
    ),
    (
        K.YEARLY,
        {"month": 4, "day": 1, "time": "9:00"},
        ("0 9 1 4 *",),
        "every 1 April at nine in the morning",
    ),
    (
        K.YEARLY,
        {"month": 2, "day": 29, "time": "9:00"},
        ("0 9 29 2 *",),
        "every 29 February at nine in the morning; leap years only",
    ),
    (
        K.ONCE,
        {"at": "2027-03-30T09:00:00+01:00"},
        (),
        "once, on Tuesday 30 March 2027 at nine in the morning",
    ),
    (K.WHEN_ASKED, {}, (), "whenever someone asks for it"),
]
IDS = [words for *_, words in KINDS]


@pytest.mark.parametrize(("kind", "values", "crons", "words"), KINDS, ids=IDS)
def test_a_kind_and_its_values_are_kept_as_cron_and_read_back(
    kind: ScheduleKind, values: dict[str, Any], crons: tuple[str, ...], words: str
) -> None:
    schedule = schedule_of(kind, values, LONDON)
    assert validate(schedule, NOW) == []
    assert expressions(schedule) == crons
    assert describe_schedule(schedule) == words
    assert from_json(to_json(schedule)) == schedule


@pytest.mark.parametrize(("kind", "values", "crons", "words"), KINDS, ids=IDS)
def test_what_is_read_back_means_the_same_schedule(
    kind: ScheduleKind, values: dict[str, Any], crons: tuple[str, ...], words: str
) -> None:
    schedule = schedule_of(kind, values, LONDON)
    assert parse_sentence(words, LONDON, TODAY) == schedule
    assert parse_sentence(read_back(schedule), "UTC", TODAY) == (
        schedule if kind is not K.WHEN_ASKED else schedule_of(kind, values, "UTC")
    )


@pytest.mark.parametrize("kind", list(ScheduleKind))
def test_every_kind_is_in_the_round_trip(kind: ScheduleKind) -> None:
    assert kind is K.CRON or kind in {row[0] for row in KINDS}


@pytest.mark.parametrize(("kind", "values", "crons", "words"), KINDS, ids=IDS)
def test_cron_that_equals_a_sentence_is_recognised(
    kind: ScheduleKind, values: dict[str, Any], crons: tuple[str, ...], words: str
) -> None:
    if not crons:
        return
    assert same_sentence([compile_cron(text) for text in crons], LONDON) == schedule_of(
        kind, values, LONDON
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 8 * * MON-FRI", "every weekday at eight in the morning"),
        ("@daily", "every day at midnight"),
        ("@hourly", "every hour, day and night"),
        ("0 9 29 FEB ?", "every 29 February at nine in the morning; leap years only"),
        ("0 0 8 * * 1-5", "every weekday at eight in the morning"),
    ],
)
def test_other_wordings_of_a_sentence_are_recognised(text: str, words: str) -> None:
    found = same_sentence([compile_cron(text)], LONDON)
    assert found is not None
    assert describe_schedule(found) == words


@pytest.mark.parametrize(
    "text",
    [
        "0 0-23 * * *",  # fixed wall times, where every hour follows real time
        "15 30 9 * * MON-FRI",
        "0 9 13 * 5",
        "0 9 * * 1 2030",
        "*/25 * * * *",
        "0 9 1,15 * *",
        "0 9 * 3 1-5",
        "0 9 LW * *",
        "0 9 * * 1#5",
    ],
)
def test_cron_that_no_sentence_says_stays_cron(text: str) -> None:
    if len(text.split()) == 6 and text.endswith("2030"):
        text = f"0 {text}"
    assert same_sentence([compile_cron(text)], LONDON) is None


SAID: list[tuple[str, ScheduleKind, dict[str, Any]]] = [
    ("every weekday at half past eight", K.WEEKDAYS, {"times": ["8:30"]}),
    ("Weekdays at 9.", K.WEEKDAYS, NINE),
    ("at 9 every weekday", K.WEEKDAYS, NINE),
    ("Run it every working day at 9am", K.WEEKDAYS, NINE),
    ("every Monday to Friday at 9", K.WEEKDAYS, NINE),
    ("daily at 8:00 and 17:30", K.DAILY, {"times": ["8:00", "17:30"]}),
    ("every day at 9, 9:00 and 09:00", K.DAILY, NINE),
    ("every evening at 8", K.DAILY, {"times": ["20:00"]}),
    ("every morning at 7", K.DAILY, {"times": ["7:00"]}),
    ("every weekday at 2 and 3 in the afternoon", K.WEEKDAYS, {"times": ["14:00", "15:00"]}),
    ("on weekends at 10", K.WEEKENDS, {"times": ["10:00"]}),
    ("Mondays and Thursdays at 9:40", K.CHOSEN_DAYS, {"days": [1, 4], "times": ["9:40"]}),
    ("every week on Sunday at noon", K.CHOSEN_DAYS, {"days": [0], "times": ["12:00"]}),
    ("every 15 minutes from 8 to 18 on weekdays", K.EVERY_MINUTES, {"every": 15, "window": OFFICE}),
    ("weekdays, every 15 minutes from 8 to 18", K.EVERY_MINUTES, {"every": 15, "window": OFFICE}),
    ("noon every day", K.DAILY, {"times": ["12:00"]}),
    ("9am daily", K.DAILY, NINE),
    ("every quarter of an hour", K.EVERY_MINUTES, {"every": 15}),
    ("every half hour", K.EVERY_MINUTES, {"every": 30}),
    ("every 60 minutes", K.HOURLY, {"minute": 0}),
    (
        "hourly from 9 to 5 on weekdays",
        K.HOURLY,
        {"minute": 0, "window": {"from": 9, "to": 17, "days": [1, 2, 3, 4, 5]}},
    ),
    ("every hour at :15", K.HOURLY, {"minute": 15}),
    ("every 4 hours", K.EVERY_HOURS, {"every": 4, "minute": 0}),
    ("first Monday of every month at 9", K.MONTH_WEEKDAY, {"which": 1, "weekday": 1, **NINE}),
    (
        "every second Tuesday of the month at 9",
        K.MONTH_WEEKDAY,
        {"which": 2, "weekday": 2, **NINE},
    ),
    ("the last day of the month at 9", K.MONTH_LAST_DAY, NINE),
    ("monthly on the 1st at 9", K.MONTH_DATE, {"day": 1, **NINE}),
    ("every April 1 at 9am", K.YEARLY, {"month": 4, "day": 1, "time": "9:00"}),
    ("every year on 1 April at 9", K.YEARLY, {"month": 4, "day": 1, "time": "9:00"}),
    ("once on 30 March at 9", K.ONCE, {"at": "2027-03-30T09:00:00+01:00"}),
    ("once on 30 November at 9", K.ONCE, {"at": "2026-11-30T09:00:00+00:00"}),
    ("tomorrow at 9", K.ONCE, {"at": "2026-12-01T09:00:00+00:00"}),
    ("once on Friday at 9", K.ONCE, {"at": "2026-12-04T09:00:00+00:00"}),
    ("once on 2027-03-30 at 9", K.ONCE, {"at": "2027-03-30T09:00:00+01:00"}),
    ("only when asked", K.WHEN_ASKED, {}),
    ("on request", K.WHEN_ASKED, {}),
    ("0 9 * * 1-5", K.CRON, {"expressions": ["0 9 * * 1-5"]}),
    ("@daily", K.CRON, {"expressions": ["@daily"]}),
]


@pytest.mark.parametrize(("text", "kind", "values"), SAID, ids=[row[0] for row in SAID])
def test_a_typed_sentence_becomes_a_schedule(
    text: str, kind: ScheduleKind, values: dict[str, Any]
) -> None:
    assert parse_sentence(text, LONDON, TODAY) == schedule_of(kind, values, LONDON)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("every weekday at 9, New York time", "America/New_York"),
        ("every weekday at 9 in Paris time", "Europe/Paris"),
        ("every weekday at 9, UTC", "UTC"),
        ("every weekday at 9, Asia/Tokyo", "Asia/Tokyo"),
        ("every weekday at 9", LONDON),
    ],
)
def test_a_zone_may_be_named_in_the_sentence(text: str, zone: str) -> None:
    assert parse_sentence(text, LONDON) == schedule_of(K.WEEKDAYS, NINE, zone)


ASKED_BACK = [
    ("every weekday at 5", ("5:00", "17:00")),
    ("every day at 2", ("2:00", "14:00")),
    ("once tomorrow at 3", ("3:00", "15:00")),
    ("every hour from 2 to 6", ("from 2:00", "from 14:00")),
]


@pytest.mark.parametrize(("text", "choices"), ASKED_BACK)
def test_a_sentence_with_two_meanings_asks(text: str, choices: tuple[str, ...]) -> None:
    found = parse_sentence(text, LONDON, TODAY)
    assert isinstance(found, Refusal)
    assert found.choices == choices
    assert found.sentence.endswith("?")


REFUSED = [
    ("", "every weekday at 8:00"),
    ("every " * 500, "256 characters"),
    ("sometimes", "every weekday at 8:00"),
    ("every weekday", "every weekday at 8:00"),
    ("every weekday at teatime", "8:00"),
    ("every 7 minutes", "5, 10, 15, 20 or 30"),
    ("every 10 seconds", "5, 10, 15, 20 or 30"),
    ("every 5 hours", "2, 3, 4, 6, 8 or 12"),
    ("every 4 hours from 1:15", "from 0:15"),
    ("every other week", "Choose every one"),
    ("every second Monday at 9", "Choose every one"),
    ("every month at 9", "on the 1st"),
    ("every 30 February at 9", "never has a 30th"),
    ("every 1 April at 9 and 10", "one time"),
    ("once on 30 March", "At what time"),
    ("once on Monday 30 March 2027 at 9", "is a Tuesday"),
    ("once on 29 February 2027 at 9", "has no 29th"),
    ("every 4 hours on weekdays", "0 */4 * * 1-5"),
    ("every weekday at 9; and Saturdays at 10", "several times in one"),
    ("every weekday at 9, EST", "8:00"),
    ("every hour from 18 to 8", "later than the start"),
    ("every day at 1:10, 2:10, 3:10, 4:10, 5:10, 6:10, 8:10", "up to six"),
    ("every weekday at 9, Atlantis time", "Name a city"),
    ("61 * * * *", "0 to 59"),
    ("@reboot", "@daily"),
]


@pytest.mark.parametrize(("text", "advice"), REFUSED)
def test_a_sentence_that_is_not_understood_says_what_to_do(text: str, advice: str) -> None:
    found = parse_sentence(text, LONDON, TODAY)
    assert isinstance(found, Refusal)
    assert advice in found.sentence
    assert found.choices == ()


def test_a_date_without_a_year_needs_a_day_to_count_from() -> None:
    found = parse_sentence("once on 30 March at 9", LONDON)
    assert isinstance(found, Refusal)
    assert "Which year" in found.sentence


def test_times_at_different_minutes_are_never_a_product() -> None:
    schedule = schedule_of(K.DAILY, {"times": ["17:30", "8:00", "08:00"]}, "UTC")
    assert schedule.values["times"] == ["8:00", "17:30"]
    after = datetime(2026, 11, 30, tzinfo=UTC)
    found = []
    while len(found) < 3:
        at = next_occurrence(schedule, after)
        assert at is not None
        found.append(at.strftime("%H:%M"))
        after = at
    assert found == ["08:00", "17:30", "08:00"]


def test_once_fires_once() -> None:
    schedule = schedule_of(K.ONCE, {"at": "2027-03-30T09:00:00+01:00"}, LONDON)
    at = datetime(2027, 3, 30, 8, tzinfo=UTC)
    assert next_occurrence(schedule, NOW) == at
    assert next_occurrence(schedule, at) is None
    assert next_occurrence(schedule_of(K.WHEN_ASKED, {}, LONDON), NOW) is None


def test_a_near_date_is_read_back_without_its_year() -> None:
    schedule = schedule_of(K.ONCE, {"at": "2027-03-30T09:00:00+01:00"}, LONDON)
    assert describe_schedule(schedule, TODAY) == "once, on Tuesday 30 March at nine in the morning"
    assert "2027" in describe_schedule(schedule, date(2025, 1, 1))


def test_friday_the_13th_is_offered_as_a_check() -> None:
    offer = both_days_only(compile_cron("0 9 13 * 5"), LONDON)
    assert offer is not None
    assert offer.words == "Friday the 13th only"
    assert offer.expression == "0 9 13 * *"
    assert offer.check == "TZ=Europe/London date +%u | grep -q '[5]'"
    assert both_days_only(compile_cron("0 9 13 * *"), LONDON) is None


def _fields(schedule: Schedule) -> list[str]:
    return [error.field for error in validate(schedule, NOW)]


INVALID: list[tuple[ScheduleKind, dict[str, Any], list[str]]] = [
    (K.WEEKDAYS, {}, ["times"]),
    (K.WEEKDAYS, {"times": []}, ["times"]),
    (K.WEEKDAYS, {"times": ["8:00", "noonish"]}, ["times"]),
    (K.WEEKDAYS, {"times": "8:00"}, ["times"]),
    (K.DAILY, {"times": [f"{hour}:00" for hour in range(7)]}, ["times"]),
    (K.CHOSEN_DAYS, {"days": [], **NINE}, ["days"]),
    (K.CHOSEN_DAYS, {"days": [7], **NINE}, ["days"]),
    (K.CHOSEN_DAYS, {"days": [True], "times": []}, ["days", "times"]),
    (K.HOURLY, {"minute": 60}, ["minute"]),
    (K.HOURLY, {"minute": 0, "window": {"from": 18, "to": 8, "days": [1]}}, ["window"]),
    (K.HOURLY, {"minute": 0, "window": {"from": 8, "to": 18}}, ["window"]),
    (K.HOURLY, {"minute": 0, "window": {"from": 8, "to": 25, "days": [1]}}, ["window"]),
    (K.HOURLY, {"minute": 0, "window": "8 to 18"}, ["window"]),
    (K.EVERY_HOURS, {"every": 5, "minute": 0}, ["every"]),
    (K.EVERY_MINUTES, {"every": 7}, ["every"]),
    (K.MONTH_DATE, {"day": 32, **NINE}, ["day"]),
    (K.MONTH_WEEKDAY, {"which": 5, "weekday": 8, **NINE}, ["which", "weekday"]),
    (K.YEARLY, {"month": 2, "day": 30, "time": "9:00"}, ["day"]),
    (K.YEARLY, {"month": 13, "day": 1, "time": "25:00"}, ["month", "time"]),
    (K.ONCE, {"at": "2027-03-30T09:00:00"}, ["at"]),
    (K.ONCE, {"at": "2027-02-30T09:00:00Z"}, ["at"]),
    (K.ONCE, {"at": "2026-11-30T11:59:59Z"}, ["at"]),
    (K.ONCE, {"at": "9999-12-31T23:59:59-14:00"}, ["at"]),
    (K.ONCE, {"at": "0001-01-01T00:00:00+14:00"}, ["at"]),
    (K.ONCE, {"at": 1_800_000_000}, ["at"]),
    (K.ONCE, {"at": "2026-11-30T12:00:00Z"}, ["at"]),
    (K.CRON, {"expressions": []}, ["expressions"]),
    (K.CRON, {"expressions": ["0 9 * * *", "61 * * * *", 3]}, ["expressions", "expressions"]),
    (K.CRON, {"expressions": ["0 9 * * *"] * 13}, ["expressions"]),
    (K.CRON, {"expressions": ["0 0 9 1 1 ? 2020"]}, ["expressions"]),
]


@pytest.mark.parametrize(("kind", "values", "fields"), INVALID)
def test_values_that_do_not_fit_are_refused_by_field(
    kind: ScheduleKind, values: dict[str, Any], fields: list[str]
) -> None:
    schedule = schedule_of(kind, values, LONDON)
    errors = validate(schedule, NOW)
    assert [error.field for error in errors] == fields
    assert all(error.sentence.endswith(".") for error in errors)


def test_a_zone_that_is_an_offset_is_refused() -> None:
    assert _fields(schedule_of(K.DAILY, NINE, "+01:00")) == ["zone"]


def test_a_schedule_that_never_runs_says_why() -> None:
    (error,) = validate(schedule_of(K.CRON, {"expressions": ["0 0 30 2 *"]}, LONDON), NOW)
    assert error.sentence.startswith("February never has a 30th. This would never run.")


@pytest.mark.parametrize(
    "stored", [{}, {"kind": "daily", "values": []}, {"kind": "x", "values": {}, "zone": "UTC"}]
)
def test_stored_text_of_another_shape_is_an_error(stored: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        from_json(stored)


DAY_SETS = [[0, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5], [0, 6], [3], [1, 4]]


def _windows() -> list[dict[str, Any]]:
    return [
        {"from": start, "to": end, "days": DAY_SETS[(start + end) % len(DAY_SETS)]}
        for start in range(24)
        for end in range(start + 1, 25)
    ]


def _same_again(schedule: Schedule) -> None:
    assert validate(schedule, NOW) == []
    assert parse_sentence(read_back(schedule), "UTC", TODAY) == schedule, read_back(schedule)
    crons = [compile_cron(text) for text in expressions(schedule)]
    recognised = same_sentence(crons, schedule.zone)
    assert recognised is not None, read_back(schedule)
    again = [compile_cron(text) for text in expressions(recognised)]
    if len(crons) == len(again) == 1:
        assert again[0].means_the_same(crons[0])


def test_every_window_reads_back_to_itself() -> None:
    for window in _windows():
        for minute in (0, 7, 30, 45):
            _same_again(schedule_of(K.HOURLY, {"minute": minute, "window": window}, LONDON))
        for every in (5, 15, 30):
            _same_again(schedule_of(K.EVERY_MINUTES, {"every": every, "window": window}, LONDON))


def test_every_date_weekday_and_step_reads_back_to_itself() -> None:
    times = {"times": ["0:00", "8:45", "12:15", "19:30"]}
    for day in range(1, 32):
        _same_again(schedule_of(K.MONTH_DATE, {"day": day, **times}, "America/New_York"))
    for weekday in range(7):
        for which in (1, 2, 3, 4, "last"):
            values = {"which": which, "weekday": weekday, **times}
            _same_again(schedule_of(K.MONTH_WEEKDAY, values, "Asia/Tokyo"))
    for chosen in range(1, 128):
        days = [day for day in range(7) if chosen & (1 << day)]
        _same_again(schedule_of(K.CHOSEN_DAYS, {"days": days, **times}, "UTC"))
    for every in (2, 3, 4, 6, 8):
        for minute in range(60):
            _same_again(schedule_of(K.EVERY_HOURS, {"every": every, "minute": minute}, LONDON))
    for month, day in [(1, 31), (2, 1), (2, 29), (6, 30), (12, 25)]:
        _same_again(schedule_of(K.YEARLY, {"month": month, "day": day, "time": "6:15"}, LONDON))


def test_every_zone_is_named_so_that_it_is_found_again() -> None:
    missing = []
    for zone in ("Europe/London", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"):
        schedule = schedule_of(K.DAILY, NINE, zone)
        if parse_sentence(read_back(schedule), LONDON) != schedule:
            missing.append(zone)
    assert missing == []
