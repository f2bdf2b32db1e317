"""A person's own page: looks, passkeys, and where they are signed in."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.test import Client

from accounts.models import User, Workspace

pytestmark = pytest.mark.django_db

PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"


def sign_in(person: User, user_agent: str) -> Client:
    browser = Client(headers={"User-Agent": user_agent})
    form = {"login": person.email, "password": "correct horse"}
    assert browser.post("/accounts/login/", form).status_code == 302
    return browser


def test_a_theme_is_kept_and_set_on_every_page(browser_of_owner: Client, owner: User) -> None:
    form = {"name": "Ada Byron", "zone": "Europe/London", "theme": "dark"}
    assert browser_of_owner.post("/me/", form).status_code == 302
    owner.refresh_from_db()
    assert (owner.theme, owner.single_keys) == ("dark", False)
    for path in ("/me/", "/w/harbour/plan/"):
        page = browser_of_owner.get(path).content.decode()
        assert 'data-theme="dark"' in page and "js/keys.js" not in page


def test_each_sign_in_is_listed_and_can_be_ended_from_another(
    harbour: Workspace, owner: User
) -> None:
    here, phone = sign_in(owner, "curl/8"), sign_in(owner, PHONE)
    page = here.get("/me/").content.decode()
    assert "Safari on iPhone" in page and page.count("· this one") == 1
    row = UserSession.objects.get(user_agent=PHONE)
    assert here.post("/me/sessions/", {"session": row.pk})["Location"] == "/me/"
    assert phone.get("/me/").status_code == 302  # to sign-in
    assert here.get("/me/").status_code == 200


def test_everywhere_else_leaves_this_one(harbour: Workspace, owner: User) -> None:
    here, *others = [sign_in(owner, PHONE) for _ in range(3)]
    here.post("/me/sessions/")
    assert [each.get("/me/").status_code for each in others] == [302, 302]
    assert here.get("/me/").status_code == 200


def test_nobody_ends_another_person_s_sign_in(browser_of_owner: Client, harbour: Workspace) -> None:
    other = User.objects.create_user("other@example.org", "correct horse", name="Ada Byron")
    theirs = sign_in(other, PHONE)
    row = UserSession.objects.get(user=other)
    for named in (str(row.pk), "9" * 30, "x"):
        browser_of_owner.post("/me/sessions/", {"session": named})
    assert theirs.get("/me/").status_code == 200


def test_passkeys_are_listed_with_their_names(browser_of_owner: Client, owner: User) -> None:
    assert "None yet." in browser_of_owner.get("/me/").content.decode()
    Authenticator.objects.create(
        user=owner, type=Authenticator.Type.WEBAUTHN, data={"name": "Laptop", "credential": {}}
    )
    page = browser_of_owner.get("/me/").content.decode()
    assert "<h3>Laptop</h3>" in page and "Never used" in page
    assert 'aria-label="Remove Laptop"' in page
