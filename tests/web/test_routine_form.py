"""The form: each sentence goes out and comes back unchanged, and nothing typed is ever lost."""

import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils.datastructures import MultiValueDict

from accounts.models import Role, User, Workspace
from foundation import clock
from machines.models import Machine
from routines_app.configure.content import RoutineContent
from routines_app.configure.routine import create_routine
from routines_app.models import Agent, Routine, RoutineTotals, RoutineVersion, Run
from routines_app.rules.schedule import Schedule, ScheduleKind, schedule_of
from routines_app.rules.status import RunStatus
from routines_app.web.form_read import read_schedule
from routines_app.web.form_state import FormState, state_of
from routines_app.web.sentence import OPTIONS, figures
from tests.factories import make_member, make_run

NEW = "/w/harbour/routines/new/"
PREVIEW = "/w/harbour/routines/schedule/preview"
WORKDAYS = [1, 2, 3, 4, 5]

SCHEDULES: list[tuple[ScheduleKind, dict[str, Any], str]] = [
    (ScheduleKind.WEEKDAYS, {"times": ["8:00"]}, "Every weekday at 8:00"),
    (ScheduleKind.DAILY, {"times": ["8:00", "17:30"]}, "Every day at 8:00 and 17:30"),
    (ScheduleKind.WEEKENDS, {"times": ["9:00"]}, "Every weekend day at 9:00"),
    (
        ScheduleKind.CHOSEN_DAYS,
        {"days": [1, 4], "times": ["9:00", "12:00", "0:15"]},
        "Every Monday and Thursday at 0:15, 9:00 and 12:00",
    ),
    (ScheduleKind.HOURLY, {"minute": 0}, "Every hour, day and night"),
    (
        ScheduleKind.HOURLY,
        {"minute": 5, "window": {"from": 8, "to": 18, "days": WORKDAYS}},
        "Every hour at :05, 8:00 to 18:00 on weekdays",
    ),
    (ScheduleKind.EVERY_HOURS, {"every": 4, "minute": 30}, "Every 4 hours, from 0:30"),
    (ScheduleKind.EVERY_MINUTES, {"every": 15}, "Every 15 minutes, day and night"),
    (
        ScheduleKind.EVERY_MINUTES,
        {"every": 5, "window": {"from": 0, "to": 24, "days": [2, 6]}},
        "Every 5 minutes, 0:00 to 24:00 on Tuesday and Saturday",
    ),
    (ScheduleKind.MONTH_DATE, {"day": 31, "times": ["9:00"]}, "Every month on the 31st at 9:00"),
    (ScheduleKind.MONTH_LAST_DAY, {"times": ["9:00"]}, "Every month on the last day at 9:00"),
    (
        ScheduleKind.MONTH_WEEKDAY,
        {"which": "last", "weekday": 5, "times": ["16:00"]},
        "Every month on the last Friday at 16:00",
    ),
    (
        ScheduleKind.MONTH_WEEKDAY,
        {"which": 1, "weekday": 0, "times": ["16:00"]},
        "Every month on the first Sunday at 16:00",
    ),
    (ScheduleKind.YEARLY, {"month": 4, "day": 1, "time": "9:00"}, "Every 1 April at 9:00"),
    (
        ScheduleKind.ONCE,
        {"at": "2095-03-30T09:00:00+01:00"},
        "Once, on 30 March 2095 at 9:00",
    ),
    (ScheduleKind.ONCE, {"at": "2095-03-30T08:00:30Z"}, "Once, on 30 March 2095 at 9:00"),
    (ScheduleKind.WHEN_ASKED, {}, "Only when asked"),
    (
        ScheduleKind.CRON,
        {"expressions": ["30 1,13 * * 6,0"]},
        "Every weekend day at 1:30 and 13:30",
    ),
    (
        ScheduleKind.CRON,
        {"expressions": ["0 8 * * MON", "15 30 9 1 * *"]},
        "On the schedule 0 8 * * MON; 15 30 9 1 * *",
    ),
]


