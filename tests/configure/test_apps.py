"""Apps and the routines that use them: what can be saved, and what a removed one leaves."""

from dataclasses import replace

import pytest

from accounts.models import Workspace
from routines_app.agents.connectors import narrowed
from routines_app.agents.mcp_session import AppServer
from routines_app.configure.apps import (
    apps_for,
    missing_app,
    offered_json,
    routines_using,
    server_of,
)
from routines_app.configure.connectors import (
    NewApp,
    add_app,
    read_headers,
    remove_app,
    sign_in_again,
)
from routines_app.configure.content import AppUse, apps_json, content_from_json, content_of
from routines_app.configure.routine import (
    Configured,
    Refused,
    configure_routine,
    create_routine,
    turn_off,
    turn_on,
)
from routines_app.models import Connector, Routine
from routines_app.rules.allowed import AllowedApp
from tests.configure.test_routine import content, made
from tests.factories import (
    make_agent,
    make_app,
    make_machine,
    make_routine,
    make_workspace,
    owner_of,
)

pytestmark = pytest.mark.django_db
MUST, MAY = AppUse("helpdesk", True), AppUse("helpdesk", False)
FIND = AppUse("helpdesk", True, ("find_ticket",))


@pytest.fixture
def workspace() -> Workspace:
    made = make_workspace()
    make_machine(made)
    make_agent(made)
    return made


def test_a_routine_keeps_its_apps_in_its_versions(workspace: Workspace) -> None:
    make_app(workspace)
    make_app(workspace, "Billing")
    routine = made(workspace, apps=(MUST, AppUse("billing", False)))
    assert routine.apps == [
        {"app": "billing", "required": False},
        {"app": "helpdesk", "required": True},
    ]
    now = content_of(routine)
    assert content_from_json(routine.versions.get().content) == now
    person = owner_of(workspace)
    changed = configure_routine(routine, person, 1, replace(now, apps=(MAY,)))
    assert isinstance(changed, Configured) and changed.routine.version == 2
    assert content_from_json(routine.versions.get(number=1).content).apps == now.apps


def test_it_keeps_which_tools_it_was_given_in_one_order(workspace: Workspace) -> None:
    make_app(workspace)
    both = AppUse("helpdesk", False, ("find_ticket", "close_ticket", "find_ticket"))
    routine = made(workspace, apps=(both,))
    assert routine.apps == [
        {"app": "helpdesk", "required": False, "tools": ["close_ticket", "find_ticket"]}
    ]
    now = content_of(routine)
    assert content_from_json(routine.versions.get().content) == now and now.apps == (both,)
    again = replace(now, apps=(replace(both, tools=("close_ticket", "find_ticket")),))
    same = configure_routine(routine, owner_of(workspace), 1, again)
    assert isinstance(same, Configured) and not same.changed


@pytest.mark.parametrize(
    ("tools", "offered", "kept"),
    [
        (None, ["close_ticket", "find_ticket"], {"tools": 2}),
        (("find_ticket",), ["find_ticket"], {"tools": 1}),
        (("find_ticket", "old"), ["find_ticket"], {"tools": 1, "gone": ["old"]}),
        (("old",), [], {"tools": 0, "gone": ["old"]}),
    ],
)
def test_of_an_app_it_is_offered_what_was_chosen_and_is_there(
    workspace: Workspace,
    tools: tuple[str, ...] | None,
    offered: list[str],
    kept: dict[str, object],
) -> None:
    make_app(workspace)
    routine = make_routine(workspace, apps=apps_json([AppUse("helpdesk", False, tools)]))
    apps = apps_for(routine)
    assert [tool.name for app in apps for tool in app.offered] == offered
    assert offered_json(routine, apps, None) == [
        {"name": "Helpdesk", "of": 2, "there": True} | kept
    ]
    limited = narrowed(apps, (AllowedApp("helpdesk", ("close_ticket", "old")),))
    within = [tool.name for app in limited for tool in app.offered]
    assert within == [name for name in offered if name == "close_ticket"]


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        ((), "No tool of Helpdesk is chosen. Choose one, or leave Helpdesk out."),
        (("find_ticket", "fly"), "Helpdesk has no tool called fly. Leave it out."),
    ],
)
def test_only_tools_that_are_there_can_be_chosen_and_at_least_one(
    workspace: Workspace, tools: tuple[str, ...], says: str
) -> None:
    make_app(workspace)
    wanted = content(workspace, apps=(replace(MAY, tools=tools),))
    refused = create_routine(workspace, owner_of(workspace), wanted, turn_on=True)
    assert isinstance(refused, Refused)
    assert [(error.field, error.sentence) for error in refused.errors] == [("apps", says)]


def test_a_chosen_tool_that_goes_away_may_stay_while_another_is_left(workspace: Workspace) -> None:
    app = make_app(workspace)
    person = owner_of(workspace)
    routine = made(workspace, apps=(replace(FIND, tools=("find_ticket", "close_ticket")),))
    app.tools = app.tools[:1]  # find_ticket is gone
    app.save()
    assert missing_app(routine) is None
    renamed = replace(content_of(routine), name="Sweep up")
    assert isinstance(configure_routine(routine, person, 1, renamed), Configured)
    alone = replace(renamed, apps=(FIND,))
    refused = configure_routine(routine, person, 2, alone)
    assert isinstance(refused, Refused)
    said = "Helpdesk no longer has find_ticket. Choose other tools of it, or don’t require it."
    assert [error.sentence for error in refused.errors] == [said]
    given = replace(alone, apps=(replace(FIND, required=False),))
    assert isinstance(configure_routine(routine, person, 2, given), Configured)
    routine.refresh_from_db()
    assert missing_app(routine) is None  # it isn't required, so it is just not offered


