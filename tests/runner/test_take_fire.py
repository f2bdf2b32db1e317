"""A fire's life with a real sandbox: every way in ends as one row that says what came of it."""

import threading
import time
from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from billing.models import Hold, LedgerEntry
from foundation import database_clock
from machines.models import Machine
from machines.providers.base import Provider, Ref
from routines_app.fires import FireRequest, request_fires
from routines_app.models import Delivery, Fire, Routine, RoutineTotals, Run
from routines_app.runner import lease
from routines_app.runner.run_fire import take_fire
from routines_app.runner.stop import ask_to_stop
from tests.factories import make_routine, owner_of

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db(transaction=True)]


def routine_on(machine: Machine, script: str, **fields: Any) -> Routine:
    return make_routine(machine.workspace, machine=machine, instructions=script, **fields)


def fire(routine: Routine, person: User | None = None, key: str = "k") -> Run:
    now = database_clock.now()
    source = "manual" if person else "timer"
    who = person.pk if person else None
    request_fires([FireRequest(routine.pk, source, key, now, who, scheduled=person is None)], now)
    return Run.objects.get(routine=routine, fire__dedup_key=key)


def run_it(routine: Routine, person: User | None = None, key: str = "k") -> Run:
    run = fire(routine, person, key)
    take_fire(run.fire_id)
    run.refresh_from_db()
    return run


def test_a_script_that_reports_is_done_with_its_own_words(machine: Machine) -> None:
    run = run_it(routine_on(machine, "echo hello\necho 'report: three files moved'"))
    assert (run.status, run.headline, run.changed) == ("done_changed", "three files moved", True)
    assert run.spent == 0
    assert [step.kind for step in run.steps.order_by("number")][:1] == ["woke"]
    assert run.finished_at and run.fire.pk
    assert Fire.objects.get(pk=run.fire_id).closed_at is not None


def test_a_script_that_says_nothing_changed_has_nothing_to_report(machine: Machine) -> None:
    assert run_it(routine_on(machine, "echo 'Nothing changed.'")).status == "done_unchanged"


def test_a_failed_script_says_its_exit_and_rings(machine: Machine) -> None:
    routine = routine_on(machine, "echo oh no >&2; exit 3")
    run = run_it(routine)
    assert run.status == "fail_script"
    assert run.facts["exit_code"] == 3
    assert Delivery.objects.get(run=run).channel == "bell"
    routine.refresh_from_db()
    assert routine.streak == 1
    assert RoutineTotals.objects.get(routine=routine).failures == 1


@pytest.mark.parametrize(
    ("check", "status"),
    [
        ("true", "done_changed"),
        ("false", "nothing_to_do"),
        ("exit 125", "nothing_to_do"),
        ("touch ~/plain && ~/plain", "fail_check_denied"),
        ("gti fetch", "fail_check_missing"),
        ("kill -9 $$", "fail_check_crash"),
    ],
)
def test_a_checks_exit_decides(machine: Machine, check: str, status: str) -> None:
    run = run_it(routine_on(machine, "echo 'report: ran'", check_command=check))
    assert run.status == status
    assert ("turn_at" in {k for k, v in vars(run).items() if v}) == (status == "done_changed")
    assert run.spent == 0


def test_a_missing_command_is_named(machine: Machine) -> None:
    run = run_it(routine_on(machine, "true", check_command="gti fetch"))
    assert run.facts["command"] == "gti"


def test_memory_is_seeded_read_and_kept(machine: Machine, disk: tuple[Provider, Ref]) -> None:
    routine = routine_on(machine, "echo seen >> state.md; echo 'report: noted'")
    run = run_it(routine)
    assert run.state_before and "seen" not in run.state_before
    assert run.state_after.endswith("seen\n")
    assert run.facts["files_changed"] == 1
    provider, ref = disk
    provider.delete(ref, f"~/routines/{routine.slug}/state.md")
    again = run_it(routine, key="again")
    assert again.state_before == run.state_before


def test_a_routine_that_is_off_refuses_the_schedule_but_not_a_person(machine: Machine) -> None:
    person = owner_of(machine.workspace)
    routine = routine_on(
        machine, "echo 'report: ran'", enabled=False, off_reason="person", off_by=person
    )
    refused = run_it(routine)
    assert (refused.status, refused.facts["person"]) == ("skip_off", str(person))
    assert refused.effects_begun_at is None
    assert run_it(routine, person, "asked").status == "done_changed"


