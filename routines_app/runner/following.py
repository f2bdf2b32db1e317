"""Following one command to its end: its output as it comes, and whether it has to end."""

from collections.abc import Callable

from foundation import clock
from machines.providers.base import Err, Event, Exit, MachineError, Out, Session
from routines_app.agents.turn import CommandResult, ComputerFailed, TurnInterrupted
from routines_app.agents.wording import storable
from routines_app.runner.machine_errors import translated

_LOOK_SECONDS = 0.25
_LOST = 137  # as for a command that was killed


class Following:
    """One running command, on the thread that asked for it. `began` is by `clock.monotonic`."""

    def __init__(
        self,
        session: Session,
        began: float,
        check: Callable[[], None],
        heard: Callable[[bytes], None],
    ) -> None:
        self._session = session
        self._began = began
        self._check = check
        self._heard = heard
        self._both, self._errors = bytearray(), bytearray()
        self._stopped: BaseException | None = None

    def to_its_end(self) -> CommandResult:
        """What came of it. Raises what `check` raised, ComputerFailed and ComputerRefused, the
        first two with what had been printed."""
        try:
            ended = self._end()
        except MachineError as error:
            failed = translated(error)
            if isinstance(failed, ComputerFailed):
                failed.partial = self._result(Exit(_LOST, "cancelled"))
            raise failed from error
        result = self._result(ended)
        if isinstance(self._stopped, TurnInterrupted):
            self._stopped.partial = result
        if self._stopped is not None:
            raise self._stopped
        return result

    def _end(self) -> Exit:
        """Take its events until it's over, and look four times a second, whatever it prints."""
        look_at = clock.monotonic() + _LOOK_SECONDS
        while True:
            wait = max(look_at - clock.monotonic(), 0.0)
            event = self._session.next_event(wait)
            if isinstance(event, Exit):
                return event
            self._take(event)
            if clock.monotonic() >= look_at:
                self._look()
                look_at = clock.monotonic() + _LOOK_SECONDS

    def _take(self, event: Event | None) -> None:
        match event:
            case Out(data):
                self._both += data
                self._heard(data)
            case Err(data):
                self._both += data
                self._errors += data
                self._heard(data)

    def _look(self) -> None:
        if self._stopped is not None:
            return  # it is ending
        try:
            self._check()
        except BaseException as error:  # raised again once nothing of the command is alive
            self._stopped = error
            self._session.cancel()

    def _result(self, ended: Exit) -> CommandResult:
        return CommandResult(
            exit_code=ended.code,
            reason=ended.reason,
            output=storable(self._both.decode("utf-8", "replace")),
            stderr=storable(self._errors.decode("utf-8", "replace")),
            seconds=clock.monotonic() - self._began,
        )
