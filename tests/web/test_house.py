"""What every page stands on: static files, health, the one name of the embedded site."""

from pathlib import Path

import pytest
from django.test import Client

CSS = next(Path("static/css").glob("*.css"))


def test_a_static_file_comes_whole_and_is_known_again() -> None:
    first = Client().get(f"/static/css/{CSS.name}")
    assert first.status_code == 200
    assert first.content == CSS.read_bytes()
    assert first.headers["Content-Type"].startswith("text/css")
    again = Client().get(
        f"/static/css/{CSS.name}", headers={"If-Modified-Since": first.headers["Last-Modified"]}
    )
    assert (again.status_code, again.content) == (304, b"")


def test_a_part_of_a_static_file_can_be_asked_for() -> None:
    part = Client().get(f"/static/css/{CSS.name}", headers={"Range": "bytes=2-5"})
    assert part.status_code == 206
    assert part.content == CSS.read_bytes()[2:6]


@pytest.mark.parametrize("path", ["/static/css/none.css", "/static/../manage.py"])
def test_what_is_no_static_file_is_not_found(path: str) -> None:
    assert Client().get(path).status_code == 404


@pytest.mark.django_db
def test_health_says_ok_when_the_database_answers() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert "no-store" in answer.headers["Cache-Control"]
    assert Client().post("/healthz").status_code == 405


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "127.0.0.1", "[::1]:8000"])
def test_a_number_leads_to_the_name(host: str) -> None:
    port = ":8000" if host.endswith(":8000") else ""
    answer = Client().get("/a?b=c", headers={"Host": host})
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"http://localhost{port}/a?b=c"


def test_a_program_is_served_where_it_called() -> None:
    for answer in (
        Client().post("/nothing", headers={"Host": "127.0.0.1:8000"}),
        Client().get("/nothing", headers={"Host": "127.0.0.1:8000", "Authorization": "Bearer x"}),
    ):
        assert answer.status_code != 302
