"""Every refusal of the form, read back as the guide says: 422, a summary whose links lead to the
fields, the same words beside each field, and all that was typed still there.

The refusals are those that the code can give: each `FieldError` of the validators has its case
here, or a reason why no form can bring it about.
"""

import ast
import html
import inspect
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.test import Client

from accounts.models import User, Workspace
from billing.models import Account
from routines_app.configure import check_try, validate
from routines_app.models import Routine
from routines_app.rules import checks, times
from routines_app.web import form_read, routine_form
from tests.factories import make_routine
from tests.web.test_routine_form import NEW, asked, fields_of

REJECTS = json.loads(Path("tests/data/schedule_rejects.json").read_text())

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"every": "fortnight", "was": "fortnight"}, "every", "Choose how often it should run."),
    ({"every": "daily", "was": "weekdays"}, "every", "The sentence has new blanks. Fill them, t"),
    ({"times": [""]}, "times", "Choose at least one time, like 8:00."),
    ({"times": [f"{hour}:00" for hour in range(8, 15)]}, "times", "Choose up to six times; this h"),
    ({"times": ["8:00", "25 o'clock"]}, "times-2", "The day ends at 23:59; midnight is 0:00."),
    ({"times": ["soon"]}, "times", "isn't a time that is understood here."),
    ({"times": ["x" * 61]}, "times", "That is too long for a time."),
    ({"times": ["20:00 am"]}, "times", "says two different times."),
    ({"times": ["1"]}, "times", "1:00 at night, or 13:00?"),
    ({"every": "yearly", "was": "yearly", "time": ""}, "time", "Type a time."),
    (
        {"every": "chosen_days", "was": "chosen_days", "days_shown": "1"},
        "days",
        "Choose at least o",
    ),
    ({"every": "hourly", "was": "hourly", "minute": "60"}, "minute", "Choose a minute from 0 to 5"),
    (
        {"every": "hourly", "was": "hourly", "minute": "0", "window": "hours", "window_from": "24"},
        "window",
        "Choose whole hours: from 0 to 23, to 1 to 24.",
    ),
    (
        {
            "every": "hourly",
            "was": "hourly",
            "minute": "0",
            "window": "hours",
            "window_from": "9",
            "window_to": "9",
        },
        "window",
        "Choose an end that is later than the start, on one day.",
    ),
    (
        {"every": "hourly", "was": "hourly", "minute": "0", "window": "hours", "window_days": ""},
        "window",
        "Choose at least one day of the week.",
    ),
    (
        {"every": "month_date", "was": "month_date", "day": "32"},
        "day",
        "Choose a day from the 1st ",
    ),
    (
        {"every": "month_weekday", "was": "month_weekday", "which": "5"},
        "which",
        "Choose first, seco",
    ),
    (
        {"every": "month_weekday", "was": "month_weekday", "weekday": "7"},
        "weekday",
        "Choose a day of the week.",
    ),
    ({"every": "yearly", "was": "yearly", "month": "13"}, "month", "Choose a month."),
    ({"every": "yearly", "was": "yearly", "day": "40"}, "day", "Choose a day from the 1st to the"),
    (
        {"every": "yearly", "was": "yearly", "day": "30", "month": "2"},
        "day",
        "February never has a 30th. This would never run. Choose another day.",
    ),
    ({"every": "once", "was": "once", "date": "soon"}, "date", "Choose the date, like 2027-03-30."),
    ({"every": "once", "was": "once", "date": "2020-01-01"}, "date", "That moment has passed."),
    (
        {"every": "once", "was": "once", "date": "9999-12-31", "time": "23:00"},
        "date",
        "Write the date, the time and its offset",
    ),
    ({"every": "once", "was": "once", "date": "2090-01-01", "zone": "UTC+2"}, "zone", "offset"),
    ({"every": "cron", "was": "cron", "expressions": ""}, "expressions", "Write a cron expression"),
    (
        {"every": "cron", "was": "cron", "expressions": ";".join(["0 8 * * *"] * 13)},
        "expressions",
        "Write up to 12 expressions; this has 13.",
    ),
    (
        {"every": "cron", "was": "cron", "expressions": "0 0 8 1 1 * 2020"},
        "expressions",
        "has no run left before 2100. Choose a later year.",
    ),
    ({"every": "cron", "was": "cron", "expressions": "@reboot"}, "expressions", "@reboot"),
    ({"zone": "Mars/Olympus"}, "zone", ""),
    ({"name": " "}, "name", "Give it a name, so that its runs can be told apart."),
    ({"name": "x" * 81}, "name", "Shorten the name to 80 characters."),
    ({"name": "Taken"}, "name", "Another routine here is called Taken. Choose another name."),
    ({"instructions": " "}, "instructions", "Write what it should do."),
    ({"instructions": "x" * 100_001}, "instructions", "Shorten the instructions to 100,000 cha"),
    ({"instructions": "a\x00"}, "instructions", "Take out the NUL character; text can’t hold it."),
    ({"agent": "999999"}, "agent", "Choose one of this workspace’s agents."),
    ({"agent": "model:gpt-5"}, "agent", "Name the model as provider/model, such as anthropic/"),
    ({"quiet_days": "soon"}, "quiet_days", "Write the days in figures, like 14, or nothing."),
    ({"quiet_days": "366"}, "quiet_days", "Choose from 1 to 365 days, or 0 for never."),
    ({"machine": ""}, "machine", "Choose one of this workspace’s machines."),
    ({"cap": "a lot"}, "cap", "Write an amount in dollars, like 0.50."),
    ({"cap": "1001"}, "cap", "Write an amount from $0.00 to $1,000.00."),
    ({"time_limit": "long"}, "time_limit", "Write the minutes in figures, like 20."),
    ({"time_limit": "361"}, "time_limit", "Choose from 1 to 360 minutes."),
    ({"step_limit": "many"}, "step_limit", "Write the steps in figures, like 100."),
    ({"step_limit": "0"}, "step_limit", "Choose from 1 to 1,000 steps."),
    ({"conversation": "loud"}, "conversation", "Choose whether it starts fresh each time."),
    ({"notify": "never"}, "notify", "Choose when you want to be told."),
    ({"folder": "/etc"}, "folder", "Write a folder beneath home, such as ~/my-repository."),
    ({"folder": "x" * 301}, "folder", "Shorten the folder to 300 characters."),
    ({"check_command": "x" * 10_001}, "check_command", "Shorten the check to 10,000 characters."),
    ({"then": "read", "written": "when the moon is blue"}, "written", ""),
    ({"then": "try", "check_command": ""}, "check_command", "Write the command that should be tri"),
    ({"then": "try", "check_command": "x", "machine": ""}, "check_command", "Choose one of this w"),
]

