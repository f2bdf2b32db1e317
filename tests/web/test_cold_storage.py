"""Cold storage on the pages: said where it matters, left by one button, and by turning on."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import Role, Workspace
from foundation import clock
from machines.lifecycle import MachineState
from machines.models import Machine
from routines_app.admission.machine_care import UNUSED, NotRestored, begin_restore, restore_machine
from routines_app.models import Routine
from routines_app.rules.status import RunStatus
from tests.factories import make_member, make_routine, make_run

pytestmark = pytest.mark.django_db

SIZE = 7_400_000_000  # about three minutes


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[int]]]:
    """The tasks that were sent to the runners."""
    found: list[tuple[str, list[int]]] = []
    monkeypatch.setattr(
        "routines_app.admission.restoring.current_app.send_task",
        lambda name, args: found.append((name, args)),
    )
    return found


@pytest.fixture
def machine(harbour: Workspace) -> Machine:
    """The workspace's machine, cold since two weeks ago."""
    since = clock.now() - timedelta(days=14)
    found = harbour.machines.get()
    found.state, found.state_since, found.state_reason = MachineState.ARCHIVED, since, UNUSED
    found.archive = {"sha256": "00", "size": SIZE, "since": since.isoformat()}
    found.save()
    return found


@pytest.fixture
def routine(harbour: Workspace, machine: Machine) -> Routine:
    """A routine that lives there, turned off."""
    return make_routine(
        harbour, name="Launch watch", slug="launch-watch", enabled=False, next_fire_at=None,
        off_reason="person",
    )  # fmt: skip


def test_a_cold_machine_says_so_on_every_page_of_it(
    browser_of_owner: Client, machine: Machine, routine: Routine
) -> None:
    run = make_run(routine, RunStatus.SKIP_COLD, at=clock.now() - timedelta(hours=1))
    lists = browser_of_owner.get("/w/harbour/machines/").content.decode()
    assert "<h1>quay-1 is in cold storage.</h1>" in lists
    assert "/machines/quay-1/restore/" in lists and "/machines/quay-1/start/" not in lists
    make_routine(
        machine.workspace, name="Spring cleaning", machine=machine, enabled=False,
        off_reason="person", off_at=machine.state_since - timedelta(days=40),
    )  # fmt: skip
    page = browser_of_owner.get("/w/harbour/machines/quay-1/").content.decode()
    assert "Spring cleaning turned off, the last routine on it" in page
    assert "7.4 GB; a restore takes about three minutes." in page
    assert "Moved to cold storage: 30 days in which nothing needed it" in page
    assert f"{run.routine.name} didn’t run: the machine was in cold storage" in page
    files = browser_of_owner.get("/w/harbour/files/quay-1/")
    assert files.status_code == 200
    assert "Its files are in cold storage." in files.content.decode()
    about = browser_of_owner.get("/w/harbour/routines/launch-watch/").content.decode()
    assert "quay-1 is in cold storage. Turning this on restores it too" in about
    assert "It keeps its notes in state.md" not in about  # that can't be known now


