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
from routines_app.configure.apps import apps_for, offered_json
from routines_app.configure.connectors import remove_app
from routines_app.models import Connector, Routine
from routines_app.rules.status import RunStatus
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
    assert "<h2>Connected</h2>" not in page  # not all beneath it are
    assert "It refused the sign-in. Sweep needs it; until then its runs don’t start" in page


def test_a_person_says_which_tools_change_things(client: Client, workspace: Workspace) -> None:
    app = make_app(workspace)
    there = f"{PAGE}{app.key}/tools/"
    assert "find_ticket" in text(client, there)
    sent = {"named": ["close_ticket", "find_ticket"], "tool": ["changes", "changes"]}
    client.post(there, sent)
    app.refresh_from_db()
    assert [(tool["changes"], tool.get("by_person", False)) for tool in app.tools] == [
        (True, False),
        (True, True),
    ]
    # of a list that has changed since: what was said of one tool is said of no other
    client.post(there, sent | {"named": ["gone", "find_ticket"], "tool": ["reads", "changes"]})
    client.post(there, sent | {"tool": ["reads"]})
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
        answer = client.post(
            PAGE + path, {"named": ["close_ticket", "find_ticket"], "tool": ["reads", "reads"]}
        )
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
        {"name": "Till", "tools": 1, "of": 3, "there": True, "gone": ["open"]},
    ]
    run = make_run(
        make_routine(workspace, slug="sweep"), at=clock.now(), snapshot={"offered": offered}
    )
    said = text(client, f"/w/ada/routines/sweep/runs/{run.number}/")
    assert "Billing not offered; Helpdesk, 3 of 9 tools; Notes; shop not connected" in said
    assert "Till, 1 of 3 tools (it no longer has open)" in said


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


EDIT = "/w/ada/routines/sweep/edit/"
SAVE = {"then": "save", "version": "1", "apps_shown": "yes"}
ONLY = {"app_limit-helpdesk": "some", "app_limit-billing": "all"}


@pytest.fixture
def sweep(client: Client, workspace: Workspace) -> Routine:
    """A routine that may use the whole of one of two apps."""
    make_machine(workspace)
    make_app(workspace)
    make_app(workspace, "Billing")
    return make_routine(
        workspace,
        slug="sweep",
        agent=make_agent(workspace),
        apps=[{"app": "helpdesk", "required": False}],
    )


