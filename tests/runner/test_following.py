"""A command is followed to its end: all of it is heard, and it's looked at whatever it prints."""

from collections.abc import Callable

import pytest

from foundation import clock
from machines.providers.base import Err, Event, Exit, Out, ProviderUnavailable, Session, Size, Spec
from machines.providers.memory import Answer, MemoryProvider
from routines_app.agents.turn import ComputerFailed, TurnInterrupted
from routines_app.runner.computer import MachineComputer
from routines_app.runner.following import Following


class Told(Session):
    """A session whose every event is made by a function."""

    def __init__(self, event: Callable[[], Event | None]) -> None:
        self.event = event
        self.cancelled = False

    def next_event(self, seconds: float | None = None) -> Event | None:
        return Exit(137, "cancelled") if self.cancelled else self.event()

    def resize(self, size: Size) -> None:
        raise AssertionError

    def cancel(self) -> None:
        self.cancelled = True


def test_a_command_that_never_stops_printing_is_looked_at_all_the_same() -> None:
    heard: list[bytes] = []

    def stop() -> None:
        raise TurnInterrupted

    began = clock.monotonic()
    with pytest.raises(TurnInterrupted) as stopped:
        Following(Told(lambda: Out(b"y")), began, stop, heard.append).to_its_end()
    assert clock.monotonic() - began < 0.5
    assert stopped.value.partial is not None
    assert stopped.value.partial.output == "y" * len(heard)


def test_what_was_printed_before_the_machine_failed_is_kept() -> None:
    events = iter([Out(b"four\n"), Err(b"oh\n")])

    def event() -> Event:
        found = next(events, None)
        if found is None:
            raise ProviderUnavailable("It went away.")
        return found

    with pytest.raises(ComputerFailed, match="It went away") as failed:
        Following(Told(event), 0.0, lambda: None, lambda data: None).to_its_end()
    assert failed.value.partial is not None
    assert (failed.value.partial.output, failed.value.partial.stderr) == ("four\noh\n", "oh\n")


def test_all_output_is_heard_on_a_machine() -> None:
    machines = MemoryProvider()
    ref = machines.create("one", Spec())
    machines.wake(ref)
    machines.answer(["make"], Answer(out="four ü".encode(), err=b"!"))
    heard: list[bytes] = []
    computer = MachineComputer(machines, ref, "run-1", "harbour-1")
    result = computer.run(["make"], cwd="~", timeout=5.0, check=_never, heard=heard.append)
    assert b"".join(heard).decode() == result.output == "four ü!"
    assert result.stderr == "!"


def _never() -> None:
    raise AssertionError("A command that ends at once isn't looked at.")
