"""What a command on a local machine can't do, tried from inside."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from machines.providers.base import (
    Exit,
    MachineError,
    PathEscape,
    ProviderUnavailable,
    QuotaExceeded,
    Ref,
    Spec,
    Unsupported,
)
from machines.providers.local import LocalProvider
from machines.providers.local_box import Box, start
from machines.providers.local_limits import limits_for
from tests.contracts.machine_provider_contract import SPEC, awake, finished, ran

pytestmark = pytest.mark.sandbox
MIB = 1024**2


@pytest.fixture
def provider(machines_root: Path) -> Iterator[LocalProvider]:
    provider = LocalProvider(machines_root / "machines")
    yield provider
    for name in ("one", "two"):
        provider.destroy(Ref("local", name))


@pytest.fixture
def machine(provider: LocalProvider) -> Ref:
    return awake(provider)


@pytest.fixture
def python(provider: LocalProvider, machine: Ref) -> Callable[[str], str]:
    """Runs Python inside; what it printed. It has to end well."""

    def run(script: str) -> str:
        end, out, err = ran(
            provider, machine, "/usr/bin/python3", "-c", textwrap.dedent(script), timeout=20.0
        )
        assert end == Exit(0, "exit"), (end, out, err)
        return out.decode()

    return run


def alive_with(marker: str) -> list[int]:
    """The host's processes that have this text among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in words and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


