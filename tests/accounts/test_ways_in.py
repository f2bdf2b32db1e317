"""Sign-up, sign-in, sign-out, and who may sign up at all."""

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.models import Role, User
from routines_app.models import AgentRuntime
from routines_app.rules.roster import THE_SEVEN
from tests.factories import make_person, make_workspace

pytestmark = pytest.mark.django_db

NEW = {
    "name": "Ada Byron",
    "email": "ada@example.org",
    "password1": "a long pass phrase 9",
    "zone": "Europe/London",
}


def test_the_first_person_gets_a_place_of_their_own_with_all_a_routine_needs(
    client: Client,
) -> None:
    assert client.get("/")["Location"] == "/accounts/signup/"
    answer = client.post("/accounts/signup/", NEW, follow=True)
    assert answer.redirect_chain[-1][0] == "/w/ada/routines/"
    person = User.objects.get()
    assert (person.name, person.zone) == ("Ada Byron", "Europe/London")
    membership = person.memberships.get()
    workspace = membership.workspace
    assert membership.role == Role.OWNER
    assert workspace.zone == "Europe/London"
    assert workspace.account.plan == "self-hosted"
    machine = workspace.machines.get()
    assert machine.state == "asleep"
    roster = {agent.name: agent.runtime for agent in workspace.agents.order_by("pk")}
    assert list(roster) == [member.name for member in THE_SEVEN]
    without_model = {name for name, runtime in roster.items() if runtime == AgentRuntime.SCRIPT}
    assert without_model == {"Script"}
    assert all(agent.versions.get().number == 1 for agent in workspace.agents.all())


@pytest.mark.parametrize("zone", ["Mars/Olympus", "Factory"])
def test_a_zone_that_nobody_knows_becomes_utc(client: Client, zone: str) -> None:
    client.post("/accounts/signup/", NEW | {"zone": zone})
    assert User.objects.get().zone == "UTC"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "Write the name that others will see."),
        ("password1", "short", "12 characters"),
        ("email", "nobody", "valid email"),
    ],
)
def test_what_is_wrong_stays_on_the_form_and_nobody_is_made(
    client: Client, field: str, value: str, words: str
) -> None:
    page = client.post("/accounts/signup/", NEW | {field: value}).content.decode()
    assert words in page
    assert "One thing to fix" in page
    assert "<title>Error: " in page
    assert not User.objects.exists()


def test_a_place_with_people_is_closed_and_says_whom_to_ask(client: Client) -> None:
    make_workspace(make_person("Harbour Owner"))
    for answer in (client.get("/accounts/signup/"), client.post("/accounts/signup/", NEW)):
        page = answer.content.decode()
        assert "This place has its people." in page
        assert "Ask Harbour Owner to invite you." in page
    assert User.objects.count() == 1
    assert client.get("/")["Location"] == "/accounts/login/"


def test_an_open_place_takes_everybody(client: Client, settings: Settings) -> None:
    settings.OPEN_SIGNUP = True
    make_workspace()
    client.post("/accounts/signup/", NEW)
    assert User.objects.filter(email="ada@example.org").exists()


def test_sign_in_leads_to_where_one_was_going_and_sign_out_ends_it(client: Client) -> None:
    person = make_person("Ada")
    workspace = make_workspace(person)
    wanted = f"/w/{workspace.slug}/people/"
    answer = client.post(
        "/accounts/login/",
        {"login": person.email, "password": "correct horse", "next": wanted},
    )
    assert answer["Location"] == wanted
    assert client.get(wanted).status_code == 200
    client.post("/accounts/logout/")
    assert client.get(wanted).status_code == 302


@pytest.mark.parametrize("target", ["//evil.example/", "https://evil.example/", "/\\evil.example"])
def test_sign_in_never_leads_elsewhere(client: Client, target: str) -> None:
    person = make_person()
    make_workspace(person)
    answer = client.post(
        "/accounts/login/", {"login": person.email, "password": "correct horse", "next": target}
    )
    assert answer["Location"] == "/"


def test_a_wrong_password_and_an_unknown_email_read_the_same(client: Client) -> None:
    person = make_person()
    wrong = client.post("/accounts/login/", {"login": person.email, "password": "wrong wrong"})
    unknown = client.post("/accounts/login/", {"login": "x@example.org", "password": "wrong wrong"})
    sentence = "That email and password don’t go together."
    assert sentence in wrong.content.decode()
    assert sentence in unknown.content.decode()


def test_a_password_can_be_changed(client: Client) -> None:
    person = make_person()
    make_workspace(person)
    client.force_login(person)
    fields = {
        "oldpassword": "correct horse",
        "password1": "another long one 7",
        "password2": "another long one 7",
    }
    assert client.get("/accounts/password/change/").status_code == 200
    client.post("/accounts/password/change/", fields)
    person.refresh_from_db()
    assert person.check_password("another long one 7")


@pytest.mark.parametrize(
    "path",
    [
        "/accounts/login/",
        "/accounts/password/reset/",
        "/accounts/password/reset/done/",
        "/accounts/password/reset/key/x-y/",
        "/help/",
    ],
)
def test_the_pages_before_sign_in_are_in_the_house_frame(client: Client, path: str) -> None:
    page = client.get(path).content.decode()
    assert 'class="door"' in page
    assert "<h1>" in page


@pytest.mark.parametrize("path", ["/accounts/2fa/", "/accounts/logout/", "/accounts/email/"])
def test_the_pages_about_signing_in_are_in_the_house_frame(client: Client, path: str) -> None:
    person = make_person()
    make_workspace(person)
    client.force_login(person)
    page = client.get(path).content.decode()
    assert 'class="rail"' in page
    assert "<h1>" in page
