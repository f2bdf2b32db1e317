"""A check that is tried: on a real machine, by the same door, in nobody's way, for nothing."""

import threading
import time
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.db import connection

from billing.models import Account, LedgerEntry
from machines.lifecycle import MachineState
from machines.models import AwakeSpan, Machine
from routines_app.configure import check_try
from routines_app.configure.check_try import CheckTry, NotAsked, Stage, ask_to_try, the_try
from routines_app.configure.pause import pause_workspace, resume_workspace
from routines_app.models import Run
from routines_app.rules.check_tried import Meaning
from routines_app.runner import try_check as runner
from routines_app.runner.try_check import try_check
from tests.factories import make_machine, make_routine, owner_of
from tests.runner.conftest import fire_once

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _nobody_hears(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is asked is done by the test itself, and nothing is left in the cache."""
    monkeypatch.setattr(
        "routines_app.configure.check_try.current_app.send_task", lambda *_, **__: None
    )
    cache.clear()
    yield
    cache.clear()


def asked(machine: Machine, command: str, folder: str = "~") -> CheckTry:
    made = ask_to_try(machine.workspace, owner_of(machine.workspace), machine, command, folder)
    assert isinstance(made, CheckTry), made
    return made


def tried(machine: Machine, command: str, folder: str = "~") -> CheckTry:
    key = asked(machine, command, folder).key
    try_check(key)
    found = the_try(key, machine.workspace_id)
    assert found is not None and found.over
    return found


def test_each_exit_says_what_it_would_mean(machine: Machine) -> None:
    for command, code, meaning, warned in (
        ("echo three new; true", 0, Meaning.GOES_ON, ""),
        ("false", 1, Meaning.NOTHING, ""),
        ("grep x /nowhere", 2, Meaning.NOTHING, "Only 0 and 1 are ordinary exits"),
        ("gti fetch && true", 127, Meaning.FAILS, "harbour-1 has no command called “gti”."),
        ("touch x; ./x", 126, Meaning.FAILS, "isn’t allowed to run that file"),
        ("kill -9 $$", 137, Meaning.FAILS, "128 or above"),
    ):
        found = tried(machine, command)
        assert (found.stage, found.exit_code) == (Stage.DONE, code), (command, found)
        said = found.tried
        assert said is not None and said.meaning is meaning and warned in said.warning, command
        assert bool(said.warning) == bool(warned), command
        assert said.ended.startswith(f"exit {code}, ")
    assert found.output == ""
    # it is no run: nothing is counted, nothing is paid
    assert not Run.objects.exists() and not LedgerEntry.objects.exists()


def test_it_starts_in_its_folder_and_shows_what_it_printed(machine: Machine) -> None:
    found = tried(machine, "pwd; echo oh >&2", "~/sheets")
    assert found.output.splitlines() == ["/home/agent/sheets", "oh"] and found.stderr == "oh\n"
    long = tried(machine, "for i in $(seq 2000); do echo line $i; done")
    assert long.cut and long.output.endswith("line 2000\n")
    assert len(long.output) == check_try.MOST_SHOWN


def test_it_wakes_its_machine_by_the_door(machine: Machine) -> None:
    person = owner_of(machine.workspace)
    tried(machine, "true")
    machine.refresh_from_db()
    assert machine.state == MachineState.AWAKE and machine.state_reason == str(person)
    assert AwakeSpan.objects.get(machine=machine).woken_by == str(person)


def test_the_time_limit_of_a_check_bounds_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "CHECK_SECONDS", 0.5)
    found = tried(machine, "sleep 30")
    assert found.reason == "timeout" and found.seconds < 10
    assert found.tried is not None and found.tried.meaning is Meaning.FAILS


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "archived"}, "harbour-1 is in cold storage. Restore it first."),
        ({"deleted_at": "2027-01-01T00:00Z"}, "harbour-1 has been deleted. Choose another."),
    ],
)
def test_a_machine_that_may_not_wake_says_why(
    machine: Machine, fields: dict[str, str], said: str
) -> None:
    Machine.objects.filter(pk=machine.pk).update(**fields)
    found = tried(machine, "true")
    assert (found.stage, found.why_not) == (Stage.REFUSED, said)
    Machine.objects.filter(pk=machine.pk).update(state="asleep", deleted_at=None)


def test_a_paused_workspace_wakes_no_machine_to_try(machine: Machine) -> None:
    workspace, person = machine.workspace, owner_of(machine.workspace)
    before = asked(machine, "true")
    pause_workspace(workspace, person)
    said = (
        "Everything is paused, so no machine is woken to try it. "
        "It can be tried once Settings turn it back on."
    )
    try_check(before.key)  # asked for before the pause
    found = the_try(before.key)
    assert found is not None and (found.stage, found.why_not) == (Stage.REFUSED, said)
    assert ask_to_try(workspace, person, machine, "true", "~") == NotAsked(said)
    machine.refresh_from_db()
    assert machine.state == MachineState.ASLEEP and not AwakeSpan.objects.exists()
    resume_workspace(workspace, person)
    assert tried(machine, "true").stage is Stage.DONE


def test_a_plan_that_allows_no_more_awake_refuses_a_try(machine: Machine) -> None:
    Account.objects.update_or_create(workspace=machine.workspace, defaults={"plan": "free"})
    other = make_machine(machine.workspace, "other")
    Machine.objects.filter(pk=other.pk).update(state=MachineState.AWAKE)
    found = tried(machine, "true")
    assert found.stage is Stage.REFUSED
    assert found.why_not == (
        "As many machines are awake as the plan allows. Stop one, or change plan."
    )


def test_a_folder_outside_home_is_refused(machine: Machine) -> None:
    found = tried(machine, "true", "/etc")
    assert found.stage is Stage.REFUSED and "/etc" in found.why_not


def test_it_makes_way_for_a_run(machine: Machine) -> None:
    """A run that comes meanwhile isn't hurt: its check waits a moment, the tried one ends."""
    routine = make_routine(machine.workspace, machine=machine, check_command="true")
    key = asked(machine, "sleep 50").key

    def try_it() -> None:
        try_check(key)
        connection.close()

    trying = threading.Thread(target=try_it)
    trying.start()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        now = the_try(key)
        if now is not None and now.stage is Stage.CHECKING:
            break
        time.sleep(0.05)
    time.sleep(0.3)
    run = fire_once(routine, "meanwhile")
    trying.join(20)
    assert run.status == "done_changed", run.facts
    found = the_try(key)
    assert found is not None and found.stage is Stage.REFUSED
    assert found.why_not.startswith("A run needed harbour-1, so the check made way.")


def test_one_is_tried_at_a_time(machine: Machine) -> None:
    first = asked(machine, "true")
    person = owner_of(machine.workspace)
    second = ask_to_try(machine.workspace, person, machine, "true", "~")
    assert second == NotAsked("Another check is being tried here. Try yours when it has ended.")
    try_check(first.key)
    assert isinstance(ask_to_try(machine.workspace, person, machine, "true", "~"), CheckTry)
    assert the_try(first.key, machine.workspace_id + 1) is None
    assert the_try("no key") is None
