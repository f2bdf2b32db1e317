"""A command's output is told while it runs: bounded, about once a second, and only what is new."""

import pytest

from foundation import clock
from routines_app.agents import live_output
from routines_app.agents.live_output import LiveOutput
from routines_app.agents.turn import TurnInterrupted


class Watch:
    """Sets the clock, and keeps what is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(clock, "monotonic", lambda: self.now)
        self.told: list[tuple[str, int]] = []
        self.checks = 0
        self.live = LiveOutput(self.check, lambda text, before: self.told.append((text, before)))

    def check(self) -> None:
        self.checks += 1

    def after(self, seconds: float, printed: bytes = b"") -> list[tuple[str, int]]:
        if printed:
            self.live.heard(printed)
        self.now += seconds
        self.live.check()
        return self.told


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


def test_what_ends_at_once_is_never_told(watch: Watch) -> None:
    assert watch.after(0.25, b"four\n") == []


def test_it_is_told_soon_then_once_a_second_and_only_when_something_is_new(watch: Watch) -> None:
    assert watch.after(0.5, b"four\n") == [("four", 0)]
    for _ in range(20):
        watch.after(0.25)
    assert watch.told == [("four", 0)]
    assert watch.after(0.0, b"five\n")[1:] == [("four\nfive", 0)]
    for _ in range(8):
        watch.after(0.25, b".")
    assert [text for text, _ in watch.told[2:]] == ["four\nfive\n....", "four\nfive\n........"]
    assert watch.checks == 1 + 20 + 1 + 8


def test_colours_alone_are_nothing_new(watch: Watch) -> None:
    watch.after(1.0, b"four\n")
    watch.after(2.0, b"\x1b[0m\x1b[")
    watch.after(2.0, b"K\n\n")
    assert watch.told == [("four", 0)]


def test_it_is_bounded_and_says_how_much_came_before(watch: Watch) -> None:
    whole = "".join(f"line {number}\n" for number in range(5_000))
    ((text, before),) = watch.after(1.0, whole.encode())
    assert text == "\n".join(f"line {n}" for n in range(5_000 - live_output.LINES, 5_000))
    assert before == len(whole) - len(text) - 1


def test_an_interruption_passes_through_before_anything_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = Watch(monkeypatch)

    def stop() -> None:
        raise TurnInterrupted

    live = LiveOutput(stop, lambda text, before: watch.told.append((text, before)))
    live.heard(b"four")
    watch.now += 5
    with pytest.raises(TurnInterrupted):
        live.check()
    assert watch.told == []
