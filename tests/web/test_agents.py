"""The roster and an agent's page: what it says, and who may change what there."""

from datetime import timedelta

import pytest
from django.test import Client

from accounts.models import Role, Workspace
from routines_app.models import Agent, ModelKey, ModelWord
from tests.factories import NOON, make_member, make_routine, make_run

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