def test_a_routines_form_gives_some_tools_of_an_app(client: Client, sweep: Routine) -> None:
    page = text(client, EDIT)
    assert page.count('<details class="more"><summary>') == 2
    assert "Of Helpdesk: </span>All 2 tools" in page and "Of Billing: </span>Its 2 tools" in page
    assert ">Reads. Find a ticket.</small>" in page
    chosen = {"apps": ["helpdesk:must", ""], "app_tools": ["helpdesk/find_ticket"]}
    assert client.post(EDIT, SAVE | ONLY | chosen).status_code == 302
    sweep.refresh_from_db()
    assert sweep.apps == [{"app": "helpdesk", "required": True, "tools": ["find_ticket"]}]
    page = text(client, EDIT)
    assert page.count('<details class="more" open>') == 1
    assert "1 of 2 tools, which reads</summary>" in page
    assert 'value="helpdesk/find_ticket" checked' in page
    assert "<dt>Apps</dt><dd>Helpdesk, 1 of 2 tools</dd>" in text(client, "/w/ada/routines/sweep/")
    sent = SAVE | {"version": "2", "name": sweep.name}
    assert client.post(EDIT, sent | ONLY | chosen).status_code == 302
    all_of_it = {"app_limit-helpdesk": "all"} | chosen  # ticks that are left say nothing any more
    assert client.post(EDIT, sent | all_of_it).status_code == 302
    sweep.refresh_from_db()
    assert (sweep.version, sweep.apps) == (3, [{"app": "helpdesk", "required": True}])
    versions = text(client, "/w/ada/routines/sweep/versions/")
    assert "find_ticket of Helpdesk (required)" in versions


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"apps": ["helpdesk:may"]}, "No tool of Helpdesk is chosen. Choose one, or leave"),
        (
            {"apps": ["helpdesk:may"], "app_tools": ["helpdesk/fly"]},
            "Helpdesk has no tool called fly. Leave it out.",
        ),
        (
            {"apps": ["helpdesk:may"], "app_tools": ["billing/find_ticket"]},
            "Tools of Billing are ticked. Choose whether it may use them, or untick them.",
        ),
        (
            {
                "apps": ["helpdesk:may"],
                "app_limit-helpdesk": "all",
                "app_tools": ["helpdesk/find_ticket"],
            },
            "Tools of Helpdesk are ticked. Choose “Only these”, or untick them.",
        ),
    ],
)
def test_a_choice_that_says_too_little_is_asked_about_and_kept_as_typed(
    client: Client, sweep: Routine, sent: dict[str, Any], says: str
) -> None:
    refused = client.post(EDIT, SAVE | ONLY | {"name": "Sweep up"} | sent)
    page = html.unescape(refused.content.decode())
    assert refused.status_code == 422 and says in page and 'href="#apps"' in page
    assert 'value="Sweep up"' in page and '<option value="helpdesk:may" selected>' in page
    assert '<details class="more" open>' in page
    for ticked in sent.get("app_tools", []):
        assert f'value="{ticked}" checked' in page
    limit = (ONLY | sent)["app_limit-helpdesk"]
    assert f'name="app_limit-helpdesk" value="{limit}" checked' in page
    sweep.refresh_from_db()
    assert sweep.version == 1


def test_a_chosen_tool_that_is_gone_is_seen_and_kept(client: Client, sweep: Routine) -> None:
    Routine.objects.update(
        apps=[
            {"app": "absent", "required": False, "tools": ["x"]},
            {"app": "helpdesk", "required": True, "tools": ["find_ticket", "old"]},
        ]
    )
    page = text(client, EDIT)
    assert '<small id="does-helpdesk/old">It doesn’t have this one now</small>' in page
    assert 'value="absent/x" checked' in page
    said = "absent not connected; Helpdesk, 1 of 2 tools (it no longer has old)"
    assert said in text(client, "/w/ada/routines/sweep/")
    Connector.objects.filter(slug="helpdesk").update(tools=[])
    assert "Helpdesk not offered" in text(client, "/w/ada/routines/sweep/")


def test_a_disconnected_app_keeps_its_last_name(client: Client, sweep: Routine) -> None:
    for name in ("HELPDESK", "Help.desk"):  # of one slug; the last to be removed counts
        remove_app(Connector.objects.get(slug="helpdesk", removed_at=None))
        make_app(sweep.workspace, name, slug="helpdesk")
    remove_app(Connector.objects.get(slug="helpdesk", removed_at=None))
    page = text(client, EDIT)
    assert '<label for="app-helpdesk">Help.desk</label>' in page
    assert "It isn’t connected." in page and '<option value="helpdesk:may" selected>' in page
    assert "<dd>Help.desk not connected</dd>" in text(client, "/w/ada/routines/sweep/")
    assert offered_json(sweep, apps_for(sweep), None)[0]["name"] == "Help.desk"


def test_a_run_without_its_chosen_tools_leads_to_choosing_others(
    client: Client, sweep: Routine
) -> None:
    facts = {"reason": "Helpdesk", "tools": "find_ticket", "variant": ""}
    run = make_run(sweep, RunStatus.SKIP_CONNECTOR, at=clock.now(), facts=facts)
    page = text(client, f"/w/ada/routines/sweep/runs/{run.number}/")
    said = "Helpdesk no longer has find_ticket, and nothing else of it was chosen."
    assert said in page and "Found before anything was spent." in page
    assert f'href="{EDIT}#apps">Choose its tools</a>' in page
    assert "not connected" not in page
