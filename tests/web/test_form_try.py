"""Try it: a check tried from the form, with script and without, with all that was typed kept."""

import html
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from kombu.exceptions import OperationalError

from accounts.models import Role, Workspace
from machines.models import Machine
from routines_app.models import Routine, Run
from routines_app.runner.try_check import try_check
from routines_app.web import form_try
from tests.factories import make_member
from tests.web.test_routine_form import NEW, asked, fields_of

TRY = "/w/harbour/routines/check/try/"


class Runner:
    """Stands for the queue: does what is asked at once, or later."""

    def __init__(self) -> None:
        self.waiting: list[str] = []
        self.at_once = True

    def send_task(self, name: str, args: list[str], **_: Any) -> None:
        assert name == "routines_app.tasks.try_check"
        self.waiting += args
        if self.at_once:
            self.work()

    def work(self) -> None:
        while self.waiting:
            try_check(self.waiting.pop())


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    made = Runner()
    monkeypatch.setattr("routines_app.configure.check_try.current_app.send_task", made.send_task)
    monkeypatch.setattr(form_try, "WAITED_SECONDS", 0.0)
    cache.clear()
    yield made
    cache.clear()


def words(page: str) -> str:
    return html.unescape(page).replace("<b>", "").replace("</b>", "")


def test_without_script_the_page_has_the_answer_and_all_that_was_typed(
    browser_of_owner: Client, harbour: Workspace, runner: Runner
) -> None:
    sent = asked(then="try", check_command="echo none; exit 1", folder="~/x", name="", cap="odd")
    answer = browser_of_owner.post(NEW, sent)
    page = answer.content.decode()
    assert answer.status_code == 200 and "<title>New routine" in page
    assert "s: nothing to do, so no model would be called." in words(page)
    assert "exit 1, " in page and "\nnone</pre>" in page
    assert "Tried in ~/x, for $0.00. It counts as no run." in page
    kept = fields_of(page)
    for name in ("check_command", "folder", "name", "cap", "instructions", "every"):
        assert kept[name] == sent[name]
    assert not Run.objects.exists() and not Routine.objects.exists()


def test_without_script_a_slow_answer_is_looked_for_again(
    browser_of_owner: Client, harbour: Workspace, runner: Runner
) -> None:
    runner.at_once = False
    machine = Machine.objects.get()
    page = browser_of_owner.post(NEW, asked(then="try", check_command="true")).content.decode()
    assert f"Waking {machine.name}…" in page and "See what it found" in page
    again = dict(fields_of(page).lists()) | {"then": ["look"]}
    page = browser_of_owner.post(NEW, again).content.decode()
    assert "See what it found" in page
    assert len(runner.waiting) == 1  # it went on waiting, and asked for no second one
    runner.work()
    page = browser_of_owner.post(NEW, again).content.decode()
    assert "it found something, so the work would begin." in words(page)
    assert "See what it found" not in page


def test_with_script_the_part_asks_until_the_answer_is_there(
    browser_of_owner: Client, harbour: Workspace, runner: Runner
) -> None:
    runner.at_once = False
    part = browser_of_owner.post(TRY, asked(check_command="exit 2")).content.decode()
    assert "<fieldset" not in part and f"Waking {Machine.objects.get().name}…" in part
    assert 'id="tried-said" role="status" hx-swap-oob="innerHTML"' in part
    (key,) = runner.waiting
    assert f'hx-get="{TRY}{key}/"' in part and f'name="tried" value="{key}"' in part
    again = asked(check_command="exit 2", tried=key)  # pressed again, out of impatience
    assert f"{TRY}{key}/" in browser_of_owner.post(TRY, again).content.decode()
    runner.work()
    part = browser_of_owner.get(f"{TRY}{key}/").content.decode()
    assert "hx-get" not in part and "exit 2, " in part
    assert "Only 0 and 1 are ordinary exits here." in part


def test_a_check_whose_command_isnt_there_isnt_saved_until_it_is_another(
    browser_of_owner: Client, harbour: Workspace, runner: Runner
) -> None:
    sent = asked(then="try", check_command="gti fetch")
    page = browser_of_owner.post(NEW, sent).content.decode()
    known = dict(fields_of(page).lists())
    answer = browser_of_owner.post(NEW, known | {"then": "save"})
    page = answer.content.decode()
    assert answer.status_code == 422 and "One thing to fix" in page
    name = Machine.objects.get().name
    assert page.count(f"{name} has no command") == 2  # in the summary and beside the field
    assert "Fix the thing above to save." in page
    answer = browser_of_owner.post(NEW, known | {"check_command": ["true"], "then": "save"})
    assert answer.status_code == 302


def test_an_edit_tries_in_the_routines_own_folder(
    browser_of_owner: Client, harbour: Workspace, runner: Runner
) -> None:
    browser_of_owner.post(NEW, asked())
    edit = "/w/harbour/routines/morning-brief/edit/"
    sent = dict(fields_of(browser_of_owner.get(edit).content.decode()).lists())
    page = browser_of_owner.post(edit, sent | {"check_command": ["pwd"], "then": ["try"]})
    assert "/home/agent/routines/morning-brief</pre>" in page.content.decode()
    part = browser_of_owner.post(TRY, sent | {"check_command": ["pwd"]}).content.decode()
    assert "/home/agent/routines/morning-brief</pre>" in part


def test_only_somebody_who_may_run_may_try(
    client: Client, harbour: Workspace, runner: Runner
) -> None:
    client.force_login(make_member(harbour, Role.VIEWER))
    assert client.post(TRY, asked(check_command="true")).status_code == 403
    client.force_login(make_member(harbour, Role.MEMBER))
    sent = asked(check_command="true")
    other = Machine.objects.create(
        workspace=Workspace.objects.create(name="Other", slug="other"), name="theirs",
        slug="theirs", provider="memory",
    )  # fmt: skip
    part = client.post(TRY, sent | {"machine": str(other.pk)}).content.decode()
    assert "Choose one of this workspace’s machines first." in part
    gone = client.get(f"{TRY}0b6c1a52-6a54-4b64-9f3a-0d7f0b0f3a11/").content.decode()
    assert "That try is forgotten. Try it again." in gone
    assert not runner.waiting


def test_without_a_runner_it_says_so(
    browser_of_owner: Client, harbour: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr("routines_app.configure.check_try.current_app.send_task", away)
    for _ in range(2):  # the second isn't told that the first is still going on
        part = browser_of_owner.post(TRY, asked(check_command="true")).content.decode()
        assert "No runner could be asked just now. Try it again in a moment." in part
