"""What every kind of machine has to do, told once and run against each.

A provider joins by a subclass with a `provider` fixture (see `test_machine_providers.py`). The
commands are those that the fake in memory understands, listed in `machines.providers.memory_shell`.
The methods need nothing of pytest's but `raises`, so that they also run as another user
(`tests/machines/as_ordinary_user.py`).
"""

import io
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from machines.providers.base import (
    Err,
    Exit,
    MachineBusy,
    Manifest,
    NotFound,
    Out,
    PathEscape,
    Provider,
    ProviderUnavailable,
    QuotaExceeded,
    Ref,
    Session,
    Size,
    Spec,
    TooLarge,
    Unsupported,
    Usage,
)

SPEC = Spec(memory=256 * 1024**2, disk=64 * 1024**2, pids=64)


def awake(provider: Provider, machine_id: str = "one", spec: Spec = SPEC) -> Ref:
    """A machine that is ready for commands."""
    ref = provider.create(machine_id, spec)
    provider.wake(ref)
    return ref


def finished(session: Session) -> tuple[Exit, bytes, bytes]:
    """Follow a command to its end: its exit, its output, its errors."""
    out, err = b"", b""
    for event in session.events:
        if isinstance(event, Out):
            out += event.data
        elif isinstance(event, Err):
            err += event.data
        else:
            return event, out, err
    raise AssertionError("a session ended without an Exit")


def ran(provider: Provider, ref: Ref, *argv: str, **options: object) -> tuple[Exit, bytes, bytes]:
    """Run a command to its end."""
    return finished(provider.exec(ref, "run-1", argv, **options))  # type: ignore[arg-type]


