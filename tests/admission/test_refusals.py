"""Every refusal is a row, and the row's page says its sentence.

The list comes from the enum: a refusal without a way to bring it about here fails.
"""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client

from billing.models import Account
from foundation import database_clock
from machines.models import Machine
from machines.providers.base import ProviderUnavailable, WakeTimeout
from machines.providers.memory import MemoryProvider
from routines_app.configure.connectors import remove_app
from routines_app.fires import FireRequest, request_fires
from routines_app.models import Routine, Run
from routines_app.producers import timer
from routines_app.rules.status import RunStatus
from routines_app.runner.run_fire import take_fire
from tests.factories import (
    make_agent,
    make_app,
    make_machine,
    make_routine,
    make_run,
    owner_of,
)

pytestmark = [pytest.mark.django_db(transaction=True)]

# They come with triggers and published definitions, and nothing makes them before.
NOT_MADE_YET = {
    RunStatus.SKIP_SUPERSEDED,
    RunStatus.FAIL_NO_GRANT,
}

Scene = Callable[[Machine, MemoryProvider], Run]
SCENES: dict[RunStatus, tuple[Scene, str]] = {}


def refusal(status: RunStatus, says: str) -> Callable[[Scene], Scene]:
    """Register how a refusal comes about, and what its sentence says."""

    def keep(scene: Scene) -> Scene:
        SCENES[status] = (scene, says)
        return scene

    return keep


def ask(routine: Routine, key: str = "k", late: timedelta = timedelta(0)) -> Run:
    now = database_clock.now()
    request_fires([FireRequest(routine.pk, "timer", key, now - late, scheduled=True)], now)
    run = Run.objects.get(routine=routine, fire__dedup_key=key)
    take_fire(run.fire_id)
    run.refresh_from_db()
    return run


def on(machine: Machine, **fields: object) -> Routine:
    return make_routine(machine.workspace, machine=machine, **fields)


def plan(machine: Machine, code: str, **fields: object) -> None:
    Account.objects.update_or_create(workspace=machine.workspace, defaults={"plan": code, **fields})


@refusal(RunStatus.SKIP_OFF, "The routine was turned off.")
def turned_off(machine: Machine, memory: MemoryProvider) -> Run:
    return ask(on(machine, enabled=False, off_reason="person", off_by=owner_of(machine.workspace)))


@refusal(RunStatus.SKIP_AUTO_OFF, "It turned itself off after five failures in a row.")
def off_by_itself(machine: Machine, memory: MemoryProvider) -> Run:
    return ask(on(machine, enabled=False, off_reason="failures"))


@refusal(RunStatus.SKIP_PAUSED, "The workspace was paused.")
def paused(machine: Machine, memory: MemoryProvider) -> Run:
    machine.workspace.paused_at = database_clock.now()
    machine.workspace.save()
    return ask(on(machine))


@refusal(RunStatus.SKIP_BUDGET, "$0.30 is left and this run may cost $0.50.")
def budget(machine: Machine, memory: MemoryProvider) -> Run:
    plan(machine, "self-hosted", monthly_budget=300_000)
    return ask(model_routine(machine))


@refusal(RunStatus.SKIP_PLAN_COUNT, "Free covers one routine and two are on.")
def count(machine: Machine, memory: MemoryProvider) -> Run:
    plan(machine, "free")
    on(machine)
    return ask(on(machine))


@refusal(RunStatus.SKIP_PLAN_QUOTA, "Free allows one run a day, and today’s was at")
def quota(machine: Machine, memory: MemoryProvider) -> Run:
    plan(machine, "free")
    routine = on(machine)
    make_run(routine, at=database_clock.now())
    return ask(routine)


@refusal(RunStatus.SKIP_TOO_FREQUENT, "after the last one; Pro waits 15m 00s.")
def too_frequent(machine: Machine, memory: MemoryProvider) -> Run:
    plan(machine, "pro")
    routine = on(machine)
    make_run(routine, at=database_clock.now() - timedelta(minutes=5))
    return ask(routine)


@refusal(RunStatus.SKIP_COLD, "harbour-1 was in cold storage.")
def cold(machine: Machine, memory: MemoryProvider) -> Run:
    Machine.objects.filter(pk=machine.pk).update(state="archived")
    return ask(on(machine))


@refusal(RunStatus.SKIP_WAKE_REFUSED, "harbour-1 wasn’t allowed to start:")
def wake_refused(machine: Machine, memory: MemoryProvider) -> Run:
    memory.fail("wake", ProviderUnavailable("The host is being serviced."))
    return ask(on(machine))


@refusal(RunStatus.SKIP_WAKE_TIMEOUT, "harbour-1 didn’t wake within 3 minutes.")
def wake_timeout(machine: Machine, memory: MemoryProvider) -> Run:
    memory.fail("wake", WakeTimeout("It didn't wake."))
    return ask(on(machine))


