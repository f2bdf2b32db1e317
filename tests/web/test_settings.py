"""Settings: what an admin sets, pausing everything, and stopping every run."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client

from accounts.models import Role, User, Workspace
from foundation import clock
from routines_app.configure.pause import pause_workspace
from routines_app.models import Fire, Run
from routines_app.rules.status import RunStatus
from tests.factories import make_member, make_routine, make_run

pytestmark = pytest.mark.django_db


def test_an_admin_sets_name_and_zone(browser_of_owner: Client, harbour: Workspace) -> None:
    form = {"name": " Harbour  Support ", "zone": "Europe/London"}
    page = browser_of_owner.post("/w/harbour/settings/", form, follow=True).content.decode()
    harbour.refresh_from_db()
    assert (harbour.name, harbour.zone) == ("Harbour Support", "Europe/London")
    assert "/w/harbour/" in page


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "  ", "Give it a name."),
        ("name", "x" * 81, "Shorten the name to 80 characters."),
        ("name", "a\0b", "Take out the NUL character"),
        ("zone", "Mars/Olympus", "There is no zone of that name."),
    ],
)
def test_what_can_t_be_saved_is_said_and_kept_in_the_form(
    browser_of_owner: Client, harbour: Workspace, field: str, value: str, said: str
) -> None:
    form = {"name": "Other", "zone": "UTC"} | {field: value}
    answer = browser_of_owner.post("/w/harbour/settings/", form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert page.count(said) == 2  # in the summary and beside the field
    assert f'value="{value}"' in page
    harbour.refresh_from_db()
    assert harbour.name == "Harbour"


def test_only_an_admin_sets_them(client: Client, harbour: Workspace) -> None:
    client.force_login(make_member(harbour, Role.MEMBER))
    assert "An admin may change these." in client.get("/w/harbour/settings/").content.decode()
    assert client.post("/w/harbour/settings/", {"name": "Mine"}).status_code == 403
    harbour.refresh_from_db()
    assert harbour.name == "Harbour"


def test_a_paused_workspace_says_so_on_every_page_until_it_is_on_again(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    make_routine(harbour)
    page = browser_of_owner.get("/w/harbour/settings/").content.decode()
    assert "One routine stops, and so does Run it now, until you turn it back on." in page
    browser_of_owner.post("/w/harbour/settings/pause/")
    for path in ("/w/harbour/routines/", "/w/harbour/machines/", "/w/harbour/bell/", "/me/"):
        page = browser_of_owner.get(path).content.decode()
        assert f"Everything is paused, by {owner} since " in page, path
        assert page.count('class="banner"') == 1
    answer = browser_of_owner.post(
        "/w/harbour/settings/resume/", {"then": "/w/harbour/machines/"}, follow=True
    )
    assert answer.redirect_chain[-1][0] == "/w/harbour/machines/"
    page = answer.content.decode()
    assert 'class="banner"' not in page
    assert "isn’t made up for" in page


def test_resuming_leads_to_no_other_site(browser_of_owner: Client, harbour: Workspace) -> None:
    for then in ("https://elsewhere.example/", "//elsewhere.example/"):
        answer = browser_of_owner.post("/w/harbour/settings/resume/", {"then": then})
        assert answer["Location"] == "/w/harbour/settings/"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.MEMBER])
def test_who_isn_t_an_admin_sees_the_pause_and_can_t_end_it(
    client: Client, harbour: Workspace, owner: User, role: Role
) -> None:
    pause_workspace(harbour, owner)
    client.force_login(make_member(harbour, role))
    page = client.get("/w/harbour/machines/").content.decode()
    assert "Everything is paused" in page and "Turn it back on" not in page
    for verb in ("pause", "resume", "stop"):
        assert client.post(f"/w/harbour/settings/{verb}/").status_code == 403


def test_a_second_pause_keeps_who_did_it_first(harbour: Workspace, owner: User) -> None:
    first = pause_workspace(harbour, owner)
    second = pause_workspace(harbour, make_member(harbour, Role.MEMBER))
    assert (second.paused_at, second.paused_by) == (first.paused_at, owner)


def test_stopping_every_run_ends_what_waits_and_asks_what_runs(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    running = make_run(make_routine(harbour, name="Weekly numbers"), RunStatus.RUNNING)
    Fire.objects.update(claim_token=uuid4(), lease_until=clock.now() + timedelta(seconds=45))
    waiting = make_run(make_routine(harbour), RunStatus.QUEUED)
    over = make_run(make_routine(harbour), RunStatus.DONE_CHANGED)
    page = browser_of_owner.get("/w/harbour/settings/").content.decode()
    assert "Weekly numbers, running now, ends by itself. One run that waits is refused." in page
    asked = browser_of_owner.get("/w/harbour/settings/stop/").content.decode()
    assert "Two runs would end as stopped by you." in asked
    assert Run.objects.filter(stop_asked_at__isnull=False).count() == 0
    answer = browser_of_owner.post("/w/harbour/settings/stop/", follow=True)
    assert "Two runs stop now." in answer.content.decode()
    for run in (running, waiting, over):
        run.refresh_from_db()
    assert (running.status, running.stop_asked_by) == (RunStatus.RUNNING, owner)
    assert (waiting.status, waiting.facts["person"]) == (RunStatus.STOP_PERSON, str(owner))
    assert over.status == RunStatus.DONE_CHANGED


def test_the_owner_hands_the_workspace_over_to_an_admin(
    browser_of_owner: Client, harbour: Workspace, owner: User
) -> None:
    page = browser_of_owner.get("/w/harbour/settings/hand-over/").content.decode()
    assert "Nobody to hand it over to." in page
    admin, member = make_member(harbour, Role.ADMIN), make_member(harbour, Role.MEMBER)
    wrong = browser_of_owner.post("/w/harbour/settings/hand-over/", {"person": member.email})
    assert wrong.status_code == 422 and "Choose one of the admins." in wrong.content.decode()
    browser_of_owner.post("/w/harbour/settings/hand-over/", {"person": admin.email})
    roles = dict(harbour.memberships.values_list("user_id", "role"))
    assert (roles[owner.pk], roles[admin.pk]) == ("admin", "owner")
    assert browser_of_owner.get("/w/harbour/settings/hand-over/").status_code == 403
    assert "Hand over" not in browser_of_owner.get("/w/harbour/settings/").content.decode()
