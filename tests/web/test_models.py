"""The ways to models, on their page."""

import pytest
from celery import current_app
from django.conf import settings as site
from django.test import Client
from kombu.exceptions import OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.models import Role, Workspace
from foundation import clock
from foundation.crypto import decrypt
from routines_app.agents.runtimes import ConnectionAnswer
from routines_app.configure.model_keys import replace_key
from routines_app.configure.model_words import meanings_of
from routines_app.configure.models import UsableModel, usable_models
from routines_app.models import ModelKey
from routines_app.runner import model_test
from tests.factories import make_agent, make_member, make_routine, make_workspace

SECRET = "sk-ant-abcdefghijklmnop-4f2a"
PAGE = "/w/ada/agents/models/"
ANTHROPIC = {"provider": "anthropic", "model": "claude-sonnet-4-5", "secret": SECRET}
OWN = {
    "provider": "openai-compatible",
    "model": "llama-home",
    "base_url": "http://127.0.0.1:11434/v1/",
}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC", "OPENAI", "GOOGLE", "GEMINI"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("ROUTINES_MODEL", raising=False)


@pytest.fixture
def workspace(client: Client, db: None) -> Workspace:
    workspace = make_workspace(slug="ada")
    client.force_login(workspace.memberships.get().user)
    return workspace


def test_without_a_model_the_page_says_what_works_and_what_waits(
    client: Client, workspace: Workspace
) -> None:
    page = client.get(PAGE).content.decode()
    assert "No model is connected yet." in page
    assert "Script works without one." in page


def test_the_environments_connection_is_named_and_its_key_never_shown(
    client: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("ROUTINES_MODEL", "claude-sonnet-4-5")
    page = client.get(PAGE).content.decode()
    assert "From this computer’s environment: claude-sonnet-4-5." in page
    assert SECRET not in page
    assert "$3.00" in page


def test_the_page_counts_who_answers_and_offers_what_is_not_connected(
    client: Client, workspace: Workspace
) -> None:
    client.post(f"{PAGE}add/", ANTHROPIC)
    page = client.get(PAGE).content.decode()
    assert "One way to a model." in page and 'href="?provider=openai#model"' in page
    assert 'data-l="By way of">Anthropic, your key 4f2a</td>' in page
    ModelKey.objects.update(tested_at=clock.now(), test_ok=True)
    page = client.get(f"{PAGE}?provider=openai").content.decode()
    assert "One is answering." in page and '<option value="openai" selected>' in page
    assert 'href="?provider=anthropic#model"' not in page


def test_a_key_is_kept_encrypted_and_only_its_end_is_shown(
    client: Client, workspace: Workspace
) -> None:
    assert client.post(f"{PAGE}add/", ANTHROPIC)["Location"] == PAGE
    key = workspace.model_keys.get()
    assert SECRET.encode() not in bytes(key.sealed)
    assert decrypt(site.ENCRYPTION_KEY, str(workspace.key), bytes(key.sealed)) == SECRET
    page = client.get(PAGE).content.decode()
    assert "your key, ending 4f2a" in page
    assert SECRET not in page
    assert [model.label for model in usable_models(workspace)] == ["anthropic/claude-sonnet-4-5"]


def test_a_name_with_nul_and_a_look_of_thousands_of_figures_are_no_failures(
    client: Client, workspace: Workspace
) -> None:
    refused = client.post(f"{PAGE}add/", ANTHROPIC | {"model": "a\0b"})
    assert refused.status_code == 422
    assert "Take out the NUL character" in refused.content.decode()
    client.post(f"{PAGE}add/", ANTHROPIC)
    address = f"{PAGE}{workspace.model_keys.get().key}/test/?look={'9' * 5000}"
    assert client.get(address, headers={"HX-Request": "true"}).status_code == 200


def test_a_short_key_shows_no_part_of_itself(client: Client, workspace: Workspace) -> None:
    client.post(f"{PAGE}add/", ANTHROPIC | {"secret": "abc123"})
    assert workspace.model_keys.get().last_four == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"provider": "acme"}, "Choose one of the four."),
        ({"model": " "}, "Write the model’s name"),
        ({"secret": ""}, "Paste the key"),
        ({"input_price": "cheap", "output_price": "1"}, "Write dollars, such as 0.25"),
        ({"input_price": "1"}, "Write both prices, or neither."),
        ({"input_price": "-1", "output_price": "1"}, "Write dollars, such as 0.25"),
        ({"input_price": "nan", "output_price": "1"}, "Write dollars, such as 0.25"),
        (OWN | {"base_url": "localhost:11434"}, "Write the whole address"),
        (OWN | {"base_url": "http://169.254.169.254/v1"}, "no server on the internet"),
    ],
)
def test_what_is_wrong_with_a_connection_is_said_and_nothing_is_kept(
    client: Client, workspace: Workspace, change: dict[str, str], words: str
) -> None:
    answer = client.post(f"{PAGE}add/", ANTHROPIC | change)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert SECRET not in page and "Paste it again: it isn’t kept until all is right." in page
    assert not ModelKey.objects.exists()
    assert client.get(f"{PAGE}add/").headers["Location"] == PAGE


