"""The banner of every page while the scheduler is late, and the page for whatever watches."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError, connection
from django.test import Client

from foundation import database_clock
from routines_app.fires import beats
from routines_app.fires.beats import Scanner, beat
from routines_app.models import Beat, Notice
from routines_app.web import health
from routines_app.web.banner import banner
from tests.factories import make_person, make_workspace

EIGHT = datetime(2027, 3, 25, 8, 11, tzinfo=UTC)
DOWN = datetime(2027, 3, 25, 7, 52, tzinfo=UTC)


def seen(**facts: object) -> Scanner:
    known = {"now": EIGHT, "at": EIGHT, "gap_from": None, "gap_to": None, "missed": 0}
    return Scanner(**{**known, **facts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("late", "lead"),
    [
        (timedelta(seconds=59), None),
        (timedelta(seconds=61), "The scheduler is 1 minute behind."),
        (timedelta(minutes=3, seconds=40), "The scheduler is 3 minutes behind."),
        (timedelta(hours=2), "The scheduler is 2 hours behind."),
        (timedelta(days=1), "The scheduler is 1 day behind."),
    ],
)
def test_a_late_scheduler_says_how_late(late: timedelta, lead: str | None) -> None:
    told = banner(seen(at=EIGHT - late), "UTC", embedded=False)
    assert (told and told.lead) == lead


@pytest.mark.parametrize(
    ("missed", "rest"),
    [
        (0, "No run was missed."),
        (1, "One run was missed; its row says so."),
        (3, "Three runs were missed; each says so."),
        (1400, "1,400 runs were missed; each says so."),
    ],
)
def test_afterwards_it_says_from_when_to_when_and_how_many(missed: int, rest: str) -> None:
    told = banner(seen(gap_from=DOWN, gap_to=EIGHT, missed=missed), "UTC", embedded=False)
    assert told
    assert (told.lead, told.rest) == ("The scheduler was down from 7:52 to 8:11.", rest)


def test_a_computer_of_ones_own_was_off_or_asleep_and_in_the_readers_zone() -> None:
    told = banner(seen(gap_from=DOWN, gap_to=EIGHT), "Asia/Tokyo", embedded=True)
    assert told and told.lead == "This computer was off or asleep from 16:52 to 17:11."
    night = banner(seen(gap_from=DOWN - timedelta(days=1), gap_to=EIGHT), "UTC", embedded=True)
    assert night
    assert night.lead == "This computer was off or asleep from yesterday at 7:52 to 8:11."


def test_it_is_told_for_an_hour() -> None:
    gap = {"gap_from": DOWN, "gap_to": EIGHT}
    later = EIGHT + timedelta(minutes=60)
    assert banner(seen(now=later, at=later, **gap), "UTC", embedded=False)
    later += timedelta(seconds=1)
    assert banner(seen(now=later, at=later, **gap), "UTC", embedded=False) is None


@pytest.mark.django_db
def test_every_page_has_the_banner_and_the_digests_count(client: Client) -> None:
    person = make_person()
    workspace = make_workspace(person, slug="ada")
    other = make_workspace(person)
    client.force_login(person)
    assert 'class="banner"' not in client.get("/w/ada/people/").content.decode()
    now = database_clock.now()
    beat("scan", now - timedelta(minutes=4))
    page = client.get("/w/ada/people/").content.decode()
    assert "The scheduler is 4 minutes behind." in page
    assert page.index('id="main"') < page.index('class="banner"') < page.index('class="topline"')
    for place, count in ((workspace, 3), (other, 5)):
        Notice.objects.create(
            workspace=place, key="missed then", facts={"count": count}, rung_at=now
        )
    beat("scan", now + timedelta(milliseconds=1))
    page = client.get("/w/ada/people/").content.decode()
    assert "This computer was off or asleep from " in page
    assert "Three runs were missed; each says so." in page


@pytest.mark.django_db
def test_ready_names_what_is_behind(client: Client) -> None:
    never = client.get("/readyz")
    assert (never.status_code, never.json()["behind"]) == (
        503,
        {"machines": None, "outbox": None, "reap": None, "scan": None, "sweep": None},
    )
    now = database_clock.now()
    for name in beats.ALLOWED:
        beat(name, now)
    assert client.get("/readyz").json() == {"ready": True, "database": "ok", "behind": {}}
    long_ago = now - timedelta(minutes=2)
    Beat.objects.filter(name="reap").update(at=long_ago)
    late = client.get("/readyz")
    assert (late.status_code, late.json()["behind"]) == (503, {"reap": long_ago.isoformat()})
    assert client.post("/readyz").status_code == 405


def test_ready_says_when_the_database_is_away(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(health, "behind", away)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (503, "away")
    assert connection.settings_dict["HOST"] not in answer.content.decode()
