"""When a routine has been quiet for too long: twelve histories, lived through hour by hour."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from routines_app.rules.quiet import (
    Ended,
    Quiet,
    QuietFacts,
    as_facts,
    from_facts,
    heard,
    quiet_sentence,
    too_quiet,
)
from routines_app.rules.schedule import Schedule, ScheduleKind, next_occurrence
from routines_app.rules.status import RunStatus

START = datetime(2027, 3, 1, 7, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)

DONE, SAME = RunStatus.DONE_CHANGED, RunStatus.DONE_UNCHANGED
NONE, MISSED = RunStatus.NOTHING_TO_DO, RunStatus.SKIP_MISSED
OVERLAP, OFF, PAUSED = RunStatus.SKIP_OVERLAP, RunStatus.SKIP_OFF, RunStatus.SKIP_PAUSED
FAILED, STOPPED = RunStatus.FAIL_MODEL, RunStatus.STOP_PERSON

DAILY = Schedule(ScheduleKind.DAILY, {"times": ["8:00"]}, "UTC")
HOURLY = Schedule(ScheduleKind.HOURLY, {"minute": 0}, "UTC")
WEEKLY = Schedule(ScheduleKind.CRON, {"expressions": ["0 8 * * 1"]}, "UTC")


@dataclass(frozen=True)
class History:
    """What a schedule's runs end as, in turn, the last for ever; what its owner set; and what is
    said, at which instant each, in `days` days.
    """

    name: str
    schedule: Schedule
    ends: tuple[RunStatus, ...]
    rings: tuple[tuple[timedelta, str], ...]
    allowed: int | None = None
    days: int = 40


def after(days: int, hours: float = 0.0) -> timedelta:
    return timedelta(days=days, hours=hours)


HISTORIES = (
    History("useful each day", DAILY, (DONE,), ()),
    History(
        "ten quiet checks in a row",
        DAILY,
        (DONE, *[NONE] * 40),
        ((after(10, 1), "Nothing useful in 10 days: 10 quiet checks."),),
    ),
    History(
        "quiet checks and skips",
        DAILY,
        (DONE, *[NONE] * 5, MISSED, *[NONE] * 3, OVERLAP, *[NONE] * 30),
        ((after(10, 1), "Nothing useful in 10 days: 8 quiet checks, 2 skipped."),),
    ),
    History(
        "nothing to report is nothing useful",
        DAILY,
        (DONE, *[SAME] * 4, *[NONE] * 40),
        (
            (
                after(10, 1),
                "Nothing useful in 10 days: 6 quiet checks, 4 with nothing to report.",
            ),
        ),
    ),
    History("useful every ninth time", DAILY, (DONE, *[NONE] * 8) * 5, ()),
    History(
        "a failure is told by itself, and counting begins anew",
        DAILY,
        (DONE, *[NONE] * 6, FAILED, *[NONE] * 40),
        ((after(17, 1), "Nothing useful in 10 days: 10 quiet checks."),),
    ),
    History(
        "useful again, then quiet again",
        DAILY,
        (DONE, *[NONE] * 12, DONE, *[NONE] * 40),
        (
            (after(10, 1), "Nothing useful in 10 days: 10 quiet checks."),
            (after(23, 1), "Nothing useful in 10 days: 10 quiet checks."),
        ),
    ),
    History(
        "never useful since it was turned on",
        DAILY,
        (NONE,),
        ((after(9, 1), "Nothing useful in 9 days: 10 quiet checks."),),
    ),
    History(
        "each hour: not before a day has gone",
        HOURLY,
        (DONE, *[NONE] * 999),
        ((after(1, 1), "Nothing useful in 24 hours: 24 quiet checks."),),
        days=5,
    ),
    History(
        "its owner says three days",
        WEEKLY,
        (DONE, *[NONE] * 9),
        ((after(7, 1), "Nothing useful in 7 days: 1 quiet check."),),
        allowed=3,
    ),
    History("its owner says never", DAILY, (NONE,), (), allowed=0),
    History("people turned it off and stopped it", DAILY, (DONE, OFF, PAUSED, *[STOPPED] * 40), ()),
)


def lived(history: History) -> Iterator[tuple[timedelta, str]]:
    """Each ring of a history, looked for once an hour in virtual time."""
    now, since, told = START, START, datetime.min.replace(tzinfo=UTC)
    ended: list[Ended] = []
    coming = iter([*history.ends, *[history.ends[-1]] * 2000])
    due = next_occurrence(history.schedule, now)
    while now < START + timedelta(days=history.days):
        while due is not None and due <= now:
            status = next(coming)
            if heard(status):
                since, ended = due, []
            else:
                ended.append(Ended(status))
            due = next_occurrence(history.schedule, due)
        quiet = too_quiet(QuietFacts(now, since, tuple(ended), history.allowed))
        if quiet is not None and since > told:
            told = since
            yield now - START, quiet_sentence(quiet, now).text
        now += HOUR


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.name)
def test_twelve_histories(history: History) -> None:
    assert tuple(lived(history)) == history.rings


def test_there_are_twelve() -> None:
    assert len(HISTORIES) == 12


def test_the_sentence_of_the_guide() -> None:
    now = START + timedelta(days=11)
    said = quiet_sentence(Quiet(START, checks=9, skipped=2), now)
    assert said.text == "Nothing useful in 11 days: 9 quiet checks, 2 skipped."


def test_a_range_of_missed_times_counts_whole() -> None:
    facts = QuietFacts(START + timedelta(days=3), START, (Ended(MISSED, 1_500),))
    assert too_quiet(facts) == Quiet(START, skipped=1_500)


def test_what_a_person_asked_for_is_no_due_time() -> None:
    ended = (Ended(NONE, 9), Ended(NONE, 30, due=False))
    facts = QuietFacts(START + timedelta(days=30), START, ended)
    assert too_quiet(facts) is None
    assert too_quiet(QuietFacts(facts.now, START, (*ended, Ended(NONE)))) is not None


def test_a_notice_gives_back_what_it_was_given() -> None:
    now = START + timedelta(days=11)
    quiet = Quiet(START, checks=9, unchanged=1, skipped=2)
    assert from_facts(as_facts(quiet, now)) == (quiet, now)
