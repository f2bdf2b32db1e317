"""The embedded workers: doorbells reach tasks, ticks come in time, a stop drains."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from celery import Celery

from routines_app.management.queues import QueueThread, Tick, ticks_of
from tests.tools import wait_until

Serve = Callable[..., QueueThread]


@pytest.fixture
def app() -> Iterator[Celery]:
    """A Celery of the test's own, on the in-memory transport."""
    app = Celery("test", broker="memory://localhost/", set_as_current=False, fixups=[])
    app.conf.broker_transport_options = {"polling_interval": 0.01}
    app.conf.task_ignore_result = True
    yield app
    app.close()


@pytest.fixture
def serve(app: Celery, request: pytest.FixtureRequest) -> Iterator[Serve]:
    """Starts a queue that is stopped at the end; each test has a queue of its own name."""
    started: list[QueueThread] = []

    def start(threads: int = 1, ticks: list[Tick] | None = None) -> QueueThread:
        queue = QueueThread(app, f"q-{request.node.name}", threads, ticks or [])
        queue.start()
        started.append(queue)
        return queue

    yield start
    for queue in started:
        queue.stop()
        assert queue.drained(5)


def test_a_message_calls_its_task_with_its_arguments(app: Celery, serve: Serve) -> None:
    seen: list[object] = []

    def note(*args: object, **kwargs: object) -> None:
        seen.append((args, kwargs))

    app.task(name="note", shared=False)(note)
    queue = serve()
    app.send_task("note", [7], {"b": 1}, queue=queue.queue)
    wait_until(lambda: seen, 5)
    assert seen == [((7,), {"b": 1})]


def test_a_task_that_fails_does_not_end_the_queue(app: Celery, serve: Serve) -> None:
    seen: list[int] = []

    def note(number: int) -> None:
        if number == 0:
            raise ValueError("broken")
        seen.append(number)

    app.task(name="note", shared=False)(note)
    queue = serve()
    for number in (0, 1):
        app.send_task("note", [number], queue=queue.queue)
    wait_until(lambda: seen, 5)
    assert seen == [1]
    assert queue.is_serving()


def test_an_unknown_task_does_not_end_the_queue(app: Celery, serve: Serve) -> None:
    seen: list[int] = []

    def note(number: int) -> None:
        seen.append(number)

    app.task(name="note", shared=False)(note)
    queue = serve()
    app.send_task("nobody_knows_it", [1], queue=queue.queue)
    app.send_task("note", [2], queue=queue.queue)
    wait_until(lambda: seen, 5)
    assert queue.is_serving()


def test_a_message_like_one_that_waits_is_dropped_and_one_like_a_running_one_is_not(
    app: Celery, serve: Serve
) -> None:
    seen: list[int] = []
    release = threading.Event()

    def note(number: int) -> None:
        release.wait(5)
        seen.append(number)

    app.task(name="note", shared=False)(note)
    queue = serve(threads=1)
    app.send_task("note", [1], queue=queue.queue)
    time.sleep(0.3)  # it runs now, and holds the only thread
    for _ in range(50):
        app.send_task("note", [1], queue=queue.queue)
    app.send_task("note", [2], queue=queue.queue)
    time.sleep(1)
    release.set()
    wait_until(lambda: 2 in seen, 5)
    assert seen == [1, 1, 2]


def test_ticks_go_on_while_every_thread_is_busy(app: Celery, serve: Serve) -> None:
    ticked: list[float] = []
    release = threading.Event()

    def tick() -> None:
        ticked.append(time.monotonic())

    def long() -> None:
        release.wait(10)

    app.task(name="tick", shared=False)(tick)
    app.task(name="long", shared=False)(long)
    queue = serve(threads=1, ticks=[Tick("tick", 0.2)])
    app.send_task("long", queue=queue.queue)
    wait_until(lambda: len(ticked) >= 6, 5)
    release.set()
    gaps = [later - earlier for earlier, later in pairwise(ticked)]
    assert min(gaps) > 0.15


def test_a_stop_leaves_what_waits_and_waits_for_what_runs(app: Celery, serve: Serve) -> None:
    seen: list[int] = []
    release = threading.Event()

    def note(number: int) -> None:
        release.wait(5)
        seen.append(number)

    app.task(name="note", shared=False)(note)
    queue = serve(threads=1)
    for number in (1, 2):
        app.send_task("note", [number], queue=queue.queue)
    time.sleep(0.5)
    queue.stop()
    assert not queue.drained(0.2)
    release.set()
    assert queue.drained(5)
    assert seen == [1]
    assert not queue.is_serving()


def test_the_beat_of_the_settings_becomes_ticks() -> None:
    from routines_app.celery import app as product

    assert Tick("routines_app.tasks.scan", 1.0) in ticks_of(product)


def test_a_beat_entry_that_is_not_in_seconds_is_refused(app: Celery) -> None:
    app.conf.beat_schedule = {"odd": {"task": "odd", "schedule": "every monday"}}
    with pytest.raises(TypeError, match="odd isn't in seconds"):
        ticks_of(app)