def tar_of(*members: tarfile.TarInfo, data: bytes = b"") -> bytes:
    """A tar file made by hand."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(data[: member.size]))
    return content.getvalue()


def manifest_of(content: bytes) -> Manifest:
    import hashlib

    return Manifest(hashlib.sha256(content).hexdigest(), len(content))


class LifecycleContract:
    """create, wake, suspend, destroy, usage."""

    def test_a_new_machine_is_asleep_and_its_home_is_empty(self, provider: Provider) -> None:
        ref = provider.create("one", SPEC)
        assert ref == Ref(provider.name, "one")
        assert provider.usage(ref).state == "asleep"
        assert list(provider.list_files(ref, "~")) == []

    def test_creating_a_machine_again_keeps_what_is_on_it(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/kept", b"here")
        assert provider.create("one", SPEC) == ref
        assert provider.read_file(ref, "~/kept") == b"here"
        assert provider.usage(ref).state == "awake"

    def test_waking_and_suspending_twice_is_as_once(self, provider: Provider) -> None:
        ref = provider.create("one", SPEC)
        for _ in range(2):
            provider.wake(ref)
            assert provider.usage(ref).state == "awake"
        for _ in range(2):
            provider.suspend(ref)
            assert provider.usage(ref).state == "asleep"

    def test_suspending_keeps_home_and_empties_tmp(self, provider: Provider) -> None:
        ref = awake(provider)
        assert ran(provider, ref, "bash", "-c", "echo a > /tmp/a && echo b > ~/b")[0].code == 0
        assert ran(provider, ref, "cat", "/tmp/a")[1] == b"a\n"
        provider.suspend(ref)
        provider.wake(ref)
        assert ran(provider, ref, "cat", "/tmp/a")[0].code == 1
        assert provider.read_file(ref, "~/b") == b"b\n"

    def test_suspending_ends_the_command_that_runs(self, provider: Provider) -> None:
        ref = awake(provider)
        session = provider.exec(ref, "run-1", ["sleep", "60"])
        provider.suspend(ref)
        assert finished(session)[0].reason == "cancelled"

    def test_a_destroyed_machine_is_gone_and_may_be_destroyed_again(
        self, provider: Provider
    ) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/a", b"a")
        provider.destroy(ref)
        provider.destroy(ref)
        with pytest.raises(NotFound):
            provider.usage(ref)
        again = provider.create("one", SPEC)
        assert list(provider.list_files(again, "~")) == []

    def test_an_unknown_machine_is_not_found(self, provider: Provider) -> None:
        nobody = Ref(provider.name, "nobody")
        calls: Sequence[Callable[[], object]] = (
            lambda: provider.wake(nobody),
            lambda: provider.suspend(nobody),
            lambda: provider.usage(nobody),
            lambda: provider.exec(nobody, "run-1", ["true"]),
            lambda: provider.read_file(nobody, "~/a"),
            lambda: provider.write_file(nobody, "~/a", b""),
            lambda: list(provider.list_files(nobody, "~")),
            lambda: provider.archive(nobody, io.BytesIO()),
        )
        for call in calls:
            with pytest.raises(NotFound):
                call()

    def test_a_machine_of_another_kind_is_not_found(self, provider: Provider) -> None:
        provider.create("one", SPEC)
        with pytest.raises(NotFound):
            provider.usage(Ref("elsewhere", "one"))

    def test_usage_grows_with_what_is_written(self, provider: Provider) -> None:
        ref = awake(provider)
        before = provider.usage(ref)
        provider.write_file(ref, "~/a", b"x" * 1_000_000)
        after = provider.usage(ref)
        assert isinstance(after, Usage)
        assert 1_000_000 <= after.disk_bytes - before.disk_bytes < 1_100_000

    def test_nothing_is_left_behind_when_nothing_crashed(self, provider: Provider) -> None:
        ref = awake(provider)
        ran(provider, ref, "true")
        assert provider.reconcile() == []


class ExecContract:
    """exec, its events and its bounds."""

    def test_a_command_that_ends_well_exits_0(self, provider: Provider) -> None:
        assert ran(provider, awake(provider), "true") == (Exit(0, "exit"), b"", b"")

    def test_a_command_that_fails_is_a_result(self, provider: Provider) -> None:
        ref = awake(provider)
        assert ran(provider, ref, "false")[0] == Exit(1, "exit")
        assert ran(provider, ref, "bash", "-c", "exit 7")[0] == Exit(7, "exit")

    def test_a_command_that_is_nowhere_exits_127(self, provider: Provider) -> None:
        end, _, err = ran(provider, awake(provider), "no-such-command")
        assert end == Exit(127, "exit")
        assert b"no-such-command" in err

    def test_a_command_ended_by_signal_9_exits_137(self, provider: Provider) -> None:
        end, _, _ = ran(provider, awake(provider), "bash", "-c", "kill -9 $$")
        assert end == Exit(137, "exit")

    def test_output_and_errors_come_apart(self, provider: Provider) -> None:
        end, out, err = ran(provider, awake(provider), "bash", "-c", "echo yes; echo no >&2")
        assert (end, out, err) == (Exit(0, "exit"), b"yes\n", b"no\n")

    def test_standard_input_is_passed_on(self, provider: Provider) -> None:
        ref = awake(provider)
        assert ran(provider, ref, "cat", stdin=b"hello")[1] == b"hello"
        assert ran(provider, ref, "cat", stdin=iter([b"one ", b"two"]))[1] == b"one two"
        assert ran(provider, ref, "cat")[1] == b""

    def test_a_large_standard_input_comes_back_whole(self, provider: Provider) -> None:
        data = bytes(range(256)) * 8000
        end, out, _ = ran(provider, awake(provider), "cat", stdin=data, max_output=3_000_000)
        assert end == Exit(0, "exit")
        assert out == data

    def test_standard_input_that_nobody_reads_is_no_error(self, provider: Provider) -> None:
        end, _, _ = ran(provider, awake(provider), "true", stdin=b"x" * 1_000_000)
        assert end == Exit(0, "exit")

    def test_an_error_of_the_input_s_source_is_raised(self, provider: Provider) -> None:
        def source() -> Iterator[bytes]:
            yield b"a"
            raise RuntimeError("the source broke")

        ref = awake(provider)
        with pytest.raises(RuntimeError, match="the source broke"):
            ran(provider, ref, "cat", stdin=source())
        assert ran(provider, ref, "true")[0].code == 0

    def test_a_command_starts_in_home_or_where_it_is_told(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/routines/news/state.md", b"")
        assert ran(provider, ref, "pwd")[1] == b"/home/agent\n"
        inside = ran(provider, ref, "pwd", cwd="~/routines/news")[1]
        assert inside == b"/home/agent/routines/news\n"

    def test_a_folder_that_is_nowhere_is_not_found(self, provider: Provider) -> None:
        ref = awake(provider)
        with pytest.raises(NotFound):
            provider.exec(ref, "run-1", ["true"], cwd="~/nowhere")
        with pytest.raises(PathEscape):
            provider.exec(ref, "run-1", ["true"], cwd="/etc")
        assert ran(provider, ref, "true")[0].code == 0

    def test_the_environment_is_the_machine_s_and_the_caller_s(self, provider: Provider) -> None:
        ref = awake(provider)
        end, out, _ = ran(provider, ref, "printenv", "GREETING", env={"GREETING": "hi there"})
        assert (end.code, out) == (0, b"hi there\n")
        assert ran(provider, ref, "printenv", "HOME")[1] == b"/home/agent\n"

    def test_a_command_ends_at_its_time(self, provider: Provider) -> None:
        begun = time.monotonic()
        end, _, _ = ran(provider, awake(provider), "sleep", "60", timeout=0.3)
        assert end.reason == "timeout"
        assert time.monotonic() - begun < 3

    def test_what_was_written_before_the_time_was_up_is_kept(self, provider: Provider) -> None:
        ref = awake(provider)
        end, out, _ = ran(provider, ref, "bash", "-c", "echo begun; sleep 60", timeout=0.5)
        assert (end.reason, out) == ("timeout", b"begun\n")

    def test_output_is_told_while_the_command_runs(self, provider: Provider) -> None:
        ref = awake(provider)
        session = provider.exec(ref, "run-1", ["bash", "-c", "echo begun; sleep 60"])
        assert session.next_event(10.0) == Out(b"begun\n")
        begun = time.monotonic()
        assert session.next_event(0.2) is None
        assert 0.15 < time.monotonic() - begun < 5
        session.cancel()
        assert session.next_event(10.0) == Exit(137, "cancelled")
        assert session.next_event() is None
        assert list(session.events) == []

    def test_all_output_is_told_before_the_end_however_late_it_is_read(
        self, provider: Provider
    ) -> None:
        session = provider.exec(awake(provider), "run-1", ["bash", "-c", "echo a; echo b; exit 3"])
        out = b""
        while isinstance(event := session.next_event(10.0), Out):
            time.sleep(0.05)
            out += event.data
        assert (event, out) == (Exit(3, "exit"), b"a\nb\n")

    def test_a_command_ends_at_the_bound_of_its_output(self, provider: Provider) -> None:
        end, out, _ = ran(provider, awake(provider), "yes", max_output=5001)
        assert end.reason == "output"
        assert len(out) == 5001

    def test_a_command_that_fills_the_disk_is_ended(self, provider: Provider) -> None:
        ref = awake(provider, spec=replace(SPEC, disk=1_000_000))
        script = "cat > a; echo begun; cat a > b; sleep 60"
        begun = time.monotonic()
        end, out, _ = ran(provider, ref, "bash", "-c", script, stdin=b"x" * 700_000)
        assert (end, out) == (Exit(137, "disk"), b"begun\n")
        assert time.monotonic() - begun < 20
        with pytest.raises(QuotaExceeded):
            provider.write_file(ref, "~/c", b"c")
        assert ran(provider, ref, "rm", "a")[0] == Exit(0, "exit")
        provider.write_file(ref, "~/c", b"c")

    def test_a_time_that_never_comes_is_refused_in_words(self, provider: Provider) -> None:
        ref = awake(provider)
        for timeout in (0, -1.0, float("inf"), float("nan"), 10**400):
            with pytest.raises(Unsupported, match="Give a number of seconds above 0"):
                provider.exec(ref, "run-1", ["true"], timeout=timeout)
        assert ran(provider, ref, "true")[0].code == 0

    def test_output_of_just_the_bound_is_no_excess(self, provider: Provider) -> None:
        end, out, _ = ran(provider, awake(provider), "echo", "1234", max_output=5)
        assert (end, out) == (Exit(0, "exit"), b"1234\n")

    def test_a_cancelled_command_ends_within_a_second(self, provider: Provider) -> None:
        session = provider.exec(awake(provider), "run-1", ["sleep", "60"])
        time.sleep(0.1)
        begun = time.monotonic()
        threading.Thread(target=session.cancel).start()
        assert finished(session)[0].reason == "cancelled"
        assert time.monotonic() - begun < 1
        session.cancel()

    def test_one_command_runs_at_a_time(self, provider: Provider) -> None:
        ref = awake(provider)
        session = provider.exec(ref, "run-1", ["sleep", "60"])
        with pytest.raises(MachineBusy) as busy:
            provider.exec(ref, "run-2", ["true"])
        assert busy.value.may_retry
        session.cancel()
        finished(session)
        assert ran(provider, ref, "true")[0].code == 0

    def test_two_machines_run_at_the_same_time(self, provider: Provider) -> None:
        one, two = awake(provider, "one"), awake(provider, "two")
        session = provider.exec(one, "run-1", ["sleep", "60"])
        assert ran(provider, two, "true")[0].code == 0
        session.cancel()
        assert finished(session)[0].reason == "cancelled"

    def test_files_can_be_read_and_written_while_a_command_runs(self, provider: Provider) -> None:
        ref = awake(provider)
        session = provider.exec(ref, "run-1", ["sleep", "60"])
        provider.write_file(ref, "~/a", b"a")
        assert provider.read_file(ref, "~/a") == b"a"
        session.cancel()
        finished(session)

    def test_a_sleeping_machine_runs_nothing(self, provider: Provider) -> None:
        ref = provider.create("one", SPEC)
        with pytest.raises(ProviderUnavailable, match="asleep"):
            provider.exec(ref, "run-1", ["true"])

    def test_a_session_is_followed_from_another_thread_than_it_was_started_by(
        self, provider: Provider
    ) -> None:
        ref = awake(provider)
        sessions: list[Session] = []
        starter = threading.Thread(
            target=lambda: sessions.append(
                provider.exec(ref, "run-1", ["bash", "-c", "sleep 0.3; echo done"])
            )
        )
        starter.start()
        starter.join()
        assert finished(sessions[0])[:2] == (Exit(0, "exit"), b"done\n")

    def test_what_can_t_be_run_is_refused_in_words(self, provider: Provider) -> None:
        ref = awake(provider)
        with pytest.raises(Unsupported):
            provider.exec(ref, "run-1", [])
        session = provider.exec(ref, "run-1", ["true"])
        with pytest.raises(Unsupported):
            session.resize(Size(80, 24))
        finished(session)


class FilesContract:
    """Files beneath home."""

    def test_what_is_written_is_read(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/a", b"first")
        provider.write_file(ref, "~/a", iter([b"sec", b"ond"]))
        assert provider.read_file(ref, "~/a") == b"second"
        assert provider.read_file(ref, "a") == b"second"
        assert provider.read_file(ref, "/home/agent/a") == b"second"
        with provider.open_read(ref, "~/a", 100) as stream:
            assert stream.read(3) == b"sec"

    def test_a_command_sees_what_was_written_and_the_other_way_round(
        self, provider: Provider
    ) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/deep/er/a", b"from outside")
        assert ran(provider, ref, "cat", "deep/er/a")[1] == b"from outside"
        end = ran(provider, ref, "bash", "-c", "echo more >> a", cwd="~/deep/er")[0]
        assert end.code == 0
        assert provider.read_file(ref, "~/deep/er/a") == b"from outsidemore\n"

    def test_a_write_that_breaks_off_leaves_what_was_there(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/a", b"whole")
        with pytest.raises(RuntimeError), provider.open_write(ref, "~/a") as stream:
            stream.write(b"half")
            raise RuntimeError("broken off")
        assert provider.read_file(ref, "~/a") == b"whole"
        assert [entry.path for entry in provider.list_files(ref, "~")] == ["~/a"]

    def test_what_is_nowhere_is_not_found(self, provider: Provider) -> None:
        ref = awake(provider)
        with pytest.raises(NotFound, match="~/none"):
            provider.read_file(ref, "~/none")
        with pytest.raises(NotFound):
            list(provider.list_files(ref, "~/none"))
        with pytest.raises(NotFound):
            provider.delete(ref, "~/none")
        with pytest.raises(NotFound):
            provider.move(ref, "~/none", "~/a")

    def test_a_file_over_the_bound_is_too_large(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/a", b"12345")
        assert provider.read_file(ref, "~/a", 5) == b"12345"
        with pytest.raises(TooLarge):
            provider.read_file(ref, "~/a", 4)
        with pytest.raises(TooLarge):
            provider.open_read(ref, "~/a", 4)

    def test_a_folder_is_listed_with_kinds_and_sizes(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/f/a", b"123")
        provider.write_file(ref, "~/f/sub/b", b"")
        ran(provider, ref, "ln", "-s", "/etc", "f/link")
        ran(provider, ref, "mkfifo", "f/pipe")
        found = {entry.path: entry for entry in provider.list_files(ref, "~/f")}
        assert {path: entry.kind for path, entry in found.items()} == {
            "~/f/a": "file",
            "~/f/sub": "folder",
            "~/f/link": "link",
            "~/f/pipe": "other",
        }
        assert found["~/f/a"].size == 3
        assert abs(found["~/f/a"].modified - time.time()) < 3600  # noqa: TID251

    def test_files_and_folders_move(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/a", b"a")
        provider.write_file(ref, "~/old", b"old")
        provider.move(ref, "~/a", "~/old")
        assert provider.read_file(ref, "~/old") == b"a"
        provider.move(ref, "~/old", "~/new/place")
        provider.move(ref, "~/new", "~/newer")
        assert provider.read_file(ref, "~/newer/place") == b"a"
        assert [entry.path for entry in provider.list_files(ref, "~")] == ["~/newer"]

    def test_files_and_whole_folders_are_deleted(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/f/g/a", b"a")
        provider.write_file(ref, "~/b", b"b")
        provider.delete(ref, "~/f")
        provider.delete(ref, "~/b")
        assert list(provider.list_files(ref, "~")) == []

    def test_a_path_out_of_home_is_refused(self, provider: Provider) -> None:
        ref = awake(provider)
        for path in ("/etc/passwd", "../x", "~/../x", "~/a/../../x", "/home/agentx", "/"):
            with pytest.raises(PathEscape):
                provider.read_file(ref, path)
            with pytest.raises(PathEscape):
                provider.write_file(ref, path, b"")
            with pytest.raises(PathEscape):
                list(provider.list_files(ref, path))
            with pytest.raises(PathEscape):
                provider.delete(ref, path)

    def test_a_link_out_of_home_is_not_followed(self, provider: Provider) -> None:
        ref = awake(provider)
        for target in ("/etc", "../../../../../../../../etc"):
            ran(provider, ref, "bash", "-c", f"mkdir -p x; ln -s {target} x/out")
            with pytest.raises(PathEscape):
                provider.read_file(ref, "~/x/out/passwd")
            with pytest.raises(PathEscape):
                list(provider.list_files(ref, "~/x/out"))
            with pytest.raises(PathEscape):
                provider.write_file(ref, "~/x/out/new", b"")
            with pytest.raises(PathEscape):
                provider.delete(ref, "~/x/out/passwd")
            with pytest.raises(PathEscape):
                provider.exec(ref, "run-1", ["true"], cwd="~/x/out")
            provider.delete(ref, "~/x/out")

    def test_a_link_within_home_is_followed(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/f/a", b"a")
        ran(provider, ref, "ln", "-s", "f", "link")
        assert provider.read_file(ref, "~/link/a") == b"a"
        assert [entry.path for entry in provider.list_files(ref, "~/link")] == ["~/link/a"]

    def test_writing_to_a_link_replaces_the_link(self, provider: Provider) -> None:
        ref = awake(provider)
        ran(provider, ref, "ln", "-s", "/etc/passwd", "out")
        provider.write_file(ref, "~/out", b"mine")
        assert provider.read_file(ref, "~/out") == b"mine"

    def test_what_is_no_file_is_refused_without_a_wait(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/f/a", b"a")
        ran(provider, ref, "mkfifo", "pipe")
        begun = time.monotonic()
        for path in ("~/pipe", "~/f", "~"):
            with pytest.raises(Unsupported):
                provider.read_file(ref, path)
        for path in ("~/f", "~"):
            with pytest.raises(Unsupported):
                provider.write_file(ref, path, b"")
        with pytest.raises(Unsupported):
            list(provider.list_files(ref, "~/f/a"))
        with pytest.raises(Unsupported):
            provider.write_file(ref, "~/f/a/b", b"")
        with pytest.raises(Unsupported):
            provider.delete(ref, "~")
        assert time.monotonic() - begun < 1

    def test_what_can_t_be_a_path_is_refused(self, provider: Provider) -> None:
        ref = awake(provider)
        for path in ("", "a\0b", "x" * 5000):
            with pytest.raises(Unsupported):
                provider.read_file(ref, path)

    def test_a_full_disk_takes_no_more(self, provider: Provider) -> None:
        ref = awake(provider, spec=Spec(memory=SPEC.memory, disk=1_000_000, pids=64))
        with pytest.raises(QuotaExceeded):
            provider.write_file(ref, "~/large", b"x" * 2_000_000)
        assert list(provider.list_files(ref, "~")) == []
        provider.create("one", SPEC)
        provider.write_file(ref, "~/large", b"x" * 2_000_000)
        provider.create("one", Spec(memory=SPEC.memory, disk=1_000_000, pids=64))
        provider.usage(ref)
        with pytest.raises(QuotaExceeded, match="full"):
            provider.write_file(ref, "~/a", b"a")
        provider.delete(ref, "~/large")
        provider.write_file(ref, "~/a", b"a")


class ArchiveContract:
    """archive and restore."""

    def test_an_archive_brings_home_back(self, provider: Provider) -> None:
        ref = awake(provider)
        provider.write_file(ref, "~/f/a", b"a" * 100_000, mode=0o600)
        provider.write_file(ref, "~/b", b"b")
        ran(provider, ref, "ln", "-s", "/usr/bin/env", "link")
        provider.suspend(ref)
        content = io.BytesIO()
        manifest = provider.archive(ref, content)
        assert manifest == manifest_of(content.getvalue())
        other = provider.create("two", SPEC)
        provider.restore(other, io.BytesIO(content.getvalue()), manifest)
        provider.wake(other)
        assert provider.read_file(other, "~/f/a") == b"a" * 100_000
        kinds = {entry.path: entry.kind for entry in provider.list_files(other, "~")}
        assert kinds == {"~/f": "folder", "~/b": "file", "~/link": "link"}
        assert ran(provider, other, "bash", "-c", "echo more >> f/a")[0].code == 0

    def test_restoring_replaces_what_was_there(self, provider: Provider) -> None:
        ref = provider.create("one", SPEC)
        provider.write_file(ref, "~/a", b"a")
        content = io.BytesIO()
        manifest = provider.archive(ref, content)
        provider.write_file(ref, "~/later", b"later")
        provider.restore(ref, io.BytesIO(content.getvalue()), manifest)
        assert [entry.path for entry in provider.list_files(ref, "~")] == ["~/a"]

    def test_an_awake_machine_is_neither_archived_nor_restored(self, provider: Provider) -> None:
        ref = awake(provider)
        with pytest.raises(MachineBusy):
            provider.archive(ref, io.BytesIO())
        with pytest.raises(MachineBusy):
            provider.restore(ref, io.BytesIO(b""), manifest_of(b""))

    def test_an_archive_that_isn_t_the_manifest_s_changes_nothing(self, provider: Provider) -> None:
        ref = provider.create("one", SPEC)
        provider.write_file(ref, "~/a", b"a")
        content = io.BytesIO()
        manifest = provider.archive(ref, content)
        good = content.getvalue()
        bad = bytes([good[0] ^ 1]) + good[1:]
        for other in (bad, good[:-512], good + b"\0" * 512, b""):
            with pytest.raises(Unsupported, match="Nothing was kept"):
                provider.restore(ref, io.BytesIO(other), manifest)
        assert provider.read_file(ref, "~/a") == b"a"

    def test_bytes_that_are_no_archive_change_nothing(self, provider: Provider) -> None:
        ref = provider.create("one", SPEC)
        provider.write_file(ref, "~/a", b"a")
        for content in (b"not an archive" * 100, b""):
            with pytest.raises(Unsupported, match="Nothing was kept"):
                provider.restore(ref, io.BytesIO(content), manifest_of(content))
        assert provider.read_file(ref, "~/a") == b"a"

    def test_an_archive_larger_than_the_disk_is_refused_before_it_is_unpacked(
        self, provider: Provider
    ) -> None:
        ref = provider.create("one", Spec(disk=1_000_000))
        provider.write_file(ref, "~/a", b"a")
        member = tarfile.TarInfo("large")
        member.size = 2_000_000
        content = tar_of(member, data=b"x" * member.size)
        with pytest.raises(TooLarge, match=r"would unpack to 2 MB\. Nothing was kept\."):
            provider.restore(ref, io.BytesIO(content), manifest_of(content))
        assert [entry.path for entry in provider.list_files(ref, "~")] == ["~/a"]

    def test_an_archive_that_leads_out_of_home_is_refused(self, provider: Provider) -> None:
        ref = provider.create("one", SPEC)
        provider.write_file(ref, "~/a", b"a")
        device = tarfile.TarInfo("device")
        device.type = tarfile.CHRTYPE
        hard = tarfile.TarInfo("hard")
        hard.type, hard.linkname = tarfile.LNKTYPE, "../../etc/passwd"
        hostile = [tarfile.TarInfo("/etc/x"), tarfile.TarInfo("a/../../x"), device, hard]
        for member in hostile:
            content = tar_of(tarfile.TarInfo("harmless"), member)
            with pytest.raises(Unsupported, match="Nothing was kept"):
                provider.restore(ref, io.BytesIO(content), manifest_of(content))
        assert [entry.path for entry in provider.list_files(ref, "~")] == ["~/a"]


class MachineProviderContract(LifecycleContract, ExecContract, FilesContract, ArchiveContract):
    """All of it."""