def wait_until(happened: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"it didn't happen within {seconds} seconds"
        time.sleep(0.02)


# What can be seen


def test_the_host_s_files_are_not_there(provider: LocalProvider, machine: Ref) -> None:
    awake(provider, "two")
    provider.write_file(Ref("local", "two"), "~/secret", b"two's")
    root = provider._root
    places = ("/etc/shadow", str(root / "two" / "home" / "secret"), str(root / "one"), __file__,
              "/root", "/var/lib", "/sys", "/home/agent/../../proc/1/root/etc/shadow")  # fmt: skip
    for place in places:
        end, out, _ = ran(provider, machine, "cat", place)
        assert (end.code, out) == (1, b""), place
    names = set(ran(provider, machine, "ls", "/")[1].decode().split())
    assert names <= {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc",
                     "run", "sbin", "tmp", "usr", "var"}  # fmt: skip
    assert ran(provider, machine, "ls", "/home")[1] == b"agent\n"


def test_nothing_but_home_tmp_and_shm_can_be_written(provider: LocalProvider, machine: Ref) -> None:
    for place in ("/x", "/usr/x", "/etc/x", "/dev/x", "/var/x", "/run/x", "/home/x", "/proc/x"):
        assert ran(provider, machine, "touch", place)[0].code == 1, place
    for place in ("/home/agent/x", "/tmp/x", "/var/tmp/x", "/dev/shm/x"):
        assert ran(provider, machine, "touch", place)[0].code == 0, place


def test_the_environment_of_the_product_is_not_there(
    provider: LocalProvider, machine: Ref, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUTINES_CANARY", "a-canary-in-the-environment")
    end, out, _ = ran(provider, machine, "bash", "-c", "cat /proc/[0-9]*/environ; env")
    assert end.code == 0
    assert b"CANARY" not in out
    end, out, _ = ran(provider, machine, "env", env={"GIVEN": "x=y\nz", "GREETING": "a"})
    facts = dict(entry.split("=", 1) for entry in out.decode().replace("\nz", "").splitlines())
    given = {"GIVEN": "x=y", "GREETING": "a"}
    shells = {"PWD", "SHLVL", "OLDPWD", "_"}
    small = {"HOME", "PATH", "LANG", "TERM", "USER", "LOGNAME", "SHELL"}
    assert given.items() <= facts.items()
    assert small <= set(facts) - set(given) <= small | shells


def test_a_secret_in_env_is_not_among_the_host_s_arguments(
    provider: LocalProvider, machine: Ref
) -> None:
    secret = uuid.uuid4().hex
    session = provider.exec(machine, "run-1", ["sleep", "60"], env={"TOKEN": secret})
    time.sleep(0.1)
    assert alive_with(secret) == []
    assert alive_with(str(provider._root)) == []
    session.cancel()
    finished(session)


def test_the_host_s_processes_are_not_there(provider: LocalProvider, machine: Ref) -> None:
    _, out, _ = ran(provider, machine, "bash", "-c", "echo /proc/[0-9]*")
    assert 2 <= len(out.split()) <= 3, out
    assert ran(provider, machine, "kill", "-9", str(os.getpid()))[0].code == 1


def test_only_the_three_standard_descriptors_are_inherited(python: Callable[[str], str]) -> None:
    shown = python("import os; print(sorted(os.listdir('/proc/self/fd')))")
    assert shown == "['0', '1', '2', '3']\n"  # 3 is the listing's own


def test_a_loopback_service_of_the_host_is_out_of_reach(python: Callable[[str], str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=1).close()  # it is there for us
        shown = python(f"""
            import socket
            for host in ("127.0.0.1", "localhost", "::1"):
                try:
                    socket.create_connection((host, {port}), timeout=1)
                    print("connected", host)
                except OSError as error:
                    pass
            print(open("/proc/net/dev").read().count(":"))
        """)
    assert shown == "1\n"


def test_an_abstract_socket_of_the_host_is_out_of_reach(python: Callable[[str], str]) -> None:
    name = f"routines-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        shown = python(f"""
            import socket
            try:
                socket.socket(socket.AF_UNIX).connect("\\0{name}")
                print("connected")
            except ConnectionRefusedError:
                print("refused")
        """)
    assert shown == "refused\n"


# What can be done


def test_no_right_is_left_and_none_can_be_gained(
    provider: LocalProvider, machine: Ref, python: Callable[[str], str]
) -> None:
    facts = dict(
        line.split(":\t", 1)
        for line in python("print(open('/proc/self/status').read())").splitlines()
        if ":\t" in line
    )
    assert facts["NoNewPrivs"] == "1"
    assert facts["Seccomp"] == "2"
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(facts[kind], 16) == 0, kind
    assert set(facts["Uid"].split()) == {"1000"}
    script = "cp /usr/bin/id me; chmod u+s,g+s me; ./me -u"
    assert ran(provider, machine, "bash", "-c", script)[1] == b"1000\n"
    python("""
        import os
        for attempt in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0])):
            try:
                attempt()
            except (PermissionError, OSError):
                continue
            raise SystemExit("became somebody else")
    """)


def test_a_machine_never_runs_as_root(machines_root: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root could try")
    for uid in (0, None):
        box = Box("one", machines_root, uid, SPEC, 1000, True)
        with pytest.raises(ProviderUnavailable, match="can't run as root"):
            start(box, ["true"], "/", {}, False)


def test_each_machine_has_a_uid_of_its_own_on_the_host(
    provider: LocalProvider, machine: Ref
) -> None:
    if os.geteuid() != 0:
        pytest.skip("an ordinary user has one uid for all")
    uids = set()
    for ref in (machine, awake(provider, "two")):
        marker = f"{uuid.uuid4().int % 10**9}.5"
        session = provider.exec(ref, "run-1", ["sleep", marker])
        wait_until(lambda marker=marker: len(alive_with(marker)) == 3)  # type: ignore[misc]
        owners = {Path(f"/proc/{pid}").stat().st_uid for pid in alive_with(marker)}
        session.cancel()
        finished(session)
        home = (provider._root / ref.machine_id / "home").stat()
        assert owners == {home.st_uid}
        assert home.st_mode & 0o777 == 0o700
        uids |= owners
    assert len(uids) == 2
    assert 0 not in uids
    provider.destroy(machine)
    provider.create("one", SPEC)
    assert (provider._root / "one" / "home").stat().st_uid not in uids  # none is given twice


@pytest.mark.parametrize(
    "command",
    [
        ["mount", "-t", "tmpfs", "x", "/tmp"],
        ["umount", "/usr"],
        ["unshare", "-U", "true"],
        ["unshare", "-m", "true"],
        ["unshare", "-n", "true"],
        ["/usr/sbin/chroot", "/tmp", "/bin/true"],
        ["mknod", "x", "c", "1", "3"],
        ["prlimit", "--nproc=100000", "true"],
        ["hostname", "elsewhere"],
        ["bash", "-c", "echo 1 > /proc/sys/kernel/printk"],
        ["bash", "-c", "echo 100 > /proc/sys/user/max_user_namespaces"],
    ],
    ids=" ".join,
)
def test_a_privileged_command_fails(
    provider: LocalProvider, machine: Ref, command: list[str]
) -> None:
    assert ran(provider, machine, *command)[0].code not in (0, 127)


def test_refused_system_calls_fail_with_eperm(python: Callable[[str], str]) -> None:
    shown = python("""
        import ctypes, platform
        libc = ctypes.CDLL(None, use_errno=True)
        column = 0 if platform.machine() == "x86_64" else 1
        calls = {"keyctl": (250, 219), "add_key": (248, 217), "bpf": (321, 280),
                 "perf_event_open": (298, 241), "io_uring_setup": (425, 425),
                 "userfaultfd": (323, 282), "unshare": (272, 97), "mount": (165, 40)}
        for name, numbers in calls.items():
            result = libc.syscall(numbers[column], 0, 0, 0, 0, 0)
            if (result, ctypes.get_errno()) != (-1, 1):
                print(name, result, ctypes.get_errno())
        for family in (40, 38, 17):  # vsock, alg, packet
            if libc.socket(family, 3, 0) != -1:
                print("socket", family)
        clone = libc.syscall((56, 220)[column], 0x10000000 | 17, 0, 0, 0, 0)
        if clone == 0:
            libc._exit(0)
        if clone != -1:
            print("a user namespace")
        print("done")
    """)
    assert shown == "done\n"


def test_options_can_t_be_slipped_to_the_sandbox(provider: LocalProvider, machine: Ref) -> None:
    for env in ({"A": "x\0--bind\0/\0/tmp"}, {"A\0--bind\0/\0/tmp\0--setenv\0B": "x"}, {"A=B": ""}):
        with pytest.raises(Unsupported):
            provider.exec(machine, "run-1", ["true"], env=env)
    with pytest.raises(Unsupported):
        provider.exec(machine, "run-1", ["echo", "a\0b"])
    assert ran(provider, machine, "--help")[0] == Exit(127, "exit")
    with pytest.raises(Unsupported):
        provider.create("../elsewhere", SPEC)
    with pytest.raises(MachineError):
        provider.usage(Ref("local", "../machines/one"))


# What is bounded


def test_no_limit_can_be_got_round_from_home_or_the_environment(
    provider: LocalProvider, machine: Ref
) -> None:
    limits = {
        "Max processes": str(SPEC.pids),
        "Max data size": str(SPEC.memory),
        "Max file size": str(SPEC.disk),
        "Max open files": "1024" if limits_for("trial", SPEC).watched else "4096",
        "Max core file size": "0",
    }
    for name in ("prlimit", "ulimit", "printf", "bash", "env"):
        provider.write_file(machine, f"~/.local/bin/{name}", b"#!/bin/sh\necho ours\n", 0o755)
    provider.write_file(machine, "~/evil.sh", b"ulimit() { :; }; echo sourced")
    hostile = {
        "BASH_ENV": "/home/agent/evil.sh",
        "LD_PRELOAD": "/home/agent/none.so",
        "SHELLOPTS": "noexec",
        "BASH_FUNC_ulimit": "() { :; }",
    }
    for env in ({}, *({name: value} for name, value in hostile.items())):
        _, out, _ = ran(provider, machine, "cat", "/proc/self/limits", env=env)
        hard = {line[:26].strip(): line[26:].split()[1] for line in out.decode().splitlines()[1:]}
        assert {name: hard[name] for name in limits} == limits, env


def test_a_library_to_preload_is_loaded_by_the_command_alone(
    provider: LocalProvider, machine: Ref
) -> None:
    _, _, err = ran(provider, machine, "true", env={"LD_PRELOAD": "/home/agent/none.so"})
    assert err.decode().count("none.so") == 1  # the dynamic linker complains once a program


def test_a_command_is_out_of_reach_of_the_terminal_s_keys(
    provider: LocalProvider, machine: Ref
) -> None:
    session = provider.exec(machine, "run-1", ["sleep", "60"])
    folder = provider._folder(machine)
    wait_until(lambda: folder.running() is not None)
    noted = folder.running()
    assert noted is not None
    assert all(os.getpgid(pid) != os.getpgid(0) for pid, _ in noted.processes)
    session.cancel()
    finished(session)


def test_a_fork_bomb_is_bounded(provider: LocalProvider, machine: Ref) -> None:
    script = """
