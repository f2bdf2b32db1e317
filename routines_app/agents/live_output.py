"""A command's output is told while it runs: its newest part, about once a second."""

from collections.abc import Callable

from foundation import clock
from routines_app.agents.turn import StepSink
from routines_app.rules.terminal import Paper

SHOWN_FROM = 0.5  # seconds: what ends sooner is a step at once, and nothing is told before
SHOWN_EACH = 1.0  # seconds between two tellings, each of which is a write
MOST = 2_000  # characters
LINES = 18


class LiveOutput:
    """What one command prints, for `Computer.run`: its `check` and its `heard`.

    Nothing is told while nothing new was printed.
    """

    def __init__(self, check: Callable[[], None], tell: Callable[[str, int], None]) -> None:
        self._check = check
        self._tell = tell
        self._paper = Paper(MOST, LINES)
        self._unread = False
        self._told = ("", 0)
        self._next = clock.monotonic() + SHOWN_FROM

    @classmethod
    def of(cls, steps: StepSink) -> "LiveOutput":
        """The one of a command that is the open step."""
        return cls(steps.check, steps.printed)

    def heard(self, data: bytes) -> None:
        """Take the next piece of output."""
        self._paper.add(data)
        self._unread = True

    def check(self) -> None:
        """See whether the command has to end, and tell what is new when it's time to."""
        self._check()
        if not self._unread or clock.monotonic() < self._next:
            return
        self._unread = False
        text, before = self._paper.read()
        shown = (text.rstrip(), before)
        if shown != self._told and shown[0]:
            self._told = shown
            self._tell(*shown)
            self._next = clock.monotonic() + SHOWN_EACH
