"""The embedded mode's workers: threads that take a queue's messages and call the tasks.

Celery's own workers aren't used in one process: two of them there share one selection of queues
and one shutdown state, and a single one would let long turns starve the scan. The messages are
Celery's, over its in-memory transport, so producers and tasks are the same as in production.
"""

import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog
from celery import Celery
from django.db import close_old_connections
from kombu import Message

from foundation.clock import monotonic

log = structlog.get_logger()

_LONGEST_WAIT = 0.5
"""Seconds between two looks at whether to stop."""


@dataclass
class Tick:
    """A task that is called by time, `every` so many seconds."""

    task: str
    every: float
    args: tuple[Any, ...] = ()
    next_at: float = 0.0


def ticks_of(app: Celery) -> list[Tick]:
    """What Celery's beat would send, for the thread of the queue that serves it.

    Raises TypeError for a schedule that isn't in seconds.
    """
    ticks = []
    for name, entry in app.conf.beat_schedule.items():
        schedule = entry["schedule"]
        if isinstance(schedule, timedelta):
            schedule = schedule.total_seconds()
        if not isinstance(schedule, int | float):
            raise TypeError(f"The beat entry {name} isn't in seconds: {schedule!r}")
        ticks.append(Tick(entry["task"], float(schedule), tuple(entry.get("args", ()))))
    return ticks


@dataclass
class QueueThread:
    """Serves one queue: messages go to a pool of threads, ticks are run by its own thread.

    A message that equals one still waiting is dropped: the waiting one does its work.
    """

    app: Celery
    queue: str
    threads: int
    ticks: list[Tick] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix=self.queue)
        self._thread = threading.Thread(target=self._serve, name=self.queue, daemon=True)
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._waiting: set[str] = set()
        self._futures: set[Future[None]] = set()

    def start(self) -> None:
        """Declare the queue, then serve it. Call it before anything sends to the queue: the
        in-memory transport may lose a message that makes its queue at the same moment."""
        self.app.finalize()
        with self.app.connection_for_write() as connection:
            self.app.amqp.queues[self.queue].bind(connection.default_channel).declare()
        self._thread.start()

    def is_serving(self) -> bool:
        """False once its thread has ended, by `stop` or by a fault."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Take no more; what runs goes on, what waits is left to the database."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def drained(self, seconds: float) -> bool:
        """After `stop`: wait so long for what runs; whether all of it ended."""
        if self._thread.ident is not None:
            self._thread.join(seconds)
        with self._lock:
            running = set(self._futures)
        return not wait(running, timeout=seconds).not_done

    def _serve(self) -> None:
        with (
            self.app.connection_for_read() as connection,
            connection.Consumer(
                [self.app.amqp.queues[self.queue]],
                callbacks=[self._take],
                accept=["json"],
                no_ack=True,
            ),
        ):
            while not self._stop.is_set():
                pause = self._run_due_ticks()
                try:
                    connection.drain_events(timeout=pause)
                except TimeoutError:
                    continue

    def _run_due_ticks(self) -> float:
        """Run what is due; the seconds until the next, at most `_LONGEST_WAIT`."""
        for tick in self.ticks:
            if tick.next_at <= monotonic() and not self._stop.is_set():
                # From its start: a tick that takes long isn't made up for.
                tick.next_at = monotonic() + tick.every
                self._call(tick.task, tick.args, {})
        until = min((tick.next_at for tick in self.ticks), default=monotonic() + _LONGEST_WAIT)
        return min(max(until - monotonic(), 0.01), _LONGEST_WAIT)

    def _take(self, body: Any, message: Message) -> None:
        args, kwargs, _ = body
        name = message.headers["task"]
        key = repr((name, args, kwargs))
        with self._lock:
            if key in self._waiting or self._stop.is_set():
                return
            self._waiting.add(key)
            future = self._pool.submit(self._begin, key, name, args, kwargs)
            self._futures.add(future)
        future.add_done_callback(self._forget)

    def _begin(self, key: str, name: str, args: Any, kwargs: Any) -> None:
        with self._lock:
            self._waiting.discard(key)
        self._call(name, args, kwargs)

    def _forget(self, future: "Future[None]") -> None:
        with self._lock:
            self._futures.discard(future)

    def _call(self, name: str, args: Any, kwargs: Any) -> None:
        close_old_connections()
        try:
            self.app.tasks[name](*args, **kwargs)
        except Exception:
            # The sweep finds what this left; the queue has to be served on.
            log.exception("task_failed", task=name)
        finally:
            close_old_connections()