def fields_of(page: str) -> MultiValueDict[str, str]:
    """What a browser without script would send of the page's main form."""
    form = page[page.index('<form method="post" novalidate') : page.index("</form>")]
    sent: MultiValueDict[str, str] = MultiValueDict()

    def attribute(tag: str, name: str) -> str:
        found = re.search(rf'\b{name}="([^"]*)"', tag)
        return html.unescape(found.group(1)) if found else ""

    for found in re.finditer(
        r"<input\b[^>]*>|<select\b.*?</select>|<textarea\b.*?</textarea>", form, re.DOTALL
    ):
        tag = found.group(0)
        name = attribute(tag, "name")
        if tag.startswith("<select"):
            chosen = re.search(r'<option value="([^"]*)" selected>', tag)
            first = re.search(r'<option value="([^"]*)"', tag)
            value = chosen or first
            sent.appendlist(name, html.unescape(value.group(1)) if value else "")
        elif tag.startswith("<textarea"):
            sent.appendlist(name, html.unescape(tag[tag.index(">") + 1 : -len("</textarea>")]))
        elif attribute(tag, "type") not in ("radio", "checkbox") or " checked" in tag:
            sent.appendlist(name, attribute(tag, "value"))
    return sent


def asked(**fields: str | list[str]) -> dict[str, Any]:
    """A form that can be saved, with these fields changed."""
    return {
        "every": "weekdays",
        "was": "weekdays",
        "times": ["8:00"],
        "zone": "Europe/London",
        "agent": str(Agent.objects.get(slug="script").pk),
        "machine": str(Machine.objects.get().pk),
        "name": "Morning brief",
        "instructions": "echo 'report: done'",
        "cap": "0.50",
        "time_limit": "20",
        "step_limit": "100",
        "conversation": "fresh",
        "notify": "change",
        "then": "save",
    } | fields


def made(workspace: Workspace, person: User, schedule: Schedule) -> Routine:
    found = create_routine(
        workspace,
        person,
        RoutineContent(
            "Numbers",
            "line one\nline two\n",
            Agent.objects.get(slug="script").pk,
            Machine.objects.get().pk,
            schedule,
            folder="~/sheets",
            check_command="grep -q x y",
            cap=1_230_000,
            time_limit=timedelta(minutes=7, seconds=30),
            step_limit=12,
            conversation="continued",
            notify="failure",
        ),
        turn_on=True,
    )
    assert isinstance(found, Routine), found
    return found


@pytest.mark.parametrize(("kind", "values", "said"), SCHEDULES, ids=lambda value: str(value)[:40])
def test_each_sentence_comes_back_unchanged(
    browser_of_owner: Client,
    harbour: Workspace,
    owner: User,
    kind: ScheduleKind,
    values: dict[str, Any],
    said: str,
) -> None:
    schedule = schedule_of(kind, values, "Europe/London")
    routine = made(harbour, owner, schedule)
    assert figures(routine.schedule) == said
    edit = f"/w/harbour/routines/{routine.slug}/edit/"
    sent = fields_of(browser_of_owner.get(edit).content.decode())
    answer = browser_of_owner.post(edit, dict(sent.lists()) | {"then": "save"})
    assert answer.status_code == 302, answer.content.decode()
    again = Routine.objects.get(pk=routine.pk)
    assert again.schedule == routine.schedule
    assert again.version == 1  # nothing differed, so no version was made


