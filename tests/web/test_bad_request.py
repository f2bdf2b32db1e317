"""A request that can't be read is answered with a page that says so, wherever it goes."""

import pytest
from django.test import Client


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/w/harbour/routines/new/"])
def test_a_form_in_another_charset_is_refused_in_words(path: str) -> None:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.cookies["csrftoken"] = "a" * 32  # else the form is refused before it is read
    kind = "application/x-www-form-urlencoded; charset=utf-7"
    answer = client.post(path, b"name=x", content_type=kind)
    assert answer.status_code == 400
    assert "That couldn’t be read." in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "form", "status"),
    [
        ("people/remove/?person=%00", None, 404),
        ("people/role/", {"person": "a\0b", "role": "member"}, 404),
        ("agents/new/?like=%00", None, 200),
        ("files/?machine=%00", None, 302),
        ("files/harbour-1/routines/a%00b/c", None, 404),
        ("files/harbour-1/a%00b", {"do": "delete"}, 404),
        ("machines/new/", {"name": "a\0b"}, 422),
        ("plan/ledger/?before=9999-12-31T23:59:59-23:59", None, 200),
        ("plan/ledger/?before=0001-01-01T00:00:00%2B23:59", None, 200),
        ("bell/?before=9999-12-31T23:59:59-23:59", None, 200),
        ("bell/?before=0001-01-01T00:00:00%2B23:59", None, 200),
    ],
)
def test_what_the_database_can_t_hold_is_answered_in_words(
    browser_of_owner: Client, path: str, form: dict[str, str] | None, status: int
) -> None:
    address = f"/w/harbour/{path}"
    answer = browser_of_owner.get(address) if form is None else browser_of_owner.post(address, form)
    assert answer.status_code == status
