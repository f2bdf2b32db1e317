"""One command in a box: its pipes, its bounds, and its end.

A thread of its own starts bubblewrap and stays until the last process is gone. It has to be the
same thread: `--die-with-parent` ends the box when the *thread* that started it ends.
"""

import os
import selectors
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from foundation.clock import monotonic
from machines.providers.base import (
    Err,
    Event,
    Exit,
    ExitReason,
    Out,
    ProviderUnavailable,
    Size,
    Unsupported,
)
from machines.providers.local_box import Started
from machines.providers.local_disk import DiskWatch
from machines.providers.local_limits import Limits
from machines.providers.local_process import BoxProcess, complaint
from machines.providers.queued_session import QueuedSession

_TICK = 0.2  # seconds between two looks at the memory and the disk
_PIECE = 65536
_KILLED = 137  # 128 + SIGKILL


@dataclass(frozen=True)
class Command:
    """What a session runs. `start` makes the box, on the session's thread; `timeout` in seconds;
    `max_output` in bytes of both outputs together.

    `began` is told the pids before the command begins; `ended` is called when no process of it is
    alive, before Exit is told.
    """

    start: Callable[[], Started]
    stdin: bytes | Iterable[bytes] | None
    timeout: float
    max_output: int
    limits: Limits
    disk: DiskWatch
    began: Callable[[list[int]], None]
    ended: Callable[[], None]


class LocalSession(QueuedSession):
    """A running command on a local machine."""

    def __init__(self, command: Command) -> None:
        super().__init__()
        self._command = command
        self._source_error: Exception | None = None
        self._left = command.max_output
        self._last_words = b""
        self._bell_lock = threading.Lock()
        self._bell_out, self._bell = os.pipe()
        self.over = threading.Event()
        threading.Thread(target=self._supervise, name="machine-exec", daemon=True).start()

    def resize(self, size: Size) -> None:
        raise Unsupported("This command has no terminal.")

    def cancel(self) -> None:
        with self._bell_lock:
            if not self.over.is_set():
                os.write(self._bell, b"x")

    def _supervise(self) -> None:
        last: Event | Exception
        try:
            last = self._run()
        except Exception as error:
            last = self._told(error)
        with self._bell_lock:
            self.over.set()
            os.close(self._bell)
            os.close(self._bell_out)
        try:
            self._command.ended()
        except Exception as error:
            last = error
        self._events.put(last)

    def _told(self, error: Exception) -> Exception:
        """An error as `events` raises it: in the family, unless it is the input's own source's."""
        if not isinstance(error, OSError) or error is self._source_error:
            return error
        told = ProviderUnavailable(f"The command couldn't be followed to its end: {error}.")
        told.__cause__ = error
        return told

    def _run(self) -> Event:
        """The command from start to end. Raises what `events` shall raise."""
        started = self._command.start()
        box = BoxProcess(started)
        limits = self._command.limits
        try:
            try:
                box.await_ready()
                limits.hold(box.pids)
                self._command.began(box.pids)
                self._feed(started.process.stdin)
                box.open_gate()
                with selectors.DefaultSelector() as selector:
                    self._watch(selector, started)
                    selector.register(box.outer, selectors.EVENT_READ, None)
                    selector.register(self._bell_out, selectors.EVENT_READ, "cancelled")
                    reason = self._follow(selector)
                    box.end()
                    selector.unregister(box.outer)
                    selector.unregister(self._bell_out)
                    if reason != "output" and not self._drain(selector):
                        reason = "output" if reason == "exit" else reason
            finally:
                box.end()
            return self._exit(box, reason)
        finally:
            limits.release()
            self._command.disk.release()
            box.close()

    def _watch(self, selector: selectors.BaseSelector, started: Started) -> None:
        for stream, kind in ((started.process.stdout, Out), (started.process.stderr, Err)):
            if stream is not None:
                selector.register(stream.fileno(), selectors.EVENT_READ, kind)

    def _follow(self, selector: selectors.BaseSelector) -> ExitReason:
        """Pass on what the command writes, until it ends or has to be ended."""
        now = monotonic()
        deadline, next_look = now + self._command.timeout, now + _TICK
        while True:
            now = monotonic()
            if now >= deadline:
                return "timeout"
            if now >= next_look:
                if self._command.limits.exceeded():
                    return "oom"
                if self._command.disk.exceeded():
                    return "disk"
                next_look = monotonic() + _TICK
            ended = False
            for key, _ in selector.select(max(0.0, min(deadline, next_look) - now)):
                if key.data == "cancelled":
                    return "cancelled"
                if key.data is None:
                    ended = True
                elif not self._pass_on(selector, key):
                    return "output"
            if ended:
                return "exit"

    def _drain(self, selector: selectors.BaseSelector) -> bool:
        """Pass on what is still in the pipes when every writer is gone; False past the bound."""
        while selector.get_map():
            for key, _ in selector.select():
                if not self._pass_on(selector, key):
                    return False
        return True

    def _pass_on(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> bool:
        """Pass on one piece of output; False when it doesn't fit in the bound."""
        piece = os.read(key.fd, _PIECE)
        if not piece:
            selector.unregister(key.fd)
            return True
        kept = piece[: self._left]
        self._left -= len(kept)
        if kept:
            self._events.put(key.data(kept))
        if key.data is Err:
            self._last_words = (self._last_words + kept)[-2000:]
        return len(kept) == len(piece)

    def _exit(self, box: BoxProcess, reason: ExitReason) -> Exit:
        if self._source_error is not None:
            raise self._source_error
        if reason != "exit":
            return Exit(_KILLED, reason)
        code = box.exit_code()
        if code is None and box.was_killed:  # from outside: the machine was put to sleep
            return Exit(_KILLED, "cancelled")
        if code is None:
            words = complaint(self._last_words)
            raise ProviderUnavailable(f"The sandbox couldn't be set up: {words}")
        if code != 0 and self._command.limits.ran_out():
            return Exit(code, "oom")
        return Exit(code, "exit")

    def _feed(self, pipe: IO[bytes] | None) -> None:
        """Write standard input from a thread of its own: its source may wait."""
        if pipe is None:
            return
        stdin = self._command.stdin
        pieces = [stdin] if isinstance(stdin, bytes) else stdin or []

        def write() -> None:
            try:
                with suppress(BrokenPipeError), pipe:
                    for piece in pieces:
                        rest = memoryview(piece)
                        while rest:
                            rest = rest[pipe.write(rest) :]
            except Exception as error:  # the source's own; `events` raises it
                self._source_error = error
                self.cancel()

        threading.Thread(target=write, name="machine-stdin", daemon=True).start()