@pytest.mark.parametrize(("kind", "values", "said"), SCHEDULES, ids=lambda value: str(value)[:40])
def test_each_sentence_is_made_without_script_reopened_and_saved_unchanged(
    browser_of_owner: Client,
    harbour: Workspace,
    kind: ScheduleKind,
    values: dict[str, Any],
    said: str,
) -> None:
    schedule = schedule_of(kind, values, "Europe/London")
    wanted = state_of(RoutineContent("Numbers", "echo hi", None, None, schedule), 1)
    sent = fields_of(browser_of_owner.get(NEW).content.decode())
    sent["every"] = wanted.every
    if kind is ScheduleKind.ONCE:
        sent["at"] = wanted.at  # what a reopened form carries; a typed minute has no seconds
    sent = fields_of(_posted(browser_of_owner, sent, "preview"))
    for _ in range(len(wanted.times) - 1 if "times" in sent else 0):
        sent = fields_of(_posted(browser_of_owner, sent, "time"))
    if wanted.window:
        sent["window"] = wanted.window
        # a window on other days than the usual ones comes from a written sentence or from cron
        sent["window_days"] = wanted.window_days
        sent = fields_of(_posted(browser_of_owner, sent, "preview"))
    for name in wanted.blanks | {"window_from", "window_to", "window_days"}:
        value = getattr(wanted, name)
        if name in sent or name == "days":
            sent.setlist(name, list(value) if isinstance(value, tuple) else [value])
        else:
            assert not (name in wanted.blanks and name not in ("agent", "machine")), name
    for name in ("agent", "machine"):
        sent[name] = asked()[name]
    sent["name"], sent["instructions"] = "Numbers", "echo hi"
    answer = browser_of_owner.post(NEW, dict(sent.lists()) | {"then": "save"})
    assert answer.status_code == 302, answer.content.decode()
    routine = Routine.objects.get()
    assert routine.schedule == schedule and routine.enabled and figures(routine.schedule) == said
    edit = f"/w/harbour/routines/{routine.slug}/edit/"
    reopened = fields_of(browser_of_owner.get(edit).content.decode())
    again = browser_of_owner.post(edit, dict(reopened.lists()) | {"then": "save"}, follow=True)
    assert "Nothing was different." in again.content.decode()
    routine.refresh_from_db()
    assert (routine.schedule, routine.version) == (schedule, 1)


def _posted(browser: Client, sent: MultiValueDict[str, str], then: str) -> str:
    answer = browser.post(NEW, dict(sent.lists()) | {"then": then})
    assert answer.status_code == 200, answer.content.decode()
    return answer.content.decode()


def test_every_option_has_a_case() -> None:
    assert {kind for kind, _, _ in SCHEDULES} == {option.kind for option in OPTIONS}
    assert {option.kind for option in OPTIONS} == set(ScheduleKind)


def test_saving_turns_it_on_and_says_when(browser_of_owner: Client, harbour: Workspace) -> None:
    page = browser_of_owner.post(NEW, asked(), follow=True).content.decode()
    routine = Routine.objects.get()
    assert routine.enabled and routine.next_fire_at
    assert "Morning brief is on. Next run:" in page


def test_run_it_now_saves_it_off_and_lands_on_the_run(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    answer = browser_of_owner.post(NEW, asked(then="run", key="k"))
    routine = Routine.objects.get()
    assert not routine.enabled
    assert answer["Location"] == f"/w/harbour/routines/{routine.slug}/runs/1/"
    assert Run.objects.get().fire.source == "manual"


def test_typed_times_settle(browser_of_owner: Client, harbour: Workspace) -> None:
    browser_of_owner.post(NEW, asked(times=["half past 8", "17.30", ""]))
    assert Routine.objects.get().schedule_values == {"times": ["8:30", "17:30"]}


def test_a_bare_hour_is_asked_about(browser_of_owner: Client, harbour: Workspace) -> None:
    page = browser_of_owner.post(NEW, asked(times=["1"]))
    assert page.status_code == 422
    assert "or 13:00?" in page.content.decode() and 'value="1"' in page.content.decode()


def test_errors_are_told_at_once_and_nothing_is_lost(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    sent = asked(
        times=["25 o'clock"], name="", cap="a lot", folder="/etc", check_command="grep 'x' <y>",
        instructions="Do <b>this</b>",
    )  # fmt: skip
    answer = browser_of_owner.post(NEW, sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "<title>Error: New routine" in page
    assert "Four things to fix" in page
    for field in ("times", "name", "cap", "folder"):
        assert f'<a href="#{field}">' in page
        assert re.search(rf'id="{field}"[^>]*aria-invalid="true"', page), field
        assert f'id="{field}-e"' in page
    summary = page[page.index('class="errsum"') : page.index('class="when"')]
    assert re.findall(r'<a href="#(\w+)">', summary) == ["times", "name", "folder", "cap"]
    kept = fields_of(page)
    for name in ("name", "cap", "folder", "check_command", "instructions", "time_limit"):
        assert kept[name] == sent[name]
    assert kept.getlist("times") == ["25 o'clock"]
    assert not Routine.objects.exists()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"every": "cron", "was": "cron", "expressions": "0 0 30 2 *"}, "never"),
        ({"every": "cron", "was": "cron", "expressions": "@reboot"}, "reboot"),
        ({"every": "cron", "was": "cron", "expressions": ""}, "Write a cron expression"),
        ({"every": "chosen_days", "was": "chosen_days", "days_shown": "1"}, "at least one day"),
        ({"every": "hourly", "was": "hourly", "minute": "x"}, "minute from 0 to 59"),
        ({"every": "once", "was": "once", "date": "soon", "time": "9:00"}, "Choose the date"),
        ({"every": "once", "was": "once", "date": "2020-01-01", "time": "9:00"}, "has passed"),
        ({"every": "fortnight", "was": "fortnight"}, "Choose how often"),
        ({"zone": "UTC+2"}, "offset"),
        ({"agent": "999999"}, "one of this workspace’s agents"),
        ({"machine": ""}, "one of this workspace’s machines"),
        ({"step_limit": "²"}, "steps in figures"),
        ({"time_limit": "NaN"}, "minutes in figures"),
        ({"cap": "Infinity"}, "amount in dollars"),
        ({"cap": "1e400"}, "amount in dollars"),
        ({"conversation": "loud"}, "starts fresh"),
    ],
)
def test_what_cant_be_saved_is_explained(
    browser_of_owner: Client, harbour: Workspace, fields: dict[str, str], said: str
) -> None:
    answer = browser_of_owner.post(NEW, asked(**fields))
    assert answer.status_code == 422
    assert said.casefold() in html.unescape(answer.content.decode()).casefold()
    assert not Routine.objects.exists()


