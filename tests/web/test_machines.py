"""The pages of machines: their state in words, Start, Stop, and a new one."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Workspace
from billing.move_plan import move_plan
from foundation import clock
from machines.access import provider_for, provider_named
from machines.lifecycle import MachineState
from machines.models import AwakeSpan, Machine
from routines_app.models import Fire
from routines_app.rules.status import RunStatus
from routines_app.web import machine_stop
from routines_app.web.machines import headline
from tests.factories import make_machine, make_routine, make_run, make_workspace


@pytest.fixture
def workspace(client: Client, db: None) -> Workspace:
    workspace = make_workspace(slug="ada")
    client.force_login(workspace.memberships.get().user)
    return workspace


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["asleep"], "quay-0 is asleep."),
        (["waking"], "quay-0 is awake."),
        (["asleep", "asleep"], "Both are asleep."),
        (["awake", "awake", "suspending"], "All three are awake."),
        (
            ["asleep", "awake", "archived", "asleep"],
            "One is awake. Three are asleep, one of them cold.",
        ),
    ],
)
def test_the_headline_counts(states: list[str], said: str) -> None:
    machines = [Machine(name=f"quay-{at}", state=state) for at, state in enumerate(states)]
    assert headline(machines) == said


def test_a_machine_says_its_state_since_when_why_and_what_wakes_it_next(
    client: Client, workspace: Workspace
) -> None:
    machine = make_machine(
        workspace,
        state=MachineState.ASLEEP,
        state_reason="Ada stopped it.",
        used_at=clock.now() - timedelta(hours=3),
    )
    make_routine(
        workspace,
        machine=machine,
        name="Inbox triage",
        next_fire_at=clock.now() + timedelta(minutes=19, seconds=30),
    )
    AwakeSpan.objects.create(
        machine=machine,
        started_at=clock.now() - timedelta(minutes=12),
        ended_at=clock.now() - timedelta(minutes=2),
        woken_by="Morning brief",
    )
    for path in ("", "harbour-1/?woken=all"):
        page = client.get(f"/w/ada/machines/{path}").content.decode()
        assert "Asleep</span> since" in page
        assert "Ada stopped it." in page
        assert "Inbox triage wakes it next" in page
        assert ">in 19 minutes</time>" in page
    assert ">3 hours ago</time>" in page
    assert "Morning brief" in page
    assert "10m 00s" in page


def test_start_wakes_it_and_stop_puts_it_to_sleep(client: Client, workspace: Workspace) -> None:
    machine = make_machine(workspace)
    client.post("/w/ada/machines/harbour-1/start/")
    machine.refresh_from_db()
    assert machine.state == MachineState.AWAKE
    provider, ref = provider_for(machine)
    assert provider.usage(ref).state == "awake"
    assert "Stop harbour-1?" in client.get("/w/ada/machines/harbour-1/stop/").content.decode()
    machine.refresh_from_db()
    assert machine.state == MachineState.AWAKE
    client.post("/w/ada/machines/harbour-1/stop/")
    machine.refresh_from_db()
    assert machine.state == MachineState.ASLEEP
    assert provider.usage(ref).state == "asleep"
    assert machine.spans.get().ended_at is not None


def test_a_machine_that_may_not_start_says_why(client: Client, workspace: Workspace) -> None:
    make_machine(workspace, state=MachineState.ARCHIVED)
    answer = client.post("/w/ada/machines/harbour-1/start/")
    assert answer.status_code == 409
    assert "harbour-1 is in cold storage. Restore it first." in answer.content.decode()


def test_stop_asks_again_when_a_run_would_end_by_it(
    client: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_stop, "PATIENCE", 0.0)
    machine = make_machine(workspace, state=MachineState.AWAKE)
    run = make_run(make_routine(workspace, name="Weekly numbers"), RunStatus.RUNNING)
    lease = clock.now() + timedelta(seconds=45)
    Fire.objects.update(claim_token=uuid4(), lease_until=lease)
    page = client.post("/w/ada/machines/harbour-1/stop/").content.decode()
    assert "Weekly numbers is running on it and would end as stopped by you." in page
    run.refresh_from_db()
    assert run.stop_asked_at is None
    answer = client.post("/w/ada/machines/harbour-1/stop/", {"sure": str(run.key)})
    run.refresh_from_db()
    machine.refresh_from_db()
    assert run.stop_asked_by == workspace.memberships.get().user
    assert answer.status_code == 409
    assert "Weekly numbers is still stopping." in answer.content.decode()
    assert machine.state == MachineState.AWAKE


def test_a_new_machine_is_made_asleep_and_its_name_is_used_once(
    client: Client, workspace: Workspace
) -> None:
    answer = client.post("/w/ada/machines/new/", {"name": "  Quay  Two "})
    assert answer["Location"] == "/w/ada/machines/quay-two/"
    made = workspace.machines.get()
    assert (made.name, made.state, made.ref) == ("Quay Two", MachineState.ASLEEP, "")
    Machine.objects.update(deleted_at=clock.now())
    again = client.post("/w/ada/machines/new/", {"name": "quay two"})
    assert again.status_code == 422
    assert "There is, or was, a machine called quay-two." in again.content.decode()


@pytest.mark.parametrize("name", ["", "  ", "…", "new", "x" * 61])
def test_a_name_that_no_address_can_hold_is_refused(
    client: Client, workspace: Workspace, name: str
) -> None:
    answer = client.post("/w/ada/machines/new/", {"name": name})
    assert answer.status_code == 422
    assert "Give it " in answer.content.decode()
    assert not workspace.machines.exists()


def test_a_deleted_machine_has_no_page(client: Client, workspace: Workspace) -> None:
    make_machine(workspace, deleted_at=clock.now())
    for path in ("machines/harbour-1/", "files/harbour-1/"):
        assert client.get(f"/w/ada/{path}").status_code == 404


def test_looking_at_a_machine_wakes_nothing(client: Client, workspace: Workspace) -> None:
    machine = make_machine(workspace)
    client.get("/w/ada/files/harbour-1/")
    client.get("/w/ada/machines/harbour-1/")
    machine.refresh_from_db()
    assert machine.state == MachineState.ASLEEP
    assert provider_named("memory").usage(provider_for(machine)[1]).state == "asleep"


def test_a_routine_that_was_never_on_isnt_called_turned_off(
    browser_of_owner: Client, harbour: Workspace
) -> None:
    make_routine(harbour, name="Morning brief", enabled=False, off_reason="never_on")
    make_routine(harbour, name="Weekly numbers", enabled=False, off_reason="person")
    page = browser_of_owner.get("/w/harbour/machines/").content.decode()
    assert "Weekly numbers, turned off" in page and "Morning brief, turned off" not in page


def test_a_machine_says_what_woke_it_who_asked_and_what_it_cost(
    client: Client, workspace: Workspace
) -> None:
    began, ada = clock.now(), workspace.memberships.get().user
    machine = make_machine(workspace, used_at=began)
    routine = make_routine(workspace, machine=machine, name="Inbox triage", slug="triage")
    run = make_run(routine, at=began, seconds=0, spent=90_000, requested_by=ada)
    AwakeSpan.objects.create(
        machine=machine, started_at=began, ended_at=began, woken_by="Inbox triage, run 1"
    )
    page = client.get("/w/ada/machines/harbour-1/").content.decode()
    assert f'href="/w/ada/routines/triage/runs/{run.number}/">Inbox triage</a>' in page
    assert f'data-l="Asked by">{ada}</td>' in page
    assert page.count("$0.09") == 3  # of the waking, today and this month


def test_a_machine_shows_what_woke_it_today_and_earlier_when_asked(
    client: Client, workspace: Workspace
) -> None:
    machine = make_machine(workspace)
    began = clock.now() - timedelta(days=3)
    until = began + timedelta(minutes=5)
    AwakeSpan.objects.create(
        machine=machine, started_at=began, ended_at=until, woken_by="Morning brief"
    )
    page = client.get("/w/ada/machines/harbour-1/").content.decode()
    assert "What woke it today</h2>" in page and "Nothing has woken it today." in page
    assert 'href="?woken=all#woken">Earlier</a>' in page and "Morning brief" not in page
    page = client.get("/w/ada/machines/harbour-1/?woken=all").content.decode()
    assert "What woke it</h2>" in page and "Morning brief" in page
    assert 'href="?#woken">Today</a>' in page


def test_an_awake_machine_says_when_it_falls_asleep_unless_a_run_goes_on(
    client: Client, workspace: Workspace
) -> None:
    used = clock.now() - timedelta(minutes=3)
    machine = make_machine(workspace, state=MachineState.AWAKE, used_at=used)
    page = client.get("/w/ada/machines/harbour-1/").content.decode()
    until = timezone.localtime(used + timedelta(minutes=10))
    assert f"It falls asleep at {until.hour}:{until:%M}, unless something else needs it." in page
    make_run(make_routine(workspace, machine=machine), RunStatus.RUNNING, machine=machine)
    page = client.get("/w/ada/machines/harbour-1/").content.decode()
    assert "Sleeps after 10 quiet minutes." in page and "It falls asleep at" not in page


def test_no_more_machines_than_the_plan_covers(client: Client, workspace: Workspace) -> None:
    move_plan(workspace, "pro")
    make_machine(workspace, "harbour-1")
    page = client.get("/w/ada/machines/").content.decode()
    assert 'href="#name">New machine</a>' in page
    make_machine(workspace, "harbour-2")
    page = client.get("/w/ada/machines/").content.decode()
    assert "Pro covers 2 machines. Delete one, or ask for another plan." in page
    assert "disabled>New machine</button>" in page
    answer = client.post("/w/ada/machines/new/", {"name": "third"})
    assert answer.status_code == 422 and not workspace.machines.filter(slug="third").exists()