@refusal(RunStatus.SKIP_MACHINE_GONE, "harbour-1 has been deleted.")
def gone(machine: Machine, memory: MemoryProvider) -> Run:
    Machine.objects.filter(pk=machine.pk).update(deleted_at=database_clock.now())
    return ask(on(machine))


@refusal(RunStatus.SKIP_OVERLAP, "run was still going.")
def overlap(machine: Machine, memory: MemoryProvider) -> Run:
    routine = on(machine)
    make_run(routine, RunStatus.RUNNING, at=database_clock.now())
    return ask(routine)


@refusal(RunStatus.SKIP_CHANGED, "The schedule was changed while it waited.")
def changed(machine: Machine, memory: MemoryProvider) -> Run:
    routine = on(machine)
    now = database_clock.now()
    request_fires([FireRequest(routine.pk, "timer", "k", now, scheduled=True)], now)
    Routine.objects.filter(pk=routine.pk).update(schedule_version=2)
    run = Run.objects.get(routine=routine)
    take_fire(run.fire_id)
    return run


@refusal(RunStatus.SKIP_WAITED, "for a place, and its time had passed.")
def waited(machine: Machine, memory: MemoryProvider) -> Run:
    routine = on(machine, schedule_kind="every_minutes", schedule_values={"every": 15})
    return ask(routine, late=timedelta(minutes=20))


@refusal(RunStatus.SKIP_MISSED, "This computer was off or asleep from")
def missed(machine: Machine, memory: MemoryProvider) -> Run:
    due = database_clock.now() - timedelta(hours=10)
    routine = on(machine, next_fire_at=due, expressions=["0 0 1 1 *"])
    timer.scan()
    return Run.objects.get(routine=routine)


@refusal(RunStatus.SKIP_NO_MODEL, "Assistant has no model to use: none is connected.")
def no_model(machine: Machine, memory: MemoryProvider) -> Run:
    agent = make_agent(machine.workspace, "Assistant", "model")
    return ask(on(machine, agent=agent))


@refusal(RunStatus.SKIP_CONNECTOR, "Helpdesk isn’t connected.")
def app_gone(machine: Machine, memory: MemoryProvider) -> Run:
    app = make_app(machine.workspace, state="connected")
    routine = model_routine(machine)
    Routine.objects.filter(pk=routine.pk).update(apps=[{"app": app.slug, "required": True}])
    remove_app(app)
    return ask(routine)


def model_routine(machine: Machine) -> Routine:
    """A routine whose agent has a model that could be used."""
    from routines_app.models import ModelKey

    ModelKey.objects.create(
        workspace=machine.workspace,
        provider="openai-compatible",
        base_url="http://127.0.0.1:9/v1",
        model="small",
        own_input=1,
        own_output=1,
    )
    return on(machine, agent=make_agent(machine.workspace, "Assistant", "model"))


@pytest.mark.parametrize("status", [s for s in RunStatus if s.refused and s not in NOT_MADE_YET])
def test_a_refusal_is_a_row_and_its_page_says_why(
    status: RunStatus, machine: Machine, memory: MemoryProvider, client: Client
) -> None:
    assert status in SCENES, f"{status} has no scene here"
    scene, says = SCENES[status]
    run = scene(machine, memory)
    run.refresh_from_db()
    assert (run.status, run.spent, run.effects_begun_at) == (status, 0, None)
    assert run.finished_at is not None
    client.force_login(owner_of(machine.workspace))
    routine = run.routine
    page = client.get(
        f"/w/{routine.workspace.slug}/routines/{routine.slug}/runs/{run.number}/"
    ).content.decode()
    assert "Didn’t run." in page
    assert says in page
    assert "$0.00" in page


def test_a_refusal_never_counts_towards_turning_it_off(
    machine: Machine, memory: MemoryProvider
) -> None:
    memory.fail("wake", WakeTimeout("It didn't wake."))
    routine = on(machine, streak=4)
    assert ask(routine).status == "skip_wake_timeout"
    routine.refresh_from_db()
    assert (routine.streak, routine.enabled) == (4, True)


def test_run_it_now_is_held_to_ten_an_hour_and_not_to_the_plans_day(
    machine: Machine, memory: MemoryProvider
) -> None:
    from routines_app.producers.manual import run_it_now

    plan(machine, "free")
    routine = on(machine)
    person = owner_of(machine.workspace)
    ended = []
    for number in range(11):
        run = run_it_now(routine, person, str(number))
        take_fire(run.fire_id)
        run.refresh_from_db()
        ended.append(run.status)
    assert "skip_too_frequent" not in ended[:10]
    assert "skip_plan_quota" not in ended
    assert ended[10] == "skip_too_frequent"


def test_a_plan_lets_only_so_many_machines_be_awake(
    machine: Machine, memory: MemoryProvider
) -> None:
    plan(machine, "free")
    make_machine(machine.workspace, "harbour-2", state="awake")
    run = ask(on(machine))
    assert run.status == "skip_wake_refused"
    assert "plan allows" in str(run.facts["reason"])
