"""The frame of every page."""

import re
from pathlib import Path

import pytest
from django.test import Client, RequestFactory

from accounts.models import Role, User
from routines_app.web.errors import broken
from tests.factories import make_member, make_person, make_workspace

TEMPLATES = Path(__file__).resolve().parent.parent.parent / "templates"


@pytest.fixture
def owner(client: Client, db: None) -> User:
    person = make_person("Ada Byron")
    make_workspace(person, slug="ada", name="Ada’s workspace")
    client.force_login(person)
    return person


def test_the_page_where_one_is_is_marked_and_no_other(client: Client, owner: User) -> None:
    page = client.get("/w/ada/machines/").content.decode()
    rail = page[page.index('aria-label="Main"') : page.index("rail-foot")]
    assert re.findall(r'aria-current="page">(\w+)', rail) == ["Machines"]


def test_a_page_says_its_name_first_and_has_one_heading(client: Client, owner: User) -> None:
    for path in ("machines/", "agents/", "agents/models/", "people/", "more/"):
        page = client.get(f"/w/ada/{path}").content.decode()
        assert re.search(r"<title>[^<]+ · Routines</title>", page), path
        assert page.count("<h1") == 1, path
        assert page.index('href="#main"') < page.index("<nav"), path


def test_a_person_of_two_workspaces_can_change_between_them(client: Client, owner: User) -> None:
    other = make_workspace(name="The other one")
    make_member(other, Role.VIEWER)
    other.memberships.create(user=owner, role=Role.VIEWER)
    page = client.get("/w/ada/machines/").content.decode()
    assert f'href="/w/{other.slug}/routines/"' in page
    assert "The other one" in page


@pytest.mark.parametrize(
    ("theme", "mark"), [("dark", 'data-theme="dark"'), ("system", "<html lang")]
)
def test_the_theme_is_the_persons(client: Client, owner: User, theme: str, mark: str) -> None:
    client.post("/me/", {"name": "Ada", "zone": "UTC", "theme": theme})
    page = client.get("/me/").content.decode()
    assert mark in page
    assert ("data-theme" in page) == (theme != "system")


def test_a_zone_of_no_such_name_is_refused_in_a_sentence(client: Client, owner: User) -> None:
    answer = client.post("/me/", {"name": "Ada", "zone": "Mars/Olympus", "theme": "dark"})
    assert answer.status_code == 422
    assert "There is no zone of that name." in answer.content.decode()
    owner.refresh_from_db()
    assert (owner.zone, owner.theme) == ("UTC", "system")


def test_times_are_told_in_the_viewers_zone(client: Client, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(zone="Asia/Tokyo")
    page = client.get("/w/ada/people/").content.decode()
    assert "+09:00" in page


def test_single_keys_are_there_for_whoever_wants_them(client: Client, owner: User) -> None:
    assert "js/keys.js" in client.get("/me/").content.decode()
    client.post("/me/", {"name": "Ada", "zone": "UTC", "theme": "system"})
    assert "js/keys.js" not in client.get("/me/").content.decode()


def test_a_workspaces_own_address_leads_to_its_routines(client: Client, owner: User) -> None:
    assert client.get("/w/ada/")["Location"] == "/w/ada/routines/"


def test_a_person_without_a_workspace_can_make_one(client: Client, db: None) -> None:
    person = make_person("Nell")
    client.force_login(person)
    assert "You belong to no workspace." in client.get("/").content.decode()
    client.post("/workspaces/new/")
    client.post("/workspaces/new/")
    assert person.memberships.count() == 1
    assert client.get("/")["Location"] == "/w/nell/routines/"


def test_nothing_at_an_address_is_said_in_the_frame(client: Client, owner: User) -> None:
    answer = client.get("/nothing/here/")
    assert answer.status_code == 404
    assert "There is nothing at this address." in answer.content.decode()
    assert 'class="rail"' in answer.content.decode()
    in_place = client.get("/nothing/here/", headers={"HX-Request": "true"})
    assert "<html" not in in_place.content.decode()


def test_a_broken_page_gives_a_code_and_no_trace() -> None:
    answer = broken(RequestFactory().get("/w/x/"))
    page = answer.content.decode()
    assert answer.status_code == 500
    assert re.search(r"<code>[0-9a-f]{4}-[0-9a-f]{4}</code>", page)
    assert "Traceback" not in page


def test_no_template_holds_a_script_or_a_style_of_its_own() -> None:
    offenders = []
    for file in TEMPLATES.rglob("*.html"):
        text = file.read_text()
        if (
            re.search(r"<style|\sstyle=|\son[a-z]+=[\"']|hx-on|javascript:", text)
            or re.search(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", text)
        ):  # fmt: skip
            offenders.append(str(file))
    assert offenders == []


def test_the_policy_allows_our_own_files_only(client: Client, db: None) -> None:
    policy = client.get("/help/")["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
