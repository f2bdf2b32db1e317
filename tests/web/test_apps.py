"""The page of apps, and the apps on a routine's form."""

import html
import re
from typing import Any

import pytest
from celery import current_app
from django.test import Client
from kombu.exceptions import OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.models import Role, Workspace
from foundation import clock
from routines_app.agents.turn import StepKind
from routines_app.models import Connector, Routine
from tests.factories import (
    make_agent,
    make_app,
    make_machine,
    make_member,
    make_routine,
    make_run,
    make_step,
    make_workspace,
)

PAGE = "/w/ada/agents/apps/"
SECRET = "Bearer sk-canary"
NEW = {
    "name": "Helpdesk",
    "address": "http://127.0.0.1:9/mcp",
    "headers": f"Authorization: {SECRET}",
}


@pytest.fixture
def workspace(client: Client, db: None) -> Workspace:
    workspace = make_workspace(slug="ada")
    client.force_login(workspace.memberships.get().user)
    return workspace


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The tasks that are asked for."""
    found: list[tuple[str, Any]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args: found.append((name, args)))
    return found


def text(client: Client, path: str = PAGE) -> str:
    return " ".join(html.unescape(client.get(path).content.decode()).split())


def test_an_app_is_kept_and_asked_for_its_tools_and_its_secret_never_shown(
    client: Client,
    workspace: Workspace,
    sent: list[tuple[str, Any]],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    assert "No app is connected yet." in text(client)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(f"{PAGE}add/", NEW, follow=True)
    app = Connector.objects.get()
    assert sent == [("routines_app.tasks.ask_connector", [app.pk])]
    page = answer.content.decode()
    assert "Asking Helpdesk for its tools…" in page
    assert "By header Authorization" in page
    assert "sk-canary" not in page + text(client, f"{PAGE}{app.key}/sign-in/")


def test_what_is_wrong_is_said_and_what_was_typed_stays_but_for_the_secret(
    client: Client, workspace: Workspace
) -> None:
    wrong = NEW | {"address": "http://169.254.169.254/mcp", "name": "…"}
    answer = client.post(f"{PAGE}add/", wrong)
    page = html.unescape(answer.content.decode())
    assert answer.status_code == 422
    assert "no server on the internet" in page and "Give it a name with a letter" in page
    assert "http://169.254.169.254/mcp" in page and "sk-canary" not in page
    assert "Write it again: it isn’t kept until all is right." in page
    assert "Write it again" not in text(client)
    assert client.get(f"{PAGE}add/").headers["Location"] == PAGE
    assert not Connector.objects.exists()


def test_a_test_waits_for_its_answer_and_shows_it(
    client: Client, workspace: Workspace, sent: list[tuple[str, Any]]
) -> None:
    app = make_app(workspace, checked_at=clock.now())
    there = f"{PAGE}{app.key}/test/"
    part = client.post(there, headers={"HX-Request": "true"}).content.decode()
    assert "Asking Helpdesk for its tools…" in part and "?look=1" in part
    late = client.get(f"{there}?look=60", headers={"HX-Request": "true"}).content.decode()
    assert "No runner has answered yet." in late
    Connector.objects.update(checked_at=clock.now())
    done = client.get(f"{there}?look=3", headers={"HX-Request": "true"}).content.decode()
    assert "Tested" in done and "2 tools: 1 reads, 1 changes things." in done
    assert re.search('<h1 id="apps-stand" hx-swap-oob="true">One is connected', done)


def test_without_a_broker_it_is_said_at_once(
    client: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(app: Connector) -> None:
        Connector.objects.filter(pk=app.pk).update(checked_at=None)
        raise OperationalError("down")

    monkeypatch.setattr("routines_app.web.app_row.ask_for_tools", down)
    app = make_app(workspace)
    there = f"{PAGE}{app.key}/test/"
    part = client.post(there, headers={"HX-Request": "true"}).content.decode()
    assert "No runner has answered yet." in part


def test_what_asks_to_be_signed_in_again_names_the_routines_that_wait(
    client: Client, workspace: Workspace
) -> None:
    make_app(workspace, "Billing")
    make_app(workspace, state="refused", trouble="It refused the sign-in.")
    make_routine(workspace, name="Sweep", apps=[{"app": "helpdesk", "required": True}])
    page = text(client)
    assert "One is connected. <em>One asks to be signed in again.</em>" in page
    assert "It refused the sign-in. Sweep needs it; until then its runs don’t start" in page


def test_a_person_says_which_tools_change_things(client: Client, workspace: Workspace) -> None:
    app = make_app(workspace)
    there = f"{PAGE}{app.key}/tools/"
    assert "find_ticket" in text(client, there)
    client.post(there, {"tool": ["changes", "changes"]})
    app.refresh_from_db()
    assert [(tool["changes"], tool.get("by_person", False)) for tool in app.tools] == [
        (True, False),
        (True, True),
    ]
    client.post(there, {"tool": ["reads"]})  # of a list that has changed since
    app.refresh_from_db()
    assert all(tool["changes"] for tool in app.tools)


def test_disconnecting_names_what_would_stop(client: Client, workspace: Workspace) -> None:
    app = make_app(workspace)
    make_routine(workspace, name="Sweep", apps=[{"app": "helpdesk", "required": True}])
    there = f"{PAGE}{app.key}/remove/"
    assert "One routine would not run without it:</b> Sweep" in text(client, there)
    client.post(there)
    assert Connector.objects.get().removed_at is not None
    assert client.get(there).status_code == 404
    assert "No app is connected yet." in text(client)


def test_a_viewer_sees_the_apps_and_changes_none(client: Client, workspace: Workspace) -> None:
    app = make_app(workspace)
    client.force_login(make_member(workspace, Role.VIEWER))
    assert "Helpdesk" in text(client) and "Connect one" not in text(client)
    for path in ("add/", *(f"{app.key}/{act}/" for act in ("tools", "remove", "test", "sign-in"))):
        answer = client.post(PAGE + path, {"tool": ["reads", "reads"]})
        assert answer.status_code == 403, path
    app.refresh_from_db()
    assert app.removed_at is None and app.tools[0]["changes"]


def test_a_call_is_drawn_on_the_runs_page(client: Client, workspace: Workspace) -> None:
    run = make_run(make_routine(workspace, slug="sweep"), at=clock.now())
    make_step(run, StepKind.CALLED, "helpdesk__find_ticket", content="<b>Ticket 7</b>")
    page = client.get(f"/w/ada/routines/sweep/runs/{run.number}/").content.decode()
    assert "<b>Called</b><code>helpdesk__find_ticket</code>" in page
    assert "&lt;b&gt;Ticket 7" in page
    assert "1 app called" in page


def test_a_runs_page_says_what_of_its_apps_was_offered(
    client: Client, workspace: Workspace
) -> None:
    offered = [
        {"name": "Billing", "tools": 0, "of": 4, "there": True},
        {"name": "Helpdesk", "tools": 3, "of": 9, "there": True},
        {"name": "Notes", "tools": 2, "of": 2, "there": True},
        {"name": "shop", "tools": 0, "of": 0, "there": False},
    ]
    run = make_run(
        make_routine(workspace, slug="sweep"), at=clock.now(), snapshot={"offered": offered}
    )
    said = text(client, f"/w/ada/routines/sweep/runs/{run.number}/")
    assert "Billing not offered; Helpdesk, 3 of 9 tools; Notes; shop not connected" in said


def test_a_routines_form_gives_and_takes_apps(client: Client, workspace: Workspace) -> None:
    make_machine(workspace)
    make_agent(workspace)
    assert 'name="apps"' not in text(client, "/w/ada/routines/new/")
    make_app(workspace)
    make_app(workspace, "Billing")
    routine = make_routine(workspace, slug="sweep", apps=[{"app": "billing", "required": False}])
    edit = "/w/ada/routines/sweep/edit/"
    page = text(client, edit)
    assert '<option value="billing:may" selected>' in page
    form = {"then": "save", "version": "1", "apps_shown": "yes"}
    client.post(edit, form | {"apps": ["", "helpdesk:must"]})
    routine.refresh_from_db()
    assert routine.apps == [{"app": "helpdesk", "required": True}]
    Connector.objects.filter(slug="helpdesk").update(state="refused", trouble="It refused.")
    refused = client.post(edit, form | {"version": "2", "name": "New", "apps": ["helpdesk:must"]})
    assert refused.status_code == 422
    page = html.unescape(refused.content.decode())
    assert "Helpdesk isn’t connected. It refused. Put that right under Agents, Apps" in page
    assert '<option value="helpdesk:must" selected>' in page
    assert Routine.objects.get().version == 2