import os, time
n = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
        n += 1
except BlockingIOError:
    print(n)
"""
    end, out, _ = ran(provider, machine, "python3", "-c", script, timeout=20.0)
    assert end.code == 0
    assert 10 < int(out) <= SPEC.pids
    bomb = ":(){ :|:& };:"
    begun = time.monotonic()
    end, _, _ = ran(provider, machine, "bash", "-c", f"{bomb}; sleep 60", timeout=0.5)
    assert end.reason in ("timeout", "exit")
    assert time.monotonic() - begun < 5
    assert ran(provider, machine, "true")[0] == Exit(0, "exit")


def test_a_memory_bomb_is_bounded(provider: LocalProvider, machine: Ref) -> None:
    end, _, err = ran(provider, machine, "python3", "-c", f"bytearray({SPEC.memory + 1})")
    assert end.code == 1
    assert b"MemoryError" in err


def test_many_processes_together_run_out_of_memory(provider: LocalProvider, machine: Ref) -> None:
    script = f"""
import os, time
for _ in range(4):
    if os.fork() == 0:
        block = bytearray({SPEC.memory} // 2)
        for at in range(0, len(block), 4096):
            block[at] = 1
        time.sleep(60)
time.sleep(60)
"""
    end, _, _ = ran(provider, machine, "python3", "-c", script, timeout=20.0)
    assert end.reason == "oom"


def test_shared_pages_count_once(provider: LocalProvider, machine: Ref) -> None:
    script = f"""
import os, time
block = bytearray(b"x" * ({SPEC.memory} // 3))
for _ in range(6):
    if os.fork() == 0:
        time.sleep(0.7)
        os._exit(0)
for _ in range(6):
    os.wait()
"""
    assert ran(provider, machine, "python3", "-c", script)[0] == Exit(0, "exit")


def test_shared_memory_is_bounded(provider: LocalProvider, machine: Ref) -> None:
    _, out, _ = ran(
        provider, machine, "bash", "-c",
        "for i in 1 2 3; do head -c 40000000 /dev/zero > /dev/shm/$i; done; du -sm /dev/shm",
    )  # fmt: skip
    assert 60 <= int(out.split()[0]) <= 65


def test_a_file_is_bounded(provider: LocalProvider) -> None:
    ref = awake(provider, "two", replace(SPEC, disk=10 * MIB))
    end, _, _ = ran(provider, ref, "dd", "if=/dev/zero", "of=large", "bs=1M", "count=20")
    assert end == Exit(128 + signal.SIGXFSZ, "exit")
    assert (provider._root / "two" / "home" / "large").stat().st_size == 10 * MIB


def test_on_a_full_disk_things_can_only_be_deleted(provider: LocalProvider) -> None:
    ref = awake(provider, "two", replace(SPEC, disk=10 * MIB))
    script = "for i in 1 2; do head -c 8000000 /dev/zero > $i; done"
    assert ran(provider, ref, "bash", "-c", script)[0].code == 0
    assert provider.usage(ref).disk_bytes > 10 * MIB
    with pytest.raises(QuotaExceeded):
        provider.write_file(ref, "~/a", b"a")
    assert ran(provider, ref, "bash", "-c", "echo more > 3")[0].code != 0
    assert ran(provider, ref, "rm", "1", "2")[0].code == 0
    assert ran(provider, ref, "bash", "-c", "echo more > 3")[0].code == 0
    provider.write_file(ref, "~/a", b"a")


def test_memory_of_no_process_is_refused_where_memory_is_watched(
    provider: LocalProvider, machine: Ref, python: Callable[[str], str]
) -> None:
    shown = python("""
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        try:
            os.memfd_create("x")
            print("memfd_create")
        except PermissionError:
            pass
        for name in ("shmget", "msgget"):
            if getattr(libc, name)(0, 4096, 0o1600) != -1:
                print(name)
        print("done")
    """)
    if limits_for("trial", SPEC).watched:
        assert shown == "done\n"
    else:
        assert shown == "memfd_create\nshmget\nmsgget\ndone\n"
    heredoc = "cat <<< here; cat < <(echo there); python3 -c 'print(1)'"
    assert ran(provider, machine, "bash", "-c", heredoc)[1] == b"here\nthere\n1\n"


def test_git_works_inside(provider: LocalProvider, machine: Ref) -> None:
    if shutil.which("git") is None:
        pytest.skip("this host has no git")
    script = (
        "git init -q r && cd r && echo a > a && git add a && "
        "git -c user.name=a -c user.email=a@example.com commit -qm a && git log --format=%s"
    )
    end, out, err = ran(provider, machine, "bash", "-c", script)
    assert (end, out) == (Exit(0, "exit"), b"a\n"), err


# What ends


@pytest.mark.parametrize(
    "leave",
    [
        "setsid sleep {0} & exit 0",
        "nohup sleep {0} >/dev/null 2>&1 & exit 0",
        "(setsid bash -c 'sleep {0} & exec sleep {0}' &) ; exit 0",
        "trap '' TERM INT HUP; setsid sleep {0} & sleep {0}",
    ],
)
def test_nothing_survives_a_command(provider: LocalProvider, machine: Ref, leave: str) -> None:
    marker = f"{uuid.uuid4().int % 10**9}.25"
    begun = time.monotonic()
    end, _, _ = ran(provider, machine, "bash", "-c", leave.format(marker), timeout=0.6)
    assert alive_with(marker) == []
    assert end in (Exit(0, "exit"), Exit(137, "timeout"))
    assert time.monotonic() - begun < 3


@pytest.mark.parametrize("delay", [0, 0.003, 0.01, 0.1])
def test_a_box_ends_with_the_runner_and_is_reconciled(
    provider: LocalProvider, delay: float
) -> None:
    marker = f"{uuid.uuid4().int % 10**9}.75"
    script = f"""
import sys
from pathlib import Path
from machines.providers.base import Spec
from machines.providers.local import LocalProvider
provider = LocalProvider(Path({str(provider._root)!r}))
ref = provider.create("one", Spec())
provider.wake(ref)
list(provider.exec(ref, "run-1", ["sleep", "{marker}"]).events)
"""
    runner = subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[2])
    running = provider._root / "one" / "running.json"
    try:
        wait_until(running.exists, 30)
        assert provider.reconcile() == []  # a living runner's is left alone
        assert running.exists()
        time.sleep(delay)
    finally:
        runner.kill()
        runner.wait()
    wait_until(lambda: alive_with(marker) == [], 30)
    ref = Ref("local", "one")
    assert provider.reconcile() == [ref]
    assert provider.reconcile() == []
    assert ran(provider, ref, "true")[0].code == 0


def test_nothing_is_left_to_clear_away_where_we_take_in_orphans(provider: LocalProvider) -> None:
    script = f"""
import ctypes, threading, time
from pathlib import Path
from machines.providers.base import Spec
from machines.providers.local import LocalProvider
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # be to our descendants what a container's init is
provider = LocalProvider(Path({str(provider._root)!r}))
ref = provider.create("one", Spec())
provider.wake(ref)
for argv, timeout in ((["true"], 9), (["bash", "-c", "setsid sleep 60 &"], 9), (["yes"], 0.1)):
    list(provider.exec(ref, "run-1", argv, timeout=timeout).events)
while threading.active_count() > 1:
    time.sleep(0.01)
print([task.joinpath("children").read_text() for task in Path("/proc/self/task").iterdir()])
"""
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )
    assert set(ended.stdout.decode().strip("[]\n").replace(" ", "").split(",")) == {"''"}


def test_reconcile_ends_the_processes_that_a_record_names(
    provider: LocalProvider, machine: Ref
) -> None:
    left = subprocess.Popen(["sleep", "60"])
    other = subprocess.Popen(["sleep", "60"])
    try:
        folder = provider._folder(machine)
        folder.note_running("run-1", [left.pid])
        assert provider.reconcile() == [machine]
        assert left.wait(5) == -signal.SIGKILL
        record = folder.path / "running.json"
        record.write_text(f'{{"run_id": "run-1", "processes": [[{other.pid}, 1]]}}')
        assert provider.reconcile() == [machine]
        assert other.poll() is None  # the pid was another process's by then
    finally:
        for process in (left, other):
            process.kill()
            process.wait()


@pytest.mark.parametrize("home_is_there", [True, False])
def test_a_restore_that_broke_off_is_put_right(
    provider: LocalProvider, home_is_there: bool
) -> None:
    ref = provider.create("one", SPEC)
    provider.write_file(ref, "~/a", b"a")
    folder = provider._root / "one"
    shutil.copytree(folder / "home", folder / "home.new")
    if not home_is_there:
        (folder / "home").rename(folder / "home.old")
    (provider._root / ".new-0123").mkdir()
    (provider._root / ".gone-one").mkdir()
    assert provider.reconcile() == [ref]
    assert provider.read_file(ref, "~/a") == b"a"
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"home", "tmp"}
    assert [path.name for path in provider._root.iterdir() if path.is_dir()] == ["one"]


def test_another_process_may_put_the_machine_to_sleep(
    provider: LocalProvider, machine: Ref
) -> None:
    session = provider.exec(machine, "run-1", ["sleep", "60"])
    LocalProvider(provider._root).suspend(machine)
    assert finished(session)[0].reason == "cancelled"
    assert provider.usage(machine).state == "asleep"


def test_a_sandbox_that_can_t_be_made_is_an_error_and_the_machine_is_free_again(
    provider: LocalProvider, machine: Ref, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("machines.providers.local_box._bubblewrap", lambda: "/bin/false")
        with pytest.raises(ProviderUnavailable):
            ran(provider, machine, "true")
        patched.setattr("machines.providers.local_box._ETC", ("../no-such\nplace",))
        patched.setattr("machines.providers.local_box._bubblewrap", lambda: "/no/such/bwrap")
        with pytest.raises(ProviderUnavailable, match="/no/such/bwrap"):
            ran(provider, machine, "true")
    assert ran(provider, machine, "true")[0] == Exit(0, "exit")


# What the host does with files that the machine owns


def test_a_link_that_is_swapped_while_we_read_never_leads_out(
    provider: LocalProvider, machine: Ref
) -> None:
    provider.write_file(machine, "~/good/passwd", b"mine")
    script = (
        "ln -s /etc evil; ln -s good d; "
        "while :; do ln -sfn /etc t; mv -T t d; ln -sfn good t; mv -T t d; done"
    )
    session = provider.exec(machine, "run-1", ["bash", "-c", script], timeout=20.0)
    answers: dict[str, int] = {}
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        try:
            answer = provider.read_file(machine, "~/d/passwd").decode()
        except MachineError as error:
            answer = type(error).__name__
        answers[answer] = answers.get(answer, 0) + 1
    session.cancel()
    finished(session)
    assert set(answers) <= {"mine", "PathEscape", "NotFound"}
    assert "mine" in answers
    assert "PathEscape" in answers


def test_a_magic_link_is_not_followed(provider: LocalProvider, machine: Ref) -> None:
    ran(provider, machine, "ln", "-s", "/proc/self/root/etc/passwd", "link")
    with pytest.raises(PathEscape):
        provider.read_file(machine, "~/link")


def test_a_socket_is_no_file(provider: LocalProvider, python: Callable[[str], str]) -> None:
    python("import socket; socket.socket(socket.AF_UNIX).bind('/home/agent/s')")
    with pytest.raises(Unsupported):
        provider.read_file(Ref("local", "one"), "~/s")


def test_a_tree_that_is_deep_and_closed_is_deleted(
    provider: LocalProvider, machine: Ref, python: Callable[[str], str]
) -> None:
    python("""
        import os
        os.mkdir("closed"); os.mkdir("closed/in"); os.chmod("closed", 0)
        os.mkdir("deep"); os.chdir("deep")
        for _ in range(1100):
            os.mkdir("deeper"); os.chdir("deeper")
    """)
    assert provider.usage(machine).disk_bytes > 1_000_000
    provider.delete(machine, "~/closed")
    provider.delete(machine, "~/deep")
    assert list(provider.list_files(machine, "~")) == []


def test_what_we_write_belongs_to_the_machine(provider: LocalProvider, machine: Ref) -> None:
    provider.write_file(machine, "~/new/a", b"a", mode=0o4755)
    home = provider._root / "one" / "home"
    for path in (home / "new", home / "new" / "a"):
        assert path.stat().st_uid == home.stat().st_uid
    assert (home / "new" / "a").stat().st_mode & 0o7777 == 0o755  # no setuid from outside


def test_a_root_below_a_closed_folder_works(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    provider = LocalProvider(closed / "machines")
    ref = awake(provider)
    end, out, _ = ran(provider, ref, "bash", "-c", "echo a > a; id -u; ls / | grep -c mnt")
    assert (end.code, out) == (1, b"1000\n0\n")
    marker = f"{uuid.uuid4().int % 10**9}.125"
    end, _, _ = ran(provider, ref, "bash", "-c", f"setsid sleep {marker} & sleep 60", timeout=0.3)
    assert end.reason == "timeout"
    assert alive_with(marker) == []
    assert str(closed) not in Path("/proc/self/mountinfo").read_text()
    provider.destroy(ref)


# At once


def test_many_threads_run_on_many_machines(provider: LocalProvider) -> None:
    ends: list[Exit] = []

    def work(number: int) -> None:
        ref = awake(provider, f"many-{number}")
        for _ in range(5):
            ends.append(ran(provider, ref, "bash", "-c", "echo x > a; cat a")[0])
        provider.destroy(ref)

    threads = [threading.Thread(target=work, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends == [Exit(0, "exit")] * 30


def test_nothing_of_ours_is_left_open(provider: LocalProvider, machine: Ref) -> None:
    ran(provider, machine, "true")

    def open_now() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = open_now()
    for _ in range(10):
        ran(provider, machine, "cat", stdin=b"x")
        ran(provider, machine, "sleep", "60", timeout=0.02)
        provider.write_file(machine, "~/a", b"a")
        provider.read_file(machine, "~/a")
        list(provider.list_files(machine, "~"))
    assert open_now() == before


def test_a_command_costs_little_more_than_bubblewrap_itself(
    provider: LocalProvider, machine: Ref, record_property: Callable[[str, object], None]
) -> None:
    def median(work: Callable[[], object]) -> float:
        times = []
        for _ in range(15):
            begun = time.perf_counter()
            work()
            times.append(time.perf_counter() - begun)
        return sorted(times)[len(times) // 2]

    bare = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr",
            "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc",
            "--dev", "/dev", "--", "/usr/bin/true"]  # fmt: skip
    alone = median(lambda: subprocess.run(bare, check=True))
    ours = median(lambda: ran(provider, machine, "true"))
    record_property("bubblewrap_seconds", alone)
    record_property("exec_seconds", ours)
    print(f"bwrap true: {alone * 1000:.1f} ms; exec true: {ours * 1000:.1f} ms")
    assert ours < alone + 0.25


def test_a_spec_that_local_can_t_have_is_refused(provider: LocalProvider) -> None:
    with pytest.raises(Unsupported):
        provider.create("one", Spec(image="debian"))
    with pytest.raises(Unsupported):
        provider.create("one", replace(SPEC, network="all"))  # type: ignore[arg-type]