PLANS: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "pro",
        {"every": "every_minutes-5", "was": "every_minutes-5"},
        "every",
        "Pro can run as often as every 15 minutes. Choose 15 minutes or longer, or change plan.",
    ),
    (
        "free",
        {"times": ["8:00", "17:30"]},
        "times",
        "Free runs a routine once a day. Choose one time a day, or change plan.",
    ),
]

NOT_BY_A_FORM = {
    "Choose an agent or a model, not both: an agent brings its own model.": "one blank has both",
    "Write the time in figures, from 0:00 to 23:59.": "the form has settled each time before",
    "Choose {} {}, or write it as cron.": "the first blank offers no others",
    "Choose the hours and the days, or leave the window out.": "the form always sends an object",
    "Write each expression as text.": "a form sends nothing but text",
}


def _read_back(page: str, field: str, sentence: str) -> None:
    """The refusal is in the summary with a link to its field, and beside the field."""
    assert "<title>Error: New routine" in page
    summary = page[page.index('<div class="errsum" tabindex="-1"') :]
    items = re.findall(r'<li><a href="#([^"]*)">(.*?)</a></li>', summary, re.DOTALL)
    said = {(anchor, html.unescape(words)) for anchor, words in items}
    assert any(anchor == field and sentence in words for anchor, words in said), (field, said)
    beside = re.search(rf'<p class="err" id="{field}-e">(.*?)</p>', page, re.DOTALL)
    assert beside, f"nothing stands beside {field}"
    words = html.unescape(re.sub(r"<[^>]*>", "", beside.group(1)))
    assert sentence in words, words
    place = re.search(rf'<[a-z]+ [^>]*\bid="{field}"[^>]*>', page)
    assert place, f"no field has the id {field}"
    tags = re.findall(rf'<[a-z]+ [^>]*\baria-describedby="[^"]*\b{field}-e\b[^"]*"[^>]*>', page)
    assert tags and all('aria-invalid="true"' in tag for tag in tags), tags


