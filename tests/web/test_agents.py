"""The roster and an agent's page: what it says, and who may change what there."""

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client

from accounts.models import Role, Workspace
from foundation import clock
from routines_app.configure.agents import AgentSaved, configure_agent, content_of_agent
from routines_app.configure.connectors import remove_app
from routines_app.models import Agent, Connector, ModelKey, ModelWord, Routine, Run
from routines_app.rules.allowed import Allowed, AllowedApp
from routines_app.rules.status import RunStatus
from tests.factories import NOON, make_app, make_member, make_routine, make_run, owner_of

pytestmark = pytest.mark.django_db

HERE = "/w/harbour/agents/"
GARDENER = {
    "name": "Gardener",
    "purpose": "Waters what is dry.",
    "persona": "Never twice.",
    "think": "fast",
    "tools_shown": "yes",
    "tools": ["read", "web"],
}


def test_what_is_usual_is_the_median_of_runs_that_reached_a_model(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    assistant = Agent.objects.get(workspace=harbour, slug="assistant")
    routine = make_routine(harbour, agent=assistant, name="Inbox triage", slug="triage")
    page = browser_of_owner.get(HERE).content.decode()
    assert "not known yet" in page and 'data-l="Typically">$0.00</td>' in page
    for number, spent in enumerate((10_000, 50_000, 420_000)):
        at = NOON - timedelta(days=number + 1)
        make_run(routine, at=at, spent=spent, turn_at=at)
    make_run(routine, at=NOON - timedelta(hours=1), spent=0)  # its check found nothing
    page = browser_of_owner.get(HERE).content.decode()
    assert 'data-l="Typically">$0.05</td>' in page
    page = browser_of_owner.get(HERE + "assistant/").content.decode()
    assert "$0.05 a run." in page and ">Inbox triage</a>" in page
    assert "Run commands" in page and "Changes things, on the machine" in page


def test_before_any_run_the_price_list_says_about(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    ModelKey.objects.create(workspace=harbour, provider="openai", model="gpt-5-mini")
    page = browser_of_owner.get(HERE).content.decode()
    assert 'data-l="Typically">About ' in page
    assert "Seven to ask. None has steady work yet." in page
    assert ">balanced</td>" in page and ">deep</td>" in page and ">none</td>" in page
    assert ">Every tool</td>" in page and ">Files, web</td>" in page


def test_a_script_thinks_without_a_model(browser_of_owner: Client, harbour: Workspace) -> None:
    page = browser_of_owner.get(HERE + "script/").content.decode()
    assert "No model." in page and "$0.00 a run." in page and "No routine yet." in page
    assert browser_of_owner.get(HERE + "nobody/").status_code == 404


def test_making_changing_putting_back_and_deleting(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    made = browser_of_owner.post(HERE + "new/", GARDENER)
    assert (made.status_code, made["Location"]) == (302, HERE + "gardener/")
    wrong = browser_of_owner.post(HERE + "gardener/", {"version": "1", "purpose": ""})
    assert wrong.status_code == 422 and "Say in a line what it is for" in wrong.content.decode()
    saved = browser_of_owner.post(HERE + "gardener/", GARDENER | {"version": "1", "think": "deep"})
    assert saved.status_code == 302
    page = browser_of_owner.get(HERE + "gardener/").content.decode()
    assert "Version 2" in page and "Deep, was Fast" in page and "Delete this agent" in page
    second = browser_of_owner.post(HERE + "gardener/", GARDENER | {"version": "1"})
    said = second.content.decode()
    assert second.status_code == 409
    assert "Nothing of yours was saved" in said and ">Deep<" in said and ">Fast<" in said
    old = browser_of_owner.get(HERE + "gardener/versions/1/").content.decode()
    assert "Fast" in old and "Never twice." in old
    assert browser_of_owner.post(HERE + "gardener/delete/").status_code == 302
    assert browser_of_owner.get(HERE + "gardener/").status_code == 404

    browser_of_owner.post(HERE + "writer/", {"version": "1", "purpose": "Sings."})
    page = browser_of_owner.get(HERE + "writer/").content.decode()
    assert "Put it back" in page and "Sings." in page
    browser_of_owner.post(HERE + "writer/back/")
    page = browser_of_owner.get(HERE + "writer/").content.decode()
    assert "Put it back" not in page and "as it came with the workspace" in page


def test_deleting_one_that_works_names_whom_for(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    browser_of_owner.post(HERE + "new/", GARDENER)
    make_routine(harbour, agent=harbour.agents.get(slug="gardener"), name="Water the beds")
    assert "Water the beds" in browser_of_owner.get(HERE + "gardener/delete/").content.decode()
    refused = browser_of_owner.post(HERE + "gardener/delete/")
    assert refused.status_code == 409
    assert "Water the beds asks for Gardener." in refused.content.decode()


def test_a_member_makes_and_changes_their_own_alone(client: Client, harbour: Workspace) -> None:
    client.force_login(make_member(harbour, Role.MEMBER))
    assert client.post(HERE + "new/", GARDENER).status_code == 302
    assert client.post(HERE + "gardener/", GARDENER | {"version": "1"}).status_code == 302
    page = client.get(HERE + "writer/").content.decode()
    assert "Only admins change it." in page and ">Save</button>" not in page
    for path in ("writer/", "writer/back/", "writer/delete/"):
        assert client.post(HERE + path, {"version": "1", "purpose": "x"}).status_code == 403
    client.force_login(make_member(harbour, Role.VIEWER))
    assert client.get(HERE + "gardener/").status_code == 200
    assert client.post(HERE + "gardener/", GARDENER | {"version": "1"}).status_code == 403
    assert client.post(HERE + "new/", GARDENER).status_code == 403


def test_its_model_is_gone_is_said_on_its_page(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    harbour.agents.get(slug="writer").versions.update(model="anthropic/claude-opus-5")
    page = browser_of_owner.get(HERE + "writer/").content.decode()
    assert "Its runs don’t start until you choose another" in page


def test_what_the_words_choose(browser_of_owner: Client, harbour: Workspace) -> None:
    ModelKey.objects.create(workspace=harbour, provider="openai", model="gpt-5-mini")
    page = browser_of_owner.get(HERE + "models/").content.decode()
    assert "What the words choose" in page and 'data-l="Model">gpt-5-mini' in page
    assert 'data-l="By way of">OpenAI</td>' in page
    wrong = browser_of_owner.post(HERE + "models/words/", {"deep": "google/gemini-2.5-pro"})
    assert wrong.status_code == 422
    assert "isn’t connected" in wrong.content.decode()
    saved = browser_of_owner.post(HERE + "models/words/", {"deep": "openai/gpt-5", "fast": ""})
    assert saved.status_code == 302
    assert ModelWord.objects.get().model == "openai/gpt-5"


def test_runs_for_which_it_was_picked_are_an_agents_too(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    analyst, writer = (harbour.agents.get(slug=slug) for slug in ("analyst", "writer"))
    open_to_all = make_routine(harbour, agent=None, name="Whatever comes")
    moved = make_routine(harbour, agent=writer, name="Weekly sums")
    now = clock.now()
    for number, spent in enumerate((20_000, 30_000, 700_000, 900_000)):
        at = now - timedelta(minutes=number + 1)
        fields = {"at": at, "spent": spent, "turn_at": at}
        make_run(open_to_all, agent=analyst, cause="ours" if number == 3 else "", **fields)
    make_run(open_to_all, agent=writer, at=now - timedelta(minutes=30), turn_at=now)
    # its own ones stay with whom they were asked of, whoever the routine names now
    make_run(moved, RunStatus.FAIL_SCRIPT, at=now, agent=analyst, turn_at=now)
    make_run(moved, RunStatus.SKIP_OVERLAP, at=now + timedelta(seconds=1), agent=analyst)
    page = unescape(browser_of_owner.get(HERE + "analyst/").content.decode())
    month = Run.objects.filter(agent=analyst, queued_at__month=now.month)
    began, spent = month.exclude(status="skip_overlap"), month.exclude(cause="ours")
    cost = sum(spent.values_list("spent", flat=True)) / 1_000_000
    assert f"{began.count()} in {now:%B}, ${cost:.2f}." in page
    assert "Last 6 runs: 4 done, 1 didn’t run, 1 failed. Latest: didn’t run." in page
    assert "$0.03 a run." in page  # the median of 0, 0.02, 0.03, 0.70 and 0.90
    assert "No routines ask for it." in page.replace("0 routines", "No routines")
    assert ">Whatever comes</a>" in page and "Assistant picked Analyst lately." in page
    assert ">Weekly sums</a>" not in page  # it asks for Writer now
    roster = unescape(browser_of_owner.get(HERE).content.decode())
    row = roster.split(">Analyst</a>")[1].split("</tr>")[0]
    assert "when picked:" in row and "Whatever comes" in row and "$0.03" in row
    assert "One has steady work." in roster


def allow(agent: Agent, allowed: Allowed) -> None:
    edited = replace(content_of_agent(agent), apps=allowed)
    person = owner_of(agent.workspace)
    assert isinstance(configure_agent(agent, person, agent.version, edited), AgentSaved)


LIMIT = {"apps_shown": "yes", "apps_limit": "some"}


def test_an_agents_form_says_which_apps_it_may_use_at_most(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    make_app(harbour)
    make_app(harbour, "Billing", state="refused", trouble="It refused.")
    page = browser_of_owner.get(HERE + "writer/").content.decode()
    assert 'value="all" checked>Whatever its routine gives it' in page
    assert "Helpdesk: changes things, 2 tools" in page and "It asks to be signed in again." in page
    sent = LIMIT | {"version": "1", "app_tools": ["helpdesk/find_ticket"]}
    saved = browser_of_owner.post(HERE + "writer/", sent)
    assert saved.status_code == 302
    page = browser_of_owner.get(HERE + "writer/").content.decode()
    assert 'value="some" checked>At most these' in page
    assert "Helpdesk: reads, find_ticket" in page and "May use Helpdesk at most" in page
    assert 'value="helpdesk/find_ticket" checked' in page
    assert 'value="helpdesk/close_ticket">' in page
    assert ">Files, Helpdesk</td>" in browser_of_owner.get(HERE).content.decode()
    old = browser_of_owner.get(HERE + "writer/versions/1/").content.decode()
    assert "Whatever its routine gives it" in old
    new = unescape(browser_of_owner.get(HERE + "writer/versions/2/").content.decode())
    assert "Helpdesk<small>find_ticket: reads." in new
    copy = browser_of_owner.get(HERE + "new/?like=writer").content.decode()
    assert 'value="helpdesk/find_ticket" checked' in copy
    made = browser_of_owner.post(HERE + "new/", GARDENER | sent)
    assert made.status_code == 302
    gardener = harbour.agents.get(slug="gardener")
    assert content_of_agent(gardener).apps == (AllowedApp("helpdesk", ("find_ticket",)),)
    browser_of_owner.post(HERE + "writer/", {"version": "2", "apps_shown": "yes"})
    assert content_of_agent(harbour.agents.get(slug="writer")).apps is None
    assert "apps_shown" not in browser_of_owner.get(HERE + "script/").content.decode()


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        (["helpdesk/gone"], "Helpdesk has no tool called gone. Leave it out."),
        (["absent/x"], "No app here is called absent. Leave it out."),
        (["a\0b/x"], "No app here is called"),
        (["helpdesk/a\0b"], "Helpdesk has no tool called"),
    ],
)
def test_what_cant_be_chosen_is_said_at_its_place(
    browser_of_owner: Client, harbour: Workspace, tools: list[str], says: str
) -> None:
    make_app(harbour)
    for path in ("writer/", "new/"):
        sent = GARDENER | LIMIT | {"version": "1", "app_tools": tools}
        sent["name"] = "Writer" if path == "writer/" else "Gardener"
        refused = browser_of_owner.post(HERE + path, sent)
        page = unescape(refused.content.decode())
        assert refused.status_code == 422 and says in page and 'href="#apps"' in page


def test_tools_that_are_ticked_in_vain_are_asked_about(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    make_app(harbour)
    sent = {"version": "1", "apps_shown": "yes", "apps_limit": "all"}
    sent |= {"app_tools": ["helpdesk/find_ticket"]}  # type: ignore[dict-item]
    for path in ("writer/", "new/"):
        refused = browser_of_owner.post(HERE + path, GARDENER | sent | {"name": "Writer"})
        page = refused.content.decode()
        assert refused.status_code == 422 and "Tools are ticked. Choose" in page
        assert 'value="helpdesk/find_ticket" checked' in page
    allow(harbour.agents.get(slug="writer"), (AllowedApp("helpdesk", ("find_ticket",)),))
    freed = browser_of_owner.post(HERE + "writer/", sent | {"version": "2"})
    assert freed.status_code == 302  # limited before, the other choice says it all


def test_an_old_form_that_is_sent_back_stays_old(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    make_app(harbour)
    writer = harbour.agents.get(slug="writer")
    edited = replace(content_of_agent(writer), purpose="Something else since")
    assert isinstance(configure_agent(writer, owner_of(harbour), 1, edited), AgentSaved)
    sent = {"version": "1", "apps_shown": "yes", "apps_limit": "all", "purpose": "Mine"}
    old = {**sent, "app_tools": ["helpdesk/find_ticket"]}
    page = browser_of_owner.post(HERE + "writer/", old).content.decode()
    assert 'name="version" value="1"' in page
    assert browser_of_owner.post(HERE + "writer/", sent).status_code == 409


def test_a_removed_app_is_dropped_where_it_is_seen(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    app, writer = make_app(harbour), harbour.agents.get(slug="writer")
    allow(writer, (AllowedApp("helpdesk", ("close_ticket", "find_ticket")),))
    page = unescape(browser_of_owner.get(HERE + "writer/").content.decode())
    assert "It doesn’t have this one now" not in page
    tools = app.tools
    Connector.objects.update(tools=tools[:1])
    page = unescape(browser_of_owner.get(HERE + "writer/").content.decode())
    assert "It doesn’t have this one now" in page
    changes, reads = tools[0] | {"name": "open"}, tools[1] | {"name": "look"}
    for there, said in (
        (tools[:1], "changes things, close_ticket (it no longer has find_ticket)"),
        ([*tools, reads], "changes things, 2 of 3 tools"),
        ([changes, reads], "changes things, none of 2 tools (it no longer has close_ticket or"),
        ([], "no tool is known (it no longer has close_ticket or find_ticket)"),
    ):
        Connector.objects.update(tools=there)
        page = unescape(browser_of_owner.get(HERE + "writer/").content.decode())
        assert f"<summary>Helpdesk: {said}" in page
    remove_app(app)
    page = unescape(browser_of_owner.get(HERE + "writer/").content.decode())
    assert "Helpdesk isn’t connected any more. Saving leaves it out." in page
    words = unescape(browser_of_owner.get(HERE + "writer/versions/2/").content.decode())
    assert "Helpdesk<small>It isn’t connected any more.</small>" in words
    browser_of_owner.post(HERE + "writer/", LIMIT | {"version": "2"})
    page = unescape(browser_of_owner.get(HERE + "writer/").content.decode())
    assert "May no longer use Helpdesk" in page and "Saving leaves it out" not in page


def test_its_routines_form_says_which_tools_it_may_not_use(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    make_app(harbour)
    writer = harbour.agents.get(slug="writer")
    make_routine(harbour, agent=writer, slug="letters")
    edit = "/w/harbour/routines/letters/edit/"
    assert "may not use it" not in unescape(browser_of_owner.get(edit).content.decode())
    allow(writer, (AllowedApp("helpdesk", ("find_ticket",)),))
    page = unescape(browser_of_owner.get(edit).content.decode())
    assert "Writer may use 1 of its 2 tools." in page
    assert ">Writer may not use it. Changes things. Close a ticket.</small>" in page
    assert ">Reads. Find a ticket.</small>" in page


def test_choosing_another_agent_says_at_once_which_apps_it_may_not_use(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    make_app(harbour)
    make_app(harbour, "Billing")
    writer = harbour.agents.get(slug="writer")
    allow(writer, (AllowedApp("helpdesk", ("find_ticket",)),))
    page = unescape(browser_of_owner.get("/w/harbour/routines/new/").content.decode())
    ids = set(re.findall(r' id="([^"]+)"', page))

    def hints(agent: Agent) -> dict[str, str]:
        sent = {"part": "sentence", "agent": agent.pk, "apps_shown": "yes", "apps": "billing:must"}
        answer = browser_of_owner.post("/w/harbour/routines/schedule/preview", sent)
        said = unescape(answer.content.decode())
        assert "<select" in said and 'name="apps"' not in said and 'name="app_tools"' not in said
        parts = r' id="((?:app|does-h|does-b)[^"]+)" hx-swap-oob="true"( hidden)?>([^<]*)</'
        found = re.findall(parts, said)
        assert {each for each, _, _ in found} <= ids
        return {each: "" if hidden else text for each, hidden, text in found}

    limited = hints(writer)
    assert limited["app-helpdesk-h"] == "Writer may use 1 of its 2 tools."
    assert limited["app-billing-h"] == "Writer may not use it."
    assert limited["does-helpdesk/close_ticket"].startswith("Writer may not use it. ")
    assert limited["apps-script"] == ""
    free = hints(harbour.agents.get(slug="assistant"))
    assert free["app-helpdesk-h"] == free["app-billing-h"] == free["apps-script"] == ""
    assert free["does-helpdesk/close_ticket"] == "Changes things. Close a ticket."
    assert hints(harbour.agents.get(slug="script"))["apps-script"] == "A script calls no apps."


def test_saving_warns_of_routines_that_it_would_stop(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    make_app(harbour)
    writer = harbour.agents.get(slug="writer")
    apps = [{"app": "helpdesk", "required": True}]
    make_routine(harbour, agent=writer, name="Answer letters", slug="letters", apps=apps)
    sent = LIMIT | {"version": "1"}
    warned = browser_of_owner.post(HERE + "writer/", sent)
    page = unescape(warned.content.decode())
    assert warned.status_code == 409 and "One routine would not run any more:" in page
    assert ">Answer letters</a>" in page and "Save all the same" in page
    assert 'name="stopping" value="letters"' in page and 'value="some" checked' in page
    assert harbour.agents.get(slug="writer").version == 1
    saved = browser_of_owner.post(HERE + "writer/", sent | {"stopping": "letters"})
    assert saved.status_code == 302
    edit = unescape(browser_of_owner.get("/w/harbour/routines/letters/edit/").content.decode())
    assert "Writer may not use it." in edit
    form = {"then": "save", "version": "1", "apps_shown": "yes", "apps": ["helpdesk:must"]}
    refused = browser_of_owner.post("/w/harbour/routines/letters/edit/", form)
    assert refused.status_code == 422
    said = "Writer may not use Helpdesk. Allow it on Writer’s page, or leave it out here."
    assert said in unescape(refused.content.decode())
    assert Routine.objects.get().version == 1
