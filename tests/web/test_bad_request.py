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