def _is_kept(page: str, sent: dict[str, Any]) -> None:
    """What was typed is still there; a select shows only what it offers, a radio what it has."""
    kept = fields_of(page)
    for name in ("name", "instructions", "folder", "check_command", "cap", "time_limit", "written"):
        if name in sent:
            assert str(kept[name]).strip() == str(sent[name]).strip(), name
    for name in ("time", "minute", "date", "expressions", "times"):
        if name in kept and sent.get(name):
            typed = sent[name] if isinstance(sent[name], list) else [sent[name]]
            assert [text.replace(" ", "") for text in kept.getlist(name)] == [
                text.replace(" ", "") for text in typed
            ], name


def test_each_refusal_is_read_back(browser_of_owner: Client, harbour: Workspace) -> None:
    make_routine(harbour, name="Taken")
    usual = asked(folder="~/sheets", check_command="grep -q <x> y", time="9:00")
    for fields, field, sentence in CASES:
        sent = usual | fields
        answer = browser_of_owner.post(NEW, sent)
        assert answer.status_code == 422, fields
        page = answer.content.decode()
        _read_back(page, field, sentence)
        _is_kept(page, sent)
    assert Routine.objects.count() == 1


def test_each_expression_that_cant_be_is_read_back(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    assert len(REJECTS) == 40
    for reject in REJECTS:
        sent = asked(every="cron", was="cron", expressions=reject["expr"])
        answer = browser_of_owner.post(NEW, sent)
        assert answer.status_code == 422, reject
        page = answer.content.decode()
        _read_back(page, "expressions", "")
        _is_kept(page, sent | {"expressions": reject["expr"].strip()})
    assert not Routine.objects.exists()


@pytest.mark.parametrize(("plan", "fields", "field", "sentence"), PLANS)
def test_what_a_plan_refuses_is_read_back(
    browser_of_owner: Client,
    harbour: Workspace,
    plan: str,
    fields: dict[str, Any],
    field: str,
    sentence: str,
) -> None:
    Account.objects.update_or_create(workspace=harbour, defaults={"plan": plan})
    answer = browser_of_owner.post(NEW, asked(**fields))
    assert answer.status_code == 422
    _read_back(answer.content.decode(), field, sentence)


def test_what_an_edit_refuses_is_read_back(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    make_routine(harbour, name="Taken")
    mine = make_routine(harbour, name="Mine")
    answer = browser_of_owner.post(
        f"/w/harbour/routines/{mine.slug}/edit/", asked(name="taken ", version="1")
    )
    page = answer.content.decode()
    assert answer.status_code == 422 and "<title>Error: Change Mine" in page
    assert '<a href="#name">Another routine here is called taken. Choose another name.</a>' in page


def _sentences(module: ModuleType) -> set[str]:
    """Each sentence that a module refuses a field with; what is filled in is {}."""
    tree = ast.parse(inspect.getsource(module))
    texts: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            texts.setdefault(node.targets[0].id, []).append(node.value)
    found: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        place = {"FieldError": 1, "wrong": 1, "NotAsked": 0, "Unreadable": 0, "Question": 0}.get(
            node.func.id
        )
        if place is None:
            continue
        said = node.args[place]
        for each in texts.get(said.id, []) if isinstance(said, ast.Name) else [said]:
            if text := _text(each):
                found.add(text)
    return found


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "{}"  # type: ignore[misc]
            for part in node.values
        )
    return ""


NOT_THE_FORMS_FAULT = {
    "Another check is being tried here. Try yours when it has ended.",
    "No runner could be asked just now. Try it again in a moment.",
    "Shorten the command; it can’t be tried like this.",
}


def test_no_refusal_of_the_code_is_without_a_case() -> None:
    said = [sentence for _, _, sentence in CASES] + [sentence for *_, sentence in PLANS]
    missing = set()
    for module in (checks, validate, form_read, routine_form, times, check_try):
        for text in _sentences(module) - set(NOT_BY_A_FORM) - NOT_THE_FORMS_FAULT:
            if not any(_covers(sentence, text) for sentence in said):
                missing.add(text)
    assert not missing


def _covers(sentence: str, text: str) -> bool:
    """Whether a case's words, cut or filled in, are this sentence of the code."""
    if len(sentence) < 6:
        return False
    parts = text.split("{}")
    whole = re.match(".*".join(re.escape(part) for part in parts), sentence)
    return bool(whole) or any(sentence in part for part in parts)