def test_what_a_model_takes_counts_only_the_chosen_tools(workspace: Workspace) -> None:
    tool = {"description": "", "schema": {}, "changes": False}
    make_app(workspace, tools=[tool | {"name": f"t{number}"} for number in range(101)])
    whole = content(workspace, apps=(MAY,))
    refused = create_routine(workspace, owner_of(workspace), whole, turn_on=True)
    assert isinstance(refused, Refused)
    assert refused.errors[0].sentence.startswith("Together that is 101 tools of apps")
    assert made(workspace, apps=(replace(MAY, tools=("t1", "t100")),)).enabled


@pytest.mark.parametrize(
    ("fields", "use", "says"),
    [
        (
            {"state": "refused", "trouble": "It refused the sign-in."},
            MUST,
            "It refused the sign-in.",
        ),
        ({"state": "new"}, MUST, "It was never asked for its tools."),
        ({}, AppUse("absent", False), "No app here is called absent."),
    ],
)
def test_what_a_required_app_lacks_is_said_on_saving(
    workspace: Workspace, fields: dict[str, str], use: AppUse, says: str
) -> None:
    make_app(workspace, **fields)
    refused = create_routine(
        workspace, owner_of(workspace), content(workspace, apps=(use,)), turn_on=True
    )
    assert isinstance(refused, Refused)
    assert [(error.field, says in error.sentence) for error in refused.errors] == [("apps", True)]
    assert not Routine.objects.exists()


@pytest.mark.parametrize(("state", "use"), [("silent", MUST), ("refused", MAY), ("new", MAY)])
def test_what_may_come_right_by_the_next_run_is_saved(
    workspace: Workspace, state: str, use: AppUse
) -> None:
    make_app(workspace, state=state)
    assert made(workspace, apps=(use,)).enabled


def test_of_another_workspaces_apps_nothing_can_be_used(workspace: Workspace) -> None:
    make_app(make_workspace())
    refused = create_routine(
        workspace, owner_of(workspace), content(workspace, apps=(MUST,)), turn_on=True
    )
    assert isinstance(refused, Refused)


def test_a_removed_app_is_forgotten_and_its_routine_can_not_be_turned_on(
    workspace: Workspace,
) -> None:
    app = make_app(workspace, sealed=b"x", header_names=["Authorization"])
    routine = made(workspace, apps=(MUST,))
    assert routines_using(app) == [(routine, True)]
    remove_app(app)
    app.refresh_from_db()
    assert (bytes(app.sealed), app.header_names, app.tools) == (b"", [], [])
    missing = missing_app(routine)
    assert missing is not None and (missing.name, missing.why) == ("Helpdesk", "")
    assert apps_for(routine) == ()
    turn_off(routine, owner_of(workspace))
    refused = turn_on(routine, owner_of(workspace))
    assert isinstance(refused, Refused)
    assert refused.errors[0].sentence.startswith("Helpdesk isn’t connected. Connect it under")
    make_app(workspace)  # connected again by the same name, it serves the same routine
    assert missing_app(routine) is None
    assert [app.slug for app in apps_for(routine)] == ["helpdesk"]


def test_headers_are_kept_encrypted_under_the_workspaces_key(workspace: Workspace) -> None:
    new = NewApp("Helpdesk", "http://127.0.0.1:9/mcp", "Authorization: Bearer sk-canary\r\nX-A: b")
    app = add_app(workspace, owner_of(workspace), new)
    assert isinstance(app, Connector)
    assert "sk-canary" not in str(Connector.objects.values().get())
    headers = (("Authorization", "Bearer sk-canary"), ("X-A", "b"))
    assert server_of(app) == AppServer(new.address, headers, nearby=True)
    assert "sk-canary" not in repr(server_of(app))
    assert sign_in_again(app, "Authorization: Bearer other") == {}
    app.refresh_from_db()
    assert (server_of(app).headers, app.state) == ((("Authorization", "Bearer other"),), "new")
    again = add_app(workspace, owner_of(workspace), new)
    assert isinstance(again, dict) and "called so already" in again["name"]


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("Bearer abc", "Write line 1 as a name, a colon and a value"),
        ("Authorization:", "Write line 1 as"),
        ("A: b\nNaïve: c", "Write line 2 as"),
        ("Authorization: Bearer \x07", "a character that no header may have"),
        ("Authorization: Bearer “abc”", "a character that no header may have"),
        ("Host: evil.example", "Leave out Host"),
        ("content-length: 4", "Leave out content-length"),
        ("Mcp-Session-Id: 4", "Leave out Mcp-Session-Id"),
        ("\n".join(f"X-{n}: a" for n in range(11)), "ten headers or fewer"),
        ("X: " + "a" * 9_000, "Shorten the headers"),
    ],
)
def test_what_no_header_may_be_is_said(typed: str, says: str) -> None:
    found = read_headers(typed)
    assert isinstance(found, str) and says in found