def test_a_second_connection_to_one_provider_is_refused(
    client: Client, workspace: Workspace
) -> None:
    client.post(f"{PAGE}add/", ANTHROPIC)
    answer = client.post(f"{PAGE}add/", ANTHROPIC)
    assert answer.status_code == 422
    said = "There is a connection to it already. Replace its key, or remove it first."
    assert said in answer.content.decode()
    assert ModelKey.objects.count() == 1


def test_a_model_without_a_price_can_be_used_once_it_has_one(
    client: Client, workspace: Workspace
) -> None:
    client.post(f"{PAGE}add/", OWN)
    key = workspace.model_keys.get()
    assert key.base_url == "http://127.0.0.1:11434/v1"
    assert "llama-home has no price." in client.get(PAGE).content.decode()
    assert usable_models(workspace) == []
    assert client.get(f"{PAGE}{key.key}/price/").headers["Location"] == PAGE
    wrong = client.post(f"{PAGE}{key.key}/price/", {"input_price": "x", "output_price": "1"})
    assert wrong.status_code == 422
    assert client.post(f"{PAGE}{key.key}/price/", {}).status_code == 422
    client.post(f"{PAGE}{key.key}/price/", {"input_price": "0", "output_price": "0.25"})
    assert "has no price" not in client.get(PAGE).content.decode()
    price = usable_models(workspace)[0].price
    assert (price.input, price.output) == (0, 250_000)