def test_a_changed_first_blank_shows_its_sentence_without_saving(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    sent = asked(every="month_weekday", times=["9:00"], then="preview")
    page = browser_of_owner.post(NEW, sent)
    assert page.status_code == 200
    text = page.content.decode()
    assert 'name="which"' in text and 'value="9:00"' in text
    assert not Routine.objects.exists()
    unseen = browser_of_owner.post(NEW, asked(every="month_weekday"))
    assert unseen.status_code == 422 and "new blanks" in unseen.content.decode()


def test_writing_it_as_cron_begins_with_what_it_was(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    page = browser_of_owner.post(PREVIEW, asked(every="cron", times=["8:00"])).content.decode()
    assert 'value="0 8 * * 1-5"' in page
    assert "<b>Same as:</b> every weekday at eight in the morning." in page
    assert "Use the sentence" in page


def test_cron_that_is_a_sentence_turns_back_into_it(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    cron = {"every": "cron", "was": "cron"}
    for then, typed, every, times in (
        ("sentence", "30 1,13 * * 6,0", "weekends", ["1:30", "13:30"]),
        ("sentence", "5 4 2 * 1", "weekdays", ["8:00"]),  # no sentence says that
        ("plain", "15 30 9 * * MON-FRI", "weekdays", ["9:30"]),
    ):
        sent = asked(**cron, expressions=typed, then=then)
        kept = fields_of(browser_of_owner.post(NEW, sent).content.decode())
        assert (kept["every"], kept.getlist("times")) == (every, times), typed
    sent = asked(**cron, expressions="15 7 9 2 * MON", then="plain")
    kept = fields_of(browser_of_owner.post(NEW, sent).content.decode())
    assert kept["expressions"] == "7 9 2 * MON"


def test_both_day_fields_become_a_date_and_a_check(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    sent = asked(every="cron", was="cron", expressions="0 9 13 * 5", check_command="test -e x")
    page = browser_of_owner.post(PREVIEW, sent).content.decode()
    assert "Cron means either, not both" in page and "Make it Friday the 13th only" in page
    part = browser_of_owner.post(PREVIEW, sent | {"then": "both"}).content.decode()
    assert 'value="0 9 13 * *"' in part and 'id="check-field" hx-swap-oob="true"' in part
    kept = fields_of(browser_of_owner.post(NEW, sent | {"then": "both"}).content.decode())
    assert kept["expressions"] == "0 9 13 * *"
    check = "TZ=Europe/London date +%u | grep -q '[5]' && { test -e x; }"
    assert kept["check_command"] == check


def test_a_time_with_two_meanings_is_chosen_by_a_button(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    sent = asked(times=["8:00", "1"])
    page = browser_of_owner.post(NEW, sent | {"then": "preview"}).content.decode()
    assert 'id="times-2-e"' in page and 'name="settle" value="13:00"' in page
    first, second = (re.search(rf'<input id="{name}"[^>]*>', page) for name in ("times", "times-2"))
    assert first and "aria-invalid" not in first[0]
    assert second and 'aria-describedby="times-2-e"' in second[0]
    sent = sent | {"then": "preview", "settle": "13:00"}
    kept = fields_of(browser_of_owner.post(NEW, sent).content.decode())
    assert kept.getlist("times") == ["8:00", "13:00"]


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("*/25 * * * *", "then only ten minutes to the next"),
        ("0 0 29 2 *", "days from now."),
        ("0 9 31 * *", "five months have none"),
        ("0 0 9 * * 1 2090", "Seven fields: the first one is seconds, the last one is the year."),
    ],
)
def test_what_is_odd_about_cron_is_said(
    browser_of_owner: Client, harbour: Workspace, expression: str, said: str
) -> None:
    sent = asked(every="cron", was="cron", expressions=expression)
    assert said in html.unescape(browser_of_owner.post(PREVIEW, sent).content.decode())


def test_the_buttons_change_places_once_a_run_has_been_watched(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    def inked() -> tuple[str, str]:
        acts = browser_of_owner.get(NEW).content.decode().split('<div class="savebar">')[1]
        found = re.findall(r'<button class="btn( ink)?" name="then" value="(\w+)"', acts)
        assert [bool(ink) for ink, _ in found] == [False, True]
        return found[0][1], found[1][1]

    assert inked() == ("save", "run")
    routine = made(harbour, owner, schedule_of(ScheduleKind.WHEN_ASKED, {}, "UTC"))
    make_run(routine, RunStatus.SKIP_COLD)
    assert inked() == ("save", "run")  # nothing was to be watched
    make_run(routine, RunStatus.DONE_CHANGED)
    assert inked() == ("run", "save")


def test_a_second_click_comes_to_what_the_first_has_made(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    for then, where in (("save", ""), ("run", "runs/1/")):
        sent = asked(key=f"click-{then}", then=then, name=f"By {then}")
        first, second = (browser_of_owner.post(NEW, sent)["Location"] for _ in range(2))
        assert first == second == f"/w/harbour/routines/by-{then}/{where}"
    assert Routine.objects.count() == 2 and Run.objects.count() == 1
    other = browser_of_owner.post(NEW, asked(key="another", name="By save"))
    assert other.status_code == 422 and "Another routine here is called By save." in (
        other.content.decode()
    )


def test_what_is_likely_is_still_said_while_an_edit_is_typed(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    routine = made(harbour, owner, schedule_of(ScheduleKind.DAILY, {"times": ["8:00"]}, "UTC"))
    for _ in range(7):
        make_run(routine, RunStatus.DONE_CHANGED, spent=100_000, effects_begun_at=clock.now())
    RoutineTotals.objects.filter(routine=routine).update(runs=7)
    model = str(Agent.objects.get(slug="assistant").pk)
    edit = browser_of_owner.get(f"/w/harbour/routines/{routine.slug}/edit/").content.decode()
    sent = dict(fields_of(edit).lists()) | {"agent": [model]}
    assert "Likely about $3." in browser_of_owner.post(PREVIEW, sent).content.decode()


def test_the_preview_comes_together(browser_of_owner: Client, harbour: Workspace) -> None:
    model = str(Agent.objects.get(slug="assistant").pk)
    page = browser_of_owner.post(PREVIEW, asked(every="daily", was="daily", agent=model))
    text = page.content.decode()
    assert "every day at eight in the morning, London time" in text
    assert text.count("<li><b>") == 5
    assert "At most $" in text
    assert 'id="sentence"' in text and 'hx-swap-oob="true"' in text
    beside = browser_of_owner.post(PREVIEW, asked(part="readback")).content.decode()
    assert 'id="sentence"' not in beside and 'id="readback"' in beside


def test_what_is_wrong_stands_beneath_the_sentence_while_it_is_typed(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    wrong = asked(every="hourly", was="hourly", minute="75")
    text = browser_of_owner.post(PREVIEW, wrong | {"part": "readback"}).content.decode()
    assert '<div id="wrong-sentence" hx-swap-oob="true"' in text and 'id="minute-e"' in text
    assert text.count("Choose a minute from 0 to 59.") == 1
    whole = browser_of_owner.post(PREVIEW, wrong).content.decode()
    assert whole.count("Choose a minute from 0 to 59.") == 1
    field = re.search(r'<input id="minute"[^>]*>', whole)
    assert field and 'aria-invalid="true" aria-describedby="minute-e"' in field[0]
    added = browser_of_owner.post(PREVIEW, asked(then="time")).content.decode()
    assert 'class="err"' not in added


def test_a_custom_schedule_and_once_begin_filled(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    asked_first = asked(every="cron", was="when_asked")
    text = browser_of_owner.post(PREVIEW, asked_first).content.decode()
    assert 'value="0 8 * * 1-5"' in text and "<small>of the month</small>" in text
    text = browser_of_owner.post(PREVIEW, asked(every="once", time="9:00")).content.decode()
    tomorrow = clock.now().astimezone(ZoneInfo("Europe/London")).date() + timedelta(days=1)
    assert f'value="{tomorrow.isoformat()}"' in text and 'class="err"' not in text


def test_a_preview_of_nonsense_is_still_a_page(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    for sent in ({}, {"every": "cron", "was": "cron", "expressions": "x" * 5000}, {"zone": "\x00"}):
        assert browser_of_owner.post(PREVIEW, sent).status_code == 200


def test_a_written_sentence_fills_the_blanks(browser_of_owner: Client, harbour: Workspace) -> None:
    sent = asked(written="every weekday at half past eight", then="read", name="Kept")
    page = browser_of_owner.post(NEW, sent)
    kept = fields_of(page.content.decode())
    assert kept["every"] == "weekdays" and kept.getlist("times") == ["8:30"]
    assert kept["name"] == "Kept"
    unread = browser_of_owner.post(NEW, asked(written="when the moon is blue", then="read"))
    assert unread.status_code == 422
    assert 'value="when the moon is blue"' in unread.content.decode()


def test_one_more_time_can_be_added(browser_of_owner: Client, harbour: Workspace) -> None:
    page = browser_of_owner.post(NEW, asked(then="time")).content.decode()
    assert fields_of(page).getlist("times") == ["8:00", ""]


def test_somebody_elses_save_is_shown_beside_yours(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    routine = made(harbour, owner, schedule_of(ScheduleKind.DAILY, {"times": ["8:00"]}, "UTC"))
    edit = f"/w/harbour/routines/{routine.slug}/edit/"
    first = fields_of(browser_of_owner.get(edit).content.decode())
    theirs = dict(first.lists()) | {"name": ["Theirs"], "cap": ["0.75"], "then": ["save"]}
    assert browser_of_owner.post(edit, theirs).status_code == 302
    RoutineVersion.objects.filter(number=2).update(changed_at=clock.now() - timedelta(seconds=75))
    mine = dict(first.lists()) | {
        "name": ["Mine"], "instructions": ["echo mine"], "times": ["8:30"], "then": ["save"],
    }  # fmt: skip
    answer = browser_of_owner.post(edit, mine)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Changed by Ada Byron 1 minute ago." in page
    table = page.split("<table")[1].split("</table>")[0]
    for theirs_said, mine_said in (("Theirs", "Mine"), ("$0.75", "$1.23")):
        assert theirs_said in table and mine_said in table
    assert "eight in the morning" in table and "half past eight" in table
    kept = fields_of(page)
    assert (kept["name"], kept["times"], kept["version"]) == ("Mine", "8:30", "2")
    assert "echo mine" in page
    assert Routine.objects.get(pk=routine.pk).name == "Theirs"
    again = dict(fields_of(page).lists()) | {"then": ["save"]}
    assert browser_of_owner.post(edit, again).status_code == 302
    assert Routine.objects.get(pk=routine.pk).name == "Mine"


def test_a_live_run_keeps_what_was_typed(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    routine = made(harbour, owner, schedule_of(ScheduleKind.WHEN_ASKED, {}, "UTC"))
    make_run(routine, RunStatus.RUNNING)
    edit = f"/w/harbour/routines/{routine.slug}/edit/"
    sent = fields_of(browser_of_owner.get(edit).content.decode())
    answer = browser_of_owner.post(edit, dict(sent.lists()) | {"name": "Mine", "then": "save"})
    assert answer.status_code == 409
    assert "Run 1 is going on." in answer.content.decode()
    assert fields_of(answer.content.decode())["name"] == "Mine"
    assert Routine.objects.get(pk=routine.pk).name == "Numbers"


def test_a_member_changes_only_their_own(client: Client, harbour: Workspace, owner: User) -> None:
    routine = made(harbour, owner, schedule_of(ScheduleKind.WHEN_ASKED, {}, "UTC"))
    client.force_login(make_member(harbour, Role.MEMBER))
    assert client.get(f"/w/harbour/routines/{routine.slug}/edit/").status_code == 403
    client.force_login(make_member(harbour, Role.ADMIN))
    assert client.get(f"/w/harbour/routines/{routine.slug}/edit/").status_code == 200


def test_the_date_of_once_is_in_its_zone() -> None:
    state = FormState(
        every="once", was="once", date="2027-03-28", time="1:30", zone="Europe/London"
    )
    read = read_schedule(state)
    assert read.schedule is not None
    at = datetime.fromisoformat(read.schedule.values["at"])
    assert at.astimezone(UTC) == datetime(2027, 3, 28, 1, 0, tzinfo=UTC)  # 1:30 doesn't exist


def test_an_agent_without_a_model_is_said_before_it_is_saved(
    browser_of_owner: Client, harbour: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("routines_app.configure.models.ways_of", lambda _: [])
    start = fields_of(browser_of_owner.get(NEW).content.decode())
    assert start["agent"] == str(Agent.objects.get(slug="script").pk)
    model = str(Agent.objects.get(slug="assistant").pk)
    page = browser_of_owner.post(PREVIEW, asked(agent=model)).content.decode()
    assert "Assistant has no model to use yet." in page
    assert "has no model" not in browser_of_owner.post(PREVIEW, asked()).content.decode()


ODD = ["", "\x00", "²", "-1", "9" * 400, "<script>", "⅕", "1,9,²", "a" * 3_000, "0x1", "\u202e8:00"]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:12])
def test_nothing_that_is_sent_breaks_the_form(
    browser_of_owner: Client, harbour: Workspace, odd: str
) -> None:
    for option in OPTIONS:
        whole = {
            **{name: odd for name in vars(FormState()) if name not in ("every", "was")},
            "every": option.code,
            "was": option.code,
            "window": "hours",
            "times": [odd, odd],
            "days": [odd, "1"],
        }
        assert browser_of_owner.post(PREVIEW, whole).status_code == 200
        assert browser_of_owner.post(NEW, whole | {"then": "time"}).status_code == 200
    for name in (*vars(FormState()), "key", "written", "then"):
        then = "run" if name == "key" else "save"
        answer = browser_of_owner.post(NEW, asked(then=then) | {name: odd})
        assert answer.status_code in (200, 302, 422), (name, answer.status_code)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:12])
def test_nothing_that_is_sent_breaks_an_edit(
    browser_of_owner: Client, harbour: Workspace, owner: User, odd: str
) -> None:
    routine = made(harbour, owner, schedule_of(ScheduleKind.WHEN_ASKED, {}, "UTC"))
    edit = f"/w/harbour/routines/{routine.slug}/edit/"
    for name in ("version", "key", "starter", "at"):
        answer = browser_of_owner.post(edit, asked() | {name: odd})
        assert answer.status_code in (302, 409, 422), name
    assert browser_of_owner.post(edit.replace("edit", "run"), {"key": odd}).status_code == 302