def test_a_schedule_that_changed_while_it_waited_withdraws_its_fire(machine: Machine) -> None:
    routine = routine_on(machine, "true")
    run = fire(routine)
    Routine.objects.filter(pk=routine.pk).update(schedule_version=2)
    take_fire(run.fire_id)
    run.refresh_from_db()
    assert run.status == "skip_changed"


def test_a_deleted_machine_is_a_row(machine: Machine) -> None:
    machine.deleted_at = database_clock.now()
    machine.save()
    assert run_it(routine_on(machine, "true")).status == "skip_machine_gone"


def test_a_run_beside_its_own_live_run_overlaps(machine: Machine) -> None:
    routine = routine_on(machine, "true")
    live = fire(routine, key="live")
    Run.objects.filter(pk=live.pk).update(status="running")
    run = run_it(routine)
    assert run.status == "skip_overlap"
    assert run.facts["other_number"] == live.number


def test_the_hold_is_freed_and_nothing_is_billed_for_a_script(machine: Machine) -> None:
    run = run_it(routine_on(machine, "echo 'report: ran'"))
    assert Hold.objects.get(run_key=run.key).freed_at is not None
    assert not LedgerEntry.objects.exists()


def test_a_fire_taken_twice_runs_once(machine: Machine) -> None:
    routine = routine_on(machine, "echo x >> ~/count; echo 'report: ran'")
    run = run_it(routine)
    before = Run.objects.values().get(pk=run.pk)
    take_fire(run.fire_id)
    assert Run.objects.values().get(pk=run.pk) == before


def _in_thread(fire_id: int) -> threading.Thread:
    def work() -> None:
        try:
            take_fire(fire_id)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def _wait_for(run: Run, status: str, seconds: float = 15) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        run.refresh_from_db()
        if run.status == status:
            return
        time.sleep(0.05)
    raise AssertionError(f"{run.status} after {seconds} s, not {status}")


def test_stop_ends_a_running_script_within_two_seconds(machine: Machine) -> None:
    person = owner_of(machine.workspace)
    run = fire(routine_on(machine, "sleep 60"))
    thread = _in_thread(run.fire_id)
    _wait_for(run, "running")
    time.sleep(0.5)
    asked = time.monotonic()
    ask_to_stop(run, person)
    _wait_for(run, "stop_person")
    assert time.monotonic() - asked < 2.0
    thread.join()
    assert run.facts["person"] == str(person)
    assert run.state_before and run.state_after == run.state_before  # it wasn't wiped


@pytest.mark.parametrize("in_the_check", [False, True])
def test_a_stopped_command_keeps_what_it_printed_and_what_it_learnt(
    machine: Machine, in_the_check: bool
) -> None:
    routine = routine_on(machine, "echo learnt >> state.md; echo started; sleep 60")
    if in_the_check:
        routine = routine_on(
            machine, "true", check_command="echo learnt >> state.md; echo started; sleep 60"
        )
    run = fire(routine)
    thread = _in_thread(run.fire_id)
    _wait_for(run, "checking" if in_the_check else "running")
    time.sleep(1)
    ask_to_stop(run, owner_of(machine.workspace))
    _wait_for(run, "stop_person")
    thread.join()
    step = run.steps.get(kind="check" if in_the_check else "ran")
    assert step.content == "started\n"
    assert step.facts == {"interrupted": True, "lines": 1}
    assert run.doing == {}
    assert run.state_before and run.state_after == run.state_before + "learnt\n"


def test_memory_with_nul_is_kept_as_text(machine: Machine) -> None:
    run = run_it(routine_on(machine, "printf 'a\\0b' > state.md; echo 'report: noted'"))
    assert (run.status, run.state_after) == ("done_changed", "a\ufffdb")


@pytest.mark.parametrize("check", ["", "printf 'a\\0b'; exit 1"])
def test_output_with_nul_is_kept_as_text(machine: Machine, check: str) -> None:
    run = run_it(routine_on(machine, "printf 'report: a\\0b'", check_command=check))
    assert run.status == ("nothing_to_do" if check else "done_changed")
    said = run.facts["last_line"] if check else run.headline
    assert said == "a\ufffdb"


