"""Celery's tasks: each is one call with an id."""

from routines_app.celery import app


@app.task(name="routines_app.tasks.scan", expires=5)
def scan() -> None:
    """Ask for all that is due."""
    from routines_app.producers import timer

    timer.scan()


@app.task(name="routines_app.tasks.sweep", expires=5)
def sweep() -> None:
    """Ring again for what waits."""
    from routines_app.fires import sweep as fires_sweep

    fires_sweep.sweep()


@app.task(name="routines_app.tasks.reap", expires=10)
def reap() -> None:
    """Bring on what a dead runner left."""
    from routines_app.runner import rescue

    rescue.rescue_dead_runs()


@app.task(name="routines_app.tasks.outbox", expires=5)
def outbox() -> None:
    """Tell what wasn't told yet."""
    from routines_app import delivery

    delivery.deliver_waiting()


@app.task(name="routines_app.tasks.quiet", expires=300)
def quiet() -> None:
    """Tell of routines from which nothing useful comes."""
    from routines_app import delivery

    delivery.ring_for_quiet()


@app.task(name="routines_app.tasks.take_fire")
def take_fire(fire_id: int) -> None:
    """Take one fire to its row."""
    from routines_app.runner import run_fire

    run_fire.take_fire(fire_id)


@app.task(name="routines_app.tasks.wake")
def wake(machine_id: int, why: str) -> None:
    """Wake a machine before anybody waits for it."""
    from machines.models import Machine
    from routines_app import admission

    admission.wake_machine(Machine.objects.get(pk=machine_id), why)


@app.task(name="routines_app.tasks.care", expires=60)
def care() -> None:
    """Let idle machines sleep and unused ones go to cold storage."""
    from routines_app.admission import machine_care, machine_delete

    machine_care.care_for_machines()
    machine_delete.clear_deleted_machines()


@app.task(name="routines_app.tasks.restore")
def restore(machine_id: int) -> None:
    """Bring a machine back from cold storage."""
    from machines.models import Machine
    from routines_app.admission import machine_care

    machine_care.restore_machine(Machine.objects.get(pk=machine_id))


@app.task(name="routines_app.tasks.deliver")
def deliver(delivery_id: int) -> None:
    """Tell one channel of one run."""
    from routines_app import delivery

    delivery.deliver(delivery_id)


@app.task(name="routines_app.tasks.test_model_key")
def test_model_key(key_id: int) -> None:
    """Make one small request with a workspace's model key."""
    from routines_app.runner import model_test

    model_test.test_model_key(key_id)


@app.task(name="routines_app.tasks.ask_connector")
def ask_connector(connector_id: int) -> None:
    """Ask an app of a workspace for its tools."""
    from routines_app.runner import ask_connector as runner_ask

    runner_ask.ask_connector(connector_id)


@app.task(name="routines_app.tasks.try_check")
def try_check(key: str) -> None:
    """Try a check for somebody who is writing it."""
    from routines_app.runner import try_check as runner_try

    runner_try.try_check(key)
