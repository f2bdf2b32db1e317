"""People: roles at once, invitations by link and email, and leaving without leaving a mess."""

import re
from html import unescape
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client

from accounts.models import Invitation, Membership, Role, User, Workspace
from routines_app.models import AppSignIn
from tests.factories import make_app, make_member, make_person, make_routine

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_sent_yet() -> None:
    cache.clear()


def invite(browser: Client, email: str = "new@example.org", role: str = "member") -> str:
    """Invite somebody on the page; the path of the link that it shows."""
    page = browser.post(
        "/w/harbour/people/invite/", {"email": email, "role": role}, follow=True
    ).content.decode()
    found = re.search(r'value="[a-z]+://[^/"]+(/invitations/[^"]+)"', page)
    assert found is not None
    return found[1]


def test_a_link_is_shown_once_and_lets_a_signed_in_person_in(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    path = invite(browser_of_owner)
    page = browser_of_owner.get("/w/harbour/people/").content.decode()
    assert path not in page and "new@example.org" in page and "one on the way" in page
    person, browser = make_person(email="New@example.org"), Client()
    browser.force_login(person)
    page = browser.get(path).content.decode()
    assert f"Join {harbour.name}" in page and "for n…@example.org, until" in page
    assert not Membership.objects.filter(user=person).exists()  # reading isn't joining
    assert browser.post(path)["Location"] == "/w/harbour/routines/"
    assert Membership.objects.get(user=person).role == Role.MEMBER
    other = Client()
    other.force_login(make_person())
    answer = other.post(path)
    assert answer.status_code == 410 and "This link has been used." in answer.content.decode()


def test_a_new_person_makes_an_account_by_it_though_sign_up_is_closed(
    browser_of_owner: Client, harbour: Workspace, settings: Any
) -> None:
    settings.OPEN_SIGNUP = False
    path, browser = invite(browser_of_owner, role="viewer"), Client()
    form = {"name": "Ada Byron", "email": "new@example.org", "password1": "correct horse battery"}
    assert "Make an account" not in browser.get("/accounts/signup/").content.decode()
    assert "Make an account" in browser.get(path).content.decode()
    answer = browser.post("/accounts/signup/", form, follow=True)
    assert answer.redirect_chain[-1][0] == "/w/harbour/routines/"
    person = User.objects.get(email="new@example.org")
    assert [each.role for each in person.memberships.all()] == [Role.VIEWER]
    again = Client()
    again.get(path)
    again.post("/accounts/signup/", form | {"email": "second@example.org"})
    assert not User.objects.filter(email="second@example.org").exists()


def test_whoever_else_holds_the_link_gets_no_account_by_it(
    browser_of_owner: Client, harbour: Workspace, settings: Any
) -> None:
    settings.OPEN_SIGNUP = False
    path, browser = invite(browser_of_owner), Client()
    page = browser.get(path).content.decode()
    assert "n…@example.org" in page and "new@example.org" not in page
    form = {"name": "Ada Byron", "email": "else@example.org", "password1": "correct horse battery"}
    answer = browser.post("/accounts/signup/", form)
    said = "The invitation is for n…@example.org. Write that address, or ask Ada Byron to invite"
    assert said in unescape(answer.content.decode())
    assert not User.objects.filter(email="else@example.org").exists()
    answer = browser.post("/accounts/signup/", form | {"email": "NEW@example.org"}, follow=True)
    assert answer.redirect_chain[-1][0] == "/w/harbour/routines/"


def test_an_account_of_another_address_is_told_whose_invitation_it_is(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    path, person, browser = invite(browser_of_owner), make_person(), Client()
    browser.force_login(person)
    page = browser.get(path).content.decode()
    assert f"for n…@example.org, and you are signed in as {person.email}. Sign out" in page
    assert f"ask Ada Byron to invite {person.email}" in page
    assert "new@example.org" not in page and f"Join {harbour.name}" not in page
    answer = browser.post(path)
    assert answer.status_code == 403 and "n…@example.org" in answer.content.decode()
    assert not Membership.objects.filter(user=person).exists()
    assert Invitation.objects.get().used_at is None
    away = browser.post("/accounts/logout/", {"next": path})
    assert away["Location"] == path
    browser.force_login(make_person(email="new@example.org"))
    assert browser.post(path)["Location"] == "/w/harbour/routines/"


def test_the_link_is_sent_where_there_is_a_mail_server(
    browser_of_owner: Client, harbour: Workspace, settings: Any, owner: User
) -> None:
    settings.EMAIL_TO_LOG = False
    path = invite(browser_of_owner, role="admin")
    (letter,) = mail.outbox
    assert letter.to == ["new@example.org"]
    assert letter.subject == f"{owner} asks you into Harbour"
    assert path in letter.body and "as an admin" in letter.body


def test_a_mail_server_that_is_away_is_said_and_the_link_is_there(
    browser_of_owner: Client, harbour: Workspace, settings: Any
) -> None:
    settings.EMAIL_TO_LOG = False
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    answer = browser_of_owner.post(
        "/w/harbour/people/invite/", {"email": "new@example.org", "role": "member"}, follow=True
    )
    page = answer.content.decode()
    assert "The mail server didn’t take it" in page and "/invitations/" in page


def test_what_is_typed_wrong_is_said_and_kept(browser_of_owner: Client, harbour: Workspace) -> None:
    answer = browser_of_owner.post("/w/harbour/people/invite/", {"email": "x", "role": "viewer"})
    page = answer.content.decode()
    assert answer.status_code == 422 and page.count("Write their email") == 2
    assert 'value="x"' in page and '<option value="viewer" selected>' in page


def test_an_invitation_is_taken_back_or_sent_again(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    first = invite(browser_of_owner)
    key = Invitation.objects.get().key
    page = browser_of_owner.post(f"/w/harbour/people/{key}/again/", follow=True).content.decode()
    assert first not in page and "/invitations/" in page
    assert Client().get(first).status_code == 404
    browser_of_owner.post(f"/w/harbour/people/{key}/take-back/", follow=True)
    page = browser_of_owner.get("/w/harbour/people/").content.decode()
    assert "new@example.org" not in page and ">Invited</h2>" not in page


def test_a_role_changes_at_once_and_back_again(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    person = make_member(harbour, Role.MEMBER)
    form = {"person": person.email, "role": "admin"}
    page = browser_of_owner.post("/w/harbour/people/role/", form, follow=True).content.decode()
    assert Membership.objects.get(user=person).role == Role.ADMIN
    assert "is an admin now." in page
    undo = re.search(r'action="([^"]+undone=yes[^"]*)"', page)
    assert undo is not None
    answer = browser_of_owner.post(unescape(undo[1]), {"then": "/w/harbour/people/"}, follow=True)
    page = answer.content.decode()
    assert Membership.objects.get(user=person).role == Role.MEMBER
    assert "Undo" not in page


@pytest.mark.parametrize("role", [Role.VIEWER, Role.MEMBER])
def test_who_isn_t_an_admin_reads_and_does_nothing(
    client: Client, harbour: Workspace, owner: User, role: Role
) -> None:
    person = make_member(harbour, role)
    client.force_login(person)
    page = client.get("/w/harbour/people/").content.decode()
    assert owner.email in page
    assert "Remove</a>" not in page and "Invite someone" not in page and "<select" not in page
    for path in ("invite/", "role/", "remove/"):
        answer = client.post(f"/w/harbour/people/{path}", {"person": owner.email, "role": "viewer"})
        assert answer.status_code == 403


def test_an_admin_doesn_t_touch_the_owner(client: Client, harbour: Workspace, owner: User) -> None:
    client.force_login(make_member(harbour, Role.ADMIN))
    form = {"person": owner.email, "role": "viewer"}
    assert client.post("/w/harbour/people/role/", form).status_code == 422
    assert client.post("/w/harbour/people/remove/", form).status_code == 422
    assert Membership.objects.get(user=owner).role == Role.OWNER


def test_removing_somebody_asks_about_each_routine(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    person, heir = make_member(harbour, Role.MEMBER), make_member(harbour, Role.MEMBER)
    viewer = make_member(harbour, Role.VIEWER)
    given = make_routine(harbour, owner=person, name="Inbox triage", slug="triage")
    left = make_routine(harbour, owner=person, name="Morning brief", slug="brief")
    page = browser_of_owner.get(f"/w/harbour/people/remove/?person={person.email}")
    text = page.content.decode()
    assert "Inbox triage" in text and "Morning brief" in text and "Nobody: stop it visibly" in text
    assert f'value="{viewer.email}"' not in text
    form = {"person": person.email, "heir-triage": heir.email}
    answer = browser_of_owner.post("/w/harbour/people/remove/", form)
    assert answer.status_code == 422
    assert "Say who takes over Morning brief" in answer.content.decode()
    assert Membership.objects.filter(user=person).exists()
    wrong = form | {"heir-brief": viewer.email}
    assert browser_of_owner.post("/w/harbour/people/remove/", wrong).status_code == 422
    page = browser_of_owner.post(
        "/w/harbour/people/remove/", form | {"heir-brief": ""}, follow=True
    ).content.decode()
    assert "One routine was turned off by it." in page
    assert not Membership.objects.filter(user=person).exists()
    given.refresh_from_db()
    left.refresh_from_db()
    assert (given.owner, given.enabled) == (heir, True)
    assert (left.owner, left.enabled, left.off_by) == (owner, False, owner)


def test_removing_somebody_names_the_apps_that_are_signed_in_to_as_them(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    person, other = make_member(harbour, Role.ADMIN), make_member(harbour, Role.ADMIN)
    for name, who, held in (
        ("Helpdesk", person, b"sealed"),
        ("Billing", person, b"sealed"),
        ("Ledger", person, b""),
        ("Library", other, b"sealed"),
    ):
        AppSignIn.objects.create(connector=make_app(harbour, name), signed_in_by=who, held=held)
    page = browser_of_owner.get(f"/w/harbour/people/remove/?person={person.email}")
    text = " ".join(page.content.decode().split())
    assert "Billing and Helpdesk: runs go on using them under their name" in text
    assert "Ledger" not in text and "Library" not in text


def test_who_was_removed_finds_nothing_any_more(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    person, browser = make_member(harbour, Role.ADMIN), Client()
    browser.force_login(person)
    assert browser.get("/w/harbour/people/").status_code == 200
    browser_of_owner.post("/w/harbour/people/remove/", {"person": person.email})
    assert browser.get("/w/harbour/people/").status_code == 404


def test_who_was_removed_doesn_t_come_back_by_a_link_of_their_own(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    person, browser = make_member(harbour, Role.ADMIN), Client()
    browser.force_login(person)
    path = invite(browser, "another-address@example.org", "admin")
    browser_of_owner.post("/w/harbour/people/remove/", {"person": person.email})
    assert browser.post(path).status_code == 410
    assert not Membership.objects.filter(user=person).exists()


@pytest.mark.parametrize("name", ["Eve\rBcc: all@example.org", "Eve\x0bBcc: all@example.org"])
def test_a_name_is_one_line_of_a_letter(
    browser_of_owner: Client, harbour: Workspace, settings: Any, owner: User, name: str
) -> None:
    settings.EMAIL_TO_LOG = False
    User.objects.filter(pk=owner.pk).update(name=name)
    invite(browser_of_owner)
    (letter,) = mail.outbox
    head = letter.message().as_string().partition("\n\n")[0]
    assert letter.subject.startswith("Eve Bcc: all@example.org asks you")
    assert re.search("^Bcc", head, re.MULTILINE) is None and "\nFrom: " in head


def test_an_address_gets_a_few_letters_a_day_and_then_the_link_is_passed_on(
    browser_of_owner: Client, harbour: Workspace, settings: Any
) -> None:
    settings.EMAIL_TO_LOG = False
    invite(browser_of_owner)
    again = f"/w/harbour/people/{Invitation.objects.get().key}/again/"
    pages = [browser_of_owner.post(again, follow=True).content.decode() for _ in range(9)]
    assert len(mail.outbox) == 5
    assert "/invitations/" in pages[-1] and "enough for a day" in pages[-1]
    invite(browser_of_owner, "else@example.org")
    assert mail.outbox[-1].to == ["else@example.org"]


def test_undo_in_place_loads_the_page_that_says_the_role(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    person = make_member(harbour, Role.ADMIN)
    form = {"person": person.email, "role": "member"}
    answer = browser_of_owner.post("/w/harbour/people/role/", form, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"]) == (204, "/w/harbour/people/")
    assert Membership.objects.get(user=person).role == Role.MEMBER
