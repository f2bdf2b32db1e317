"""Today on one line."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import Workspace
from routines_app.rules.status import RunStatus
from routines_app.web import ribbon
from routines_app.web.ribbon import today_of
from tests.factories import make_routine, make_run, make_workspace

NOW = datetime(2027, 3, 25, 9, 41, tzinfo=UTC)  # a Thursday; London is on GMT until Sunday
LONDON = "Europe/London"


@pytest.fixture
def workspace(harbour: Workspace) -> Workspace:
    return harbour


def test_the_day_is_said_in_words(workspace: Workspace) -> None:
    routine = make_routine(
        workspace, schedule_kind="hourly", schedule_values={"minute": 0}, zone=LONDON,
        next_fire_at=NOW.replace(hour=10, minute=0),
    )  # fmt: skip
    for hour in range(3):
        make_run(routine, at=NOW.replace(hour=hour, minute=0))
    make_run(routine, RunStatus.FAIL_AGENT, at=NOW.replace(hour=9, minute=0))
    make_run(routine, RunStatus.SKIP_OVERLAP, at=NOW.replace(hour=4, minute=0))
    make_run(routine, at=NOW - timedelta(days=1))
    today = today_of(workspace, [routine], NOW, LONDON)
    assert today.heading == "Thursday 25 March"
    assert "Today so far: 5 runs. 3 done, 1 didn’t run, 1 failed." in today.drawing
    assert f"More to come; next is {routine.name} at 10:00." in today.drawing
    assert today.drawing.count('class="next"') == 14  # 10:00 to 23:00
    assert today.drawing.count('class="done"') == 3
    assert today.slept == "three ran while you slept"
    assert 'x="0.000%"' in today.drawing and ">9:41<" in today.drawing


def test_a_short_day_is_drawn_by_real_time(workspace: Workspace) -> None:
    sunday = datetime(2027, 3, 28, 11, 0, tzinfo=UTC)  # noon in London, eleven hours into the day
    today = today_of(workspace, [], sunday, LONDON)
    assert f'x="{100 * 11 / 23:.3f}%"' in today.drawing
    assert today.odd == "23 hours" and today.drawing.count("M0 38v") == 24
    assert f'<text x="{100 * 5 / 23:.3f}%" y="14" text-anchor="middle">6:00</text>' in today.hours
    assert today.slept == ""


def test_a_long_day_has_a_notch_for_each_real_hour(workspace: Workspace) -> None:
    autumn = datetime(2027, 10, 31, 12, 0, tzinfo=UTC)  # noon in London, 13 hours into the day
    today = today_of(workspace, [], autumn, LONDON)
    assert today.odd == "25 hours" and today.drawing.count("M0 38v") == 26
    assert f'<text x="{100 * 13 / 25:.3f}%" y="14" text-anchor="middle">12:00</text>' in today.hours
    assert today_of(workspace, [], NOW, LONDON).odd == ""


def test_what_is_late_waits_on_the_line(workspace: Workspace) -> None:
    late = [NOW - timedelta(minutes=1), NOW - timedelta(days=1)]
    today = today_of(workspace, [], NOW, LONDON, late=late)
    assert today.drawing.count('class="next wait"') == 1 and "1 waiting" in today.drawing


def test_many_marks_show_the_worst_of_each_quarter(workspace: Workspace) -> None:
    routine = make_routine(workspace, enabled=False)
    for minute in range(61):
        at = NOW.replace(hour=6, minute=0) + timedelta(minutes=minute)
        status = RunStatus.FAIL_AGENT if minute == 20 else RunStatus.NOTHING_TO_DO
        make_run(routine, status, at=at)
    today = today_of(workspace, [routine], NOW, LONDON)
    assert today.drawing.count('class="fail"') == 1
    assert today.drawing.count('class="stub"') == 4  # 6:00, 6:30, 6:45, 7:00
    assert "61 runs" in today.drawing


def test_frequent_schedules_come_as_one_mark_a_quarter(workspace: Workspace) -> None:
    routine = make_routine(
        workspace, schedule_kind="every_minutes", schedule_values={"every": 5}, zone="UTC",
        next_fire_at=NOW.replace(minute=45),
    )  # fmt: skip
    today = today_of(workspace, [routine, routine], NOW, "UTC")
    assert today.drawing.count('class="next"') == 57  # each quarter from 9:45 to 23:45


def test_another_workspace_isnt_counted(workspace: Workspace) -> None:
    make_run(make_routine(make_workspace()), at=NOW - timedelta(hours=1))
    assert "0 runs" in today_of(workspace, [], NOW, LONDON).drawing


def test_a_late_occurrence_hides_no_later_one(workspace: Workspace) -> None:
    routine = make_routine(
        workspace, schedule_kind="every_minutes", schedule_values={"every": 5}, zone="UTC",
        next_fire_at=NOW - timedelta(minutes=1),
    )  # fmt: skip
    assert today_of(workspace, [routine], NOW, "UTC").drawing.count('class="next"') == 57


def test_hundreds_of_routines_take_no_longer(workspace: Workspace) -> None:
    asked = []
    routines = [
        make_routine(
            workspace, schedule_kind="hourly", schedule_values={"minute": minute % 60}, zone="UTC",
            next_fire_at=NOW.replace(hour=10, minute=minute % 60),
        )
        for minute in range(120)
    ]  # fmt: skip
    real = ribbon.next_occurrence

    def counting(*args: object) -> object:
        asked.append(args)
        return real(*args)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ribbon, "next_occurrence", counting)
        drawn = today_of(workspace, routines, NOW, "UTC").drawing
    assert drawn.count('class="next"') == 56  # 10:00 to 23:45
    assert len(asked) < 60 * 15