def test_restore_begins_once_and_says_when_it_will_be_ready(
    browser_of_owner: Client,
    machine: Machine,
    sent: list[Any],
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answer = browser_of_owner.post("/w/harbour/machines/quay-1/restore/", follow=True)
    page = answer.content.decode()
    assert "quay-1 is coming back. It will be ready in about three minutes." in page
    assert "Restoring.</b>" in page
    assert "about three minutes to go" in page
    assert "for Ada Byron" in page
    assert sent == [("routines_app.tasks.restore", [machine.pk])]
    with django_capture_on_commit_callbacks(execute=True):
        again = browser_of_owner.post("/w/harbour/machines/quay-1/restore/", follow=True)
    assert "isn’t in cold storage any more." in again.content.decode()
    assert len(sent) == 1


def test_a_restore_counts_against_its_usual_time_and_says_when_it_takes_longer(
    browser_of_owner: Client, machine: Machine
) -> None:
    machine.state, machine.state_reason = MachineState.RESTORING, "Ada"
    machine.state_since = clock.now() - timedelta(seconds=98)
    machine.save()
    page = browser_of_owner.get("/w/harbour/machines/quay-1/").content.decode()
    assert "7.4 GB are on the way; about a minute to go." in page
    assert "1m 38s so far" in page
    assert 'hx-trigger="every 5s"' in page
    machine.state_since = clock.now() - timedelta(minutes=9)
    machine.save()
    late = browser_of_owner.get("/w/harbour/machines/quay-1/").content.decode()
    assert "longer than usual; it goes on" in late
    files = browser_of_owner.get("/w/harbour/files/quay-1/notes.md").content.decode()
    assert "Its files are on the way back." in files
    assert "Restore</button>" not in files


@pytest.mark.parametrize("then", ["/w/harbour/routines/", "/w/harbour/routines/launch-watch/"])
def test_turning_on_brings_its_machine_back_and_says_when(
    browser_of_owner: Client,
    machine: Machine,
    routine: Routine,
    sent: list[Any],
    django_capture_on_commit_callbacks: Any,
    then: str,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answer = browser_of_owner.post(
            "/w/harbour/routines/launch-watch/on/", {"then": then}, follow=True
        )
    assert answer.redirect_chain[-1][0] == then
    said = "quay-1 comes back from cold storage first: ready in about three minutes."
    assert said in answer.content.decode().split('class="toasts"')[1]
    machine.refresh_from_db()
    assert (machine.state, machine.state_reason) == (MachineState.RESTORING, "Launch watch")
    assert len(sent) == 1
    page = browser_of_owner.get("/w/harbour/routines/launch-watch/").content.decode()
    assert said in page.split('class="toasts"')[0]


def test_a_restore_that_failed_says_why_and_can_be_tried_again(
    browser_of_owner: Client, machine: Machine
) -> None:
    page = browser_of_owner.get("/w/harbour/machines/quay-1/").content.decode()
    assert "The last restore" not in page
    begin_restore(machine, "Ada")
    with pytest.raises(NotRestored):
        restore_machine(machine)  # there is no file in storage
    page = browser_of_owner.get("/w/harbour/machines/quay-1/").content.decode()
    assert "The last restore didn’t come to its end.</b>" in page
    assert "What is stored couldn’t be read. The copy in storage is untouched." in page
    assert "/machines/quay-1/restore/" in page


def test_a_file_sent_to_a_cold_machine_changes_nothing(
    browser_of_owner: Client, machine: Machine
) -> None:
    form = {"do": "new_file", "name": "notes.md"}
    answer = browser_of_owner.post("/w/harbour/files/quay-1/", form)
    assert answer.status_code == 409
    assert "Its files are in cold storage." in answer.content.decode()


def test_a_viewer_restores_nothing(client: Client, harbour: Workspace, machine: Machine) -> None:
    client.force_login(make_member(harbour, Role.VIEWER))
    assert "/restore/" not in client.get("/w/harbour/machines/quay-1/").content.decode()
    assert client.post("/w/harbour/machines/quay-1/restore/").status_code == 403
    machine.refresh_from_db()
    assert machine.state == MachineState.ARCHIVED


def test_one_that_is_going_into_storage_offers_nothing_yet(
    browser_of_owner: Client, machine: Machine
) -> None:
    Machine.objects.update(state=MachineState.ARCHIVING, archive={})
    page = browser_of_owner.get("/w/harbour/machines/quay-1/").content.decode()
    assert "Going into cold storage." in page
    assert "/restore/" not in page and "/start/" not in page
    files = browser_of_owner.get("/w/harbour/files/quay-1/").content.decode()
    assert "Its files are going into cold storage." in files


def test_deleting_is_asked_again_and_refused_while_a_routine_needs_it(
    browser_of_owner: Client, machine: Machine, routine: Routine
) -> None:
    Routine.objects.update(enabled=True)
    where = "/w/harbour/machines/quay-1/delete/"
    asked = browser_of_owner.get(where).content.decode()
    assert "quay-1 is needed." in asked and "Launch watch" in asked
    refused = browser_of_owner.post(where)
    assert refused.status_code == 409 and "Launch watch" in refused.content.decode()
    Routine.objects.update(enabled=False)
    page = browser_of_owner.get(where).content.decode()
    assert "One routine that is turned off lives on it: Launch watch." in page
    done = browser_of_owner.post(where, follow=True)
    assert "quay-1 is deleted." in done.content.decode()
    assert browser_of_owner.get("/w/harbour/machines/quay-1/").status_code == 404


def test_only_an_admin_deletes_a_machine(
    client: Client, harbour: Workspace, machine: Machine
) -> None:
    client.force_login(make_member(harbour, Role.MEMBER))
    assert client.post("/w/harbour/machines/quay-1/delete/").status_code == 403
    assert not Machine.objects.filter(deleted_at__isnull=False).exists()
