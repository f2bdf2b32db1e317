"""A running command whose events a thread of its own puts into a queue."""

import queue

from machines.providers.base import Event, Exit, Session


class QueuedSession(Session):
    """What sessions share that are followed from another thread than the one that watches them."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Event | Exception] = queue.SimpleQueue()
        self._told_all = False

    def next_event(self, seconds: float | None = None) -> Event | None:
        if self._told_all:
            return None
        try:
            event = self._events.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(event, Exception):
            self._told_all = True
            raise event
        self._told_all = isinstance(event, Exit)
        return event