def test_a_script_that_fills_the_disk_ends_there(machine: Machine) -> None:
    Machine.objects.filter(pk=machine.pk).update(spec={**machine.spec, "disk": 4_000_000})
    routine = routine_on(
        machine, "echo begun; for i in 1 2; do fallocate -l 3M f$i; done; sleep 60"
    )
    run = run_it(routine)
    assert (run.status, run.facts["variant"]) == ("fail_machine", "disk")
    assert run.steps.get(kind="ran").content == "begun\n"


def test_a_check_that_fills_the_disk_is_a_failure_that_says_so(machine: Machine) -> None:
    Machine.objects.filter(pk=machine.pk).update(spec={**machine.spec, "disk": 4_000_000})
    check = "for i in 1 2; do fallocate -l 3M f$i; done; sleep 60"
    run = run_it(routine_on(machine, "true", check_command=check))
    assert (run.status, run.facts["last_line"]) == (
        "fail_check_crash", "The machine’s disk is full."
    )  # fmt: skip


def test_stop_ends_a_waiting_run_at_once(machine: Machine) -> None:
    run = fire(routine_on(machine, "true"))
    ask_to_stop(run, owner_of(machine.workspace))
    run.refresh_from_db()
    assert (run.status, run.effects_begun_at) == ("stop_person", None)


def test_draining_interrupts_what_has_begun_and_says_it_is_ours(machine: Machine) -> None:
    routine = routine_on(machine, "sleep 60")
    run = fire(routine)
    thread = _in_thread(run.fire_id)
    _wait_for(run, "running")
    lease.draining.set()
    _wait_for(run, "fail_restart")
    thread.join()
    assert run.cause == "ours"
    routine.refresh_from_db()
    assert routine.streak == 0


def test_a_runner_whose_claim_is_gone_writes_nothing_more(machine: Machine) -> None:
    run = fire(routine_on(machine, "sleep 3; echo 'report: too late'"))
    thread = _in_thread(run.fire_id)
    _wait_for(run, "running")
    Fire.objects.filter(pk=run.fire_id).update(claim_token="0" * 32)
    thread.join()
    run.refresh_from_db()
    assert (run.status, run.headline, run.finished_at) == ("running", "", None)


def test_a_time_limit_ends_the_turn_and_says_which(machine: Machine) -> None:
    from datetime import timedelta

    routine = routine_on(machine, "echo begun > kept; sleep 60", time_limit=timedelta(seconds=1))
    run = run_it(routine)
    assert (run.status, run.facts["limit_seconds"]) == ("stop_time", 1)


def test_the_next_in_line_is_rung_for_when_the_machine_is_free(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[list[int]] = []
    first = fire(routine_on(machine, "echo 'report: ran'"))
    second = fire(routine_on(machine, "true"))
    monkeypatch.setattr(
        "routines_app.runner.run_fire.ring_for_fires", lambda ids: rung.append(list(ids))
    )
    take_fire(first.fire_id)
    assert rung == [[second.fire_id]]


def test_a_scheduled_and_an_asked_run_differ_only_in_who_asked_and_when(machine: Machine) -> None:
    """Run it now takes the schedule's own path: nothing else of the two rows differs."""
    person = owner_of(machine.workspace)
    routine = routine_on(machine, "echo same >> ~/log; echo 'report: the same'")
    run_it(routine, key="first")  # wakes the machine and makes the folder
    scheduled, asked = run_it(routine, key="a"), run_it(routine, person, "b")
    differ = {
        field.attname
        for field in Run._meta.fields
        if getattr(scheduled, field.attname) != getattr(asked, field.attname)
    } | {
        f"fire.{field.attname}"
        for field in Fire._meta.fields
        if getattr(scheduled.fire, field.attname) != getattr(asked.fire, field.attname)
    }
    names = {"id", "key", "fire_id", "number", "fire.id", "fire.claim_token"}
    who_asked = {"fire.source", "fire.dedup_key", "fire.requested_by_id", "fire.schedule_version"}
    times = {name for name in differ if name.endswith(("_at", "_until"))}
    assert differ == names | who_asked | times
    steps = [list(run.steps.order_by("number").values("kind", "title", "cost")) for run in
             (scheduled, asked)]  # fmt: skip
    assert steps[0] == steps[1]