def test_a_test_is_asked_of_a_runner_and_its_answer_shown(
    client: Client,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[tuple[str, list[int]]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args: sent.append((name, args)))
    client.post(f"{PAGE}add/", ANTHROPIC)
    key = workspace.model_keys.get()
    htmx = {"HX-Request": "true"}
    with django_capture_on_commit_callbacks(execute=True):
        asked = client.post(f"{PAGE}{key.key}/test/", headers=htmx).content.decode()
    assert sent == [("routines_app.tasks.test_model_key", [key.pk])]
    assert f'hx-get="{PAGE}{key.key}/test/?look=1"' in asked
    assert "<html" not in asked
    waiting = client.get(f"{PAGE}{key.key}/test/?look=1", headers=htmx).content.decode()
    assert "?look=2" in waiting
    given_up = client.get(f"{PAGE}{key.key}/test/?look=60", headers=htmx).content.decode()
    assert "No runner has answered yet." in given_up
    assert "hx-get" not in given_up
    ModelKey.objects.update(tested_at=clock.now(), test_ok=False, test_answer="It said no: expired")
    over = client.get(f"{PAGE}{key.key}/test/?look=2", headers=htmx).content.decode()
    assert "It said no: expired" in over
    assert "hx-get" not in over
    headline = "<h1>None is answering. <em>One doesn’t answer.</em></h1>"
    assert headline in client.get(PAGE).content.decode()


def test_a_test_without_a_broker_says_that_nobody_answers(
    client: Client,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(key: ModelKey) -> None:
        raise OperationalError("refused")

    monkeypatch.setattr("routines_app.web.model_pages.ask_for_test", away)
    client.post(f"{PAGE}add/", ANTHROPIC)
    key = workspace.model_keys.get()
    page = client.post(f"{PAGE}{key.key}/test/", headers={"HX-Request": "true"}).content.decode()
    assert "No runner has answered yet." in page
    assert client.post(f"{PAGE}{key.key}/test/").status_code == 302


def word_models(workspace: Workspace) -> list[UsableModel]:
    models = [each.model for each in meanings_of(workspace)]
    return [model for model in models if isinstance(model, UsableModel)]


def test_a_key_is_replaced_by_another_and_all_else_stays(
    client: Client,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[tuple[str, list[int]]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args: sent.append((name, args)))
    client.post(f"{PAGE}add/", OWN | {"secret": SECRET, "input_price": "1", "output_price": "2"})
    client.post(f"{PAGE}add/", ANTHROPIC)
    client.post(f"{PAGE}words/", {"fast": "openai-compatible/llama-home"})
    key = workspace.model_keys.get(provider="openai-compatible")
    ModelKey.objects.filter(pk=key.pk).update(
        tested_at=clock.now(), test_ok=False, test_answer="It said no: expired"
    )
    address = f"{PAGE}{key.key}/key/"
    page = client.get(PAGE).content.decode()
    assert f'href="{address}"' in page and "It said no: expired" in page
    words = [each.name for each in word_models(workspace)]
    assert words[0] == "llama-home" and words[1] != "llama-home"
    asks = client.get(address).content.decode()
    assert "Replace the key of OpenAI-compatible, ending 4f2a" in asks
    assert 'name="secret"' in asks and 'name="base_url"' not in asks and "_price" not in asks
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(address, {"secret": " sk-own-zyxwvutsrqponm-77c1\n"})
    assert answer["Location"] == f"../../?asked={key.key}"
    assert sent == [("routines_app.tasks.test_model_key", [key.pk])]
    page = client.get(f"{PAGE}?asked={key.key}").content.decode()
    assert "your key, ending 77c1" in page and "It said no: expired" not in page
    assert "Asking llama-home for one word…" in page
    kept = workspace.model_keys.get(pk=key.pk)
    held = decrypt(site.ENCRYPTION_KEY, str(workspace.key), bytes(kept.sealed))
    assert held == "sk-own-zyxwvutsrqponm-77c1"
    assert (kept.base_url, kept.own_input, kept.created_at) == (
        key.base_url,
        1_000_000,
        key.created_at,
    )
    assert [each.name for each in word_models(workspace)] == words
    assert client.post(address, {"secret": ""}).status_code == 422
    assert workspace.model_keys.get(pk=key.pk).last_four == "77c1"


@pytest.mark.parametrize(
    ("secret", "words"), [(" ", "Paste the key"), ("sk-\0", "holds a character that no key has")]
)
def test_a_key_that_is_none_takes_no_keys_place(
    client: Client, workspace: Workspace, secret: str, words: str
) -> None:
    client.post(f"{PAGE}add/", ANTHROPIC)
    key = workspace.model_keys.get()
    answer = client.post(f"{PAGE}{key.key}/key/", {"secret": secret})
    assert answer.status_code == 422 and words in answer.content.decode()
    assert workspace.model_keys.get().sealed == key.sealed
    assert client.post(f"{PAGE}add/", ANTHROPIC | {"secret": secret}).status_code == 422


def test_a_connection_without_a_price_is_no_way_to_a_model(
    client: Client, workspace: Workspace
) -> None:
    client.post(f"{PAGE}add/", OWN)
    page = client.get(PAGE).content.decode()
    assert ">Give it a key</a>" in page and "Replace the key" not in page
    assert "<h1>No model can be used yet. <em>One has no price.</em></h1>" in page
    client.post(f"{PAGE}add/", ANTHROPIC)
    page = client.get(PAGE).content.decode()
    assert "<h1>One way to a model. <em>One has no price.</em></h1>" in page
    ModelKey.objects.update(tested_at=clock.now(), test_ok=True)
    page = client.get(PAGE).content.decode()
    assert "<h1>One is answering. <em>One has no price.</em></h1>" in page


def test_removing_names_the_routines_that_would_stop(client: Client, workspace: Workspace) -> None:
    client.post(f"{PAGE}add/", ANTHROPIC)
    key = workspace.model_keys.get()
    assistant = make_agent(workspace, "Assistant", "model")
    make_routine(workspace, name="Morning brief", agent=assistant)
    make_routine(workspace, name="Backups", agent=make_agent(workspace))
    page = client.get(f"{PAGE}{key.key}/remove/").content.decode()
    assert "One routine would use it next:" in page
    assert "Morning brief" in page
    assert "Backups" not in page
    assert ModelKey.objects.exists()
    client.post(f"{PAGE}{key.key}/remove/")
    assert not ModelKey.objects.exists()


@pytest.mark.parametrize("act", ["test", "key", "price", "remove"])
def test_another_workspaces_key_isnt_found(client: Client, workspace: Workspace, act: str) -> None:
    other = make_workspace()
    key = ModelKey.objects.create(workspace=other, provider="google", model="x")
    assert client.post(f"{PAGE}{key.key}/{act}/").status_code == 404
    assert ModelKey.objects.get() == key


@pytest.mark.parametrize("act", ["test", "key", "price", "remove"])
def test_a_member_sees_the_connections_and_changes_none(
    client: Client, workspace: Workspace, act: str
) -> None:
    client.post(f"{PAGE}add/", ANTHROPIC)
    key = workspace.model_keys.get()
    client.force_login(make_member(workspace, Role.MEMBER))
    page = client.get(PAGE).content.decode()
    assert "your key, ending 4f2a" in page
    assert "Connect one" not in page
    assert client.post(f"{PAGE}{key.key}/{act}/").status_code == 403
    assert client.post(f"{PAGE}add/", ANTHROPIC).status_code == 403
    assert ModelKey.objects.count() == 1


def test_the_roster_names_each_agent_and_whom_it_works_for(
    client: Client, workspace: Workspace
) -> None:
    make_routine(workspace, name="Backups", agent=make_agent(workspace, purpose="Runs a command."))
    page = client.get("/w/ada/agents/").content.decode()
    assert "One to ask. One has steady work." in page
    assert "Runs a command." in page
    assert ">Backups</a>" in page


def test_what_a_replaced_key_was_told_is_not_said_of_the_new_one(
    client: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.post(f"{PAGE}add/", ANTHROPIC)
    key = workspace.model_keys.get()

    def replaced_meanwhile(*_: object) -> ConnectionAnswer:
        assert not replace_key(key, "sk-ant-another-zyxwvuts-77c1")
        return ConnectionAnswer(False, "It said no: expired.", 0.1, None)

    monkeypatch.setattr(model_test, "test_connection", replaced_meanwhile)
    model_test.test_model_key(key.pk)
    key.refresh_from_db()
    assert (key.last_four, key.test_ok, key.test_answer) == ("77c1", None, "")
    answers = ConnectionAnswer(True, "m answered.", 0.1, None)
    monkeypatch.setattr(model_test, "test_connection", lambda *_: answers)
    model_test.test_model_key(key.pk)
    key.refresh_from_db()
    assert (key.test_ok, key.test_answer) == (True, "m answered.")
