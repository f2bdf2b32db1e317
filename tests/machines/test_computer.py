"""A turn's computer and a routine's folder, on the fake in memory."""

import doctest
import threading
import time
from dataclasses import fields

import pytest

from machines import routine_folder
from machines.computer import Finished, MachineComputer
from machines.providers import base, paths
from machines.providers.base import (
    FileEntry,
    MachineBusy,
    MachineError,
    NotFound,
    PathEscape,
    ProviderUnavailable,
    QuotaExceeded,
    Ref,
    Spec,
    TooLarge,
    Unsupported,
    WakeTimeout,
)
from machines.providers.memory import Answer, MemoryProvider
from machines.routine_folder import SEED_STATE, ensure_folder, folder_of
from routines_app.agents import turn


@pytest.fixture
def provider() -> MemoryProvider:
    return MemoryProvider()


@pytest.fixture
def ref(provider: MemoryProvider) -> Ref:
    ref = provider.create("one", Spec())
    provider.wake(ref)
    return ref


@pytest.fixture
def computer(provider: MemoryProvider, ref: Ref) -> MachineComputer:
    return MachineComputer(provider, ref, "run-7", "Desk")


def test_a_command_s_output_holds_both_outputs(computer: MachineComputer) -> None:
    ended = computer.run(["bash", "-c", "echo a; echo b >&2; exit 3"], cwd="~", timeout=5)
    assert (ended.exit_code, ended.reason) == (3, "exit")
    assert (ended.output, ended.stderr) == ("a\nb\n", "b\n")
    assert 0 <= ended.seconds < 5


def test_a_command_s_bounds_are_told(computer: MachineComputer) -> None:
    assert computer.run(["sleep", "9"], cwd="~", timeout=0.05).reason == "timeout"
    ended = computer.run(["yes"], cwd="~", timeout=5, max_output=10)
    assert (ended.reason, len(ended.output)) == ("output", 10)


def test_bytes_that_are_no_text_are_shown(
    provider: MemoryProvider, computer: MachineComputer
) -> None:
    provider.answer(["make"], Answer(out=b"\xffok"))
    assert computer.run(["make"], cwd="~", timeout=5).output == "\ufffdok"


def test_cancelling_ends_this_command_and_every_later_one(computer: MachineComputer) -> None:
    threading.Timer(0.1, computer.cancel).start()
    begun = time.monotonic()
    assert computer.run(["sleep", "60"], cwd="~", timeout=60).reason == "cancelled"
    assert computer.run(["sleep", "60"], cwd="~", timeout=60).reason == "cancelled"
    assert time.monotonic() - begun < 2


def test_files_go_through(computer: MachineComputer) -> None:
    computer.write_file("~/f/b", b"b")
    computer.write_file("~/f/a", b"a")
    assert computer.read_file("~/f/a") == b"a"
    assert [entry.path for entry in computer.list_files("~/f")] == ["~/f/a", "~/f/b"]
    with pytest.raises(TooLarge):
        computer.read_file("~/f/a", 0)


def test_the_run_s_id_goes_with_each_command(
    provider: MemoryProvider, computer: MachineComputer, ref: Ref
) -> None:
    computer.run(["true"], cwd="~", timeout=5)
    (ran,) = provider.commands
    assert (ran.ref, ran.run_id, ran.argv, ran.cwd) == (ref, "run-7", ("true",), "~")


def test_the_fake_answers_as_it_is_told(
    provider: MemoryProvider, computer: MachineComputer
) -> None:
    provider.answer(lambda argv: argv[0] == "make", Answer(out=b"built", files={"~/out": b"x"}))
    provider.answer(["make", "test"], Answer(err=b"killed", code=137, reason="oom"))
    assert computer.run(["make", "all"], cwd="~", timeout=5).output == "built"
    assert computer.read_file("~/out") == b"x"
    assert computer.run(["make", "test"], cwd="~", timeout=5).reason == "oom"
    provider.answer(["slow"], Answer(seconds=60))
    assert computer.run(["slow"], cwd="~", timeout=0.05).reason == "timeout"


def test_the_fake_fails_as_it_is_told(provider: MemoryProvider, ref: Ref) -> None:
    provider.fail("wake", WakeTimeout("The machine didn't wake within 180 s."))
    with pytest.raises(WakeTimeout):
        provider.wake(ref)
    provider.wake(ref)


def test_results_have_the_fields_that_a_turn_reads() -> None:
    for ours, theirs in ((Finished, turn.CommandResult), (FileEntry, turn.FileEntry)):
        assert [f.name for f in fields(ours)] == [f.name for f in fields(theirs)]


def test_a_routine_s_folder_is_made_with_a_seeded_state(provider: MemoryProvider, ref: Ref) -> None:
    assert ensure_folder(provider, ref, "news") == folder_of("news") == "~/routines/news"
    assert provider.read_file(ref, "~/routines/news/state.md").decode() == SEED_STATE


def test_what_a_routine_wrote_in_its_state_stays(provider: MemoryProvider, ref: Ref) -> None:
    provider.write_file(ref, "~/routines/news/state.md", b"seen: 12")
    ensure_folder(provider, ref, "news")
    assert provider.read_file(ref, "~/routines/news/state.md") == b"seen: 12"


@pytest.mark.parametrize(
    ("error", "may_retry"),
    [
        (NotFound, False),
        (MachineBusy, True),
        (WakeTimeout, True),
        (QuotaExceeded, False),
        (PathEscape, False),
        (TooLarge, False),
        (ProviderUnavailable, True),
        (Unsupported, False),
    ],
)
def test_every_error_says_whether_it_may_be_tried_again(
    error: type[MachineError], may_retry: bool
) -> None:
    assert issubclass(error, MachineError)
    assert error.may_retry is may_retry
    assert error("A sentence.").sentence == "A sentence."


@pytest.mark.parametrize("module", [base, paths, routine_folder])
def test_the_examples_in_the_text_hold(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0
