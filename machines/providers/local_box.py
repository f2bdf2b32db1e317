"""The bubblewrap command line that a local machine's command runs under, and what goes with it.

Everything that bubblewrap is told goes through a file descriptor (`--args`), so that neither a
secret in `env` nor a path of the host shows in a list of processes. Its own environment is empty,
because /proc/1/environ inside shows it.
"""

import os
import resource
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from machines.providers.base import ProviderUnavailable, Spec, Unsupported
from machines.providers.local_seccomp import refusing_filter
from machines.providers.paths import HOME

INSIDE_ID = 1000
SHARED_MEMORY = 64 * 1024 * 1024  # bytes of /dev/shm, which is memory

_NAMESPACES = (
    "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
    "--cap-drop", "ALL", "--uid", str(INSIDE_ID), "--gid", str(INSIDE_ID),
)  # fmt: skip

# The host's public facts that ordinary programs need; none is secret.
_ETC = (
    "alternatives", "ca-certificates.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
    "localtime", "mime.types", "protocols", "services", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip

# The gate is inside, and not bubblewrap's `--block-fd`, which opens when we die: a runner that is
# killed before `--die-with-parent` holds would leave a command that runs without it. This one
# tells that everything holds, and a gate that closes ends the box. The limits are set by the shell
# itself, and the caller's variables only then: a `prlimit` in the machine's own PATH, or a library
# in LD_PRELOAD, would get round them. `-p`: no variable changes what this shell does.
_GATE = """\
printf . >&"$1"; read -r -u "$1" || exit 1
ulimit $2 || exit 1
eval "exec $1>&-"
shift 2
for __name in "${!__given_@}"; do export "${!__name}"; unset "$__name"; done
unset __name
exec -- "$@"
"""

_PASSWD = (
    f"root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:{INSIDE_ID}:{INSIDE_ID}::{HOME}:/bin/bash\n"
)
_GROUP = f"root:x:0:\nagent:x:{INSIDE_ID}:\n"
_NSSWITCH = "passwd: files\ngroup: files\nhosts: files dns\n"


@dataclass(frozen=True)
class Box:
    """What one box is made of. `folder` is the host's folder that holds the machine's `home` (or
    what `home` names) and `tmp`; `uid` is who runs it (None: whoever we are); `file_bytes` is the
    largest file that may be written; `memory_watched`: no control group bounds its memory."""

    name: str
    folder: Path
    uid: int | None
    spec: Spec
    file_bytes: int
    memory_watched: bool
    home: str = "home"


@dataclass(frozen=True)
class Started:
    """A box that waits behind its gate: it sends a byte when it is ready, and its command begins
    when it is sent a line.

    `status` carries bubblewrap's JSON: the pid of the box's first process, then the exit code,
    which is missing when the box couldn't be set up.
    """

    process: subprocess.Popen[bytes]
    gate: socket.socket
    status: int


def start(box: Box, argv: Sequence[str], cwd: str, env: Mapping[str, str], stdin: bool) -> Started:
    """Start a box behind its gate. `cwd` as seen inside.

    Never as root: `--uid` would only rename it. Raises ProviderUnavailable.
    """
    uid = os.geteuid() if box.uid is None else box.uid
    if uid == 0:
        raise ProviderUnavailable("A local machine can't run as root. Give it a uid of its own.")
    folder, prefix = _reached(box)
    files: list[int] = []
    gate, gate_inside = socket.socketpair()
    status, status_inside = os.pipe()
    files += [gate_inside.detach(), status_inside]
    try:
        options = _options(box, folder, cwd, env, files)
        options += ["--json-status-fd", str(status_inside)]
        files.append(_memory_file("arguments", _nul_separated(options)))
        sandbox = [*prefix, _bubblewrap(), "--args", str(files[-1]), "--"]
        shell = ["/bin/bash", "-p", "-c", _GATE, "bash", str(files[0]), _limits(box)]
        process = subprocess.Popen(
            [*sandbox, *shell, *argv],
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd="/",
            env={},
            pass_fds=files,
            umask=0o022,
            start_new_session=True,  # Ctrl-C is for us: we end our commands in our own time
        )
    except BaseException as error:
        gate.close()
        os.close(status)
        if isinstance(error, OSError | subprocess.SubprocessError):
            raise ProviderUnavailable(f"bubblewrap couldn't be started: {error}.") from error
        raise
    finally:
        for number in files:
            os.close(number)
    return Started(process, gate, status)


def _bubblewrap() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise ProviderUnavailable(
            "Local machines need bubblewrap. Install it: apt-get install bubblewrap"
        )
    return found


def _nul_separated(options: Sequence[str]) -> bytes:
    """bubblewrap's `--args` form. A NUL in a value would begin an option of the caller's own."""
    if any("\0" in option for option in options):
        raise Unsupported("A command, its folder and its environment can't hold NUL.")
    return b"".join(os.fsencode(option) + b"\0" for option in options)


def _reached(box: Box) -> tuple[Path, list[str]]:
    """Where the box's uid finds the folder, and what goes before bubblewrap to run it as that uid.

    `setpriv` drops to it, and not Popen's own `user`: with that, Python has to copy its whole
    process for a start, which takes longer than the start itself.

    A folder below one that is closed to others (such as /root) is out of reach for the uid that
    owns the machine. Then root binds it to a place within reach, in a mount namespace that only
    this box has, and drops to the uid there.
    """
    if box.uid is None:
        return box.folder, []
    drop = [
        shutil.which("setpriv") or "setpriv", f"--reuid={box.uid}", f"--regid={box.uid}",
        "--clear-groups", "--inh-caps=-all", "--no-new-privs", "--",
    ]  # fmt: skip
    if _open_to(box.folder, box.uid):
        return box.folder, drop
    place = "/mnt" if Path("/mnt").is_dir() else "/tmp"
    bind = 'PATH=/usr/sbin:/usr/bin:/sbin:/bin; mount --bind -- "$1" "$2" && shift 2 && exec "$@"'
    prefix = [
        shutil.which("unshare") or "unshare", "--mount", "--propagation", "private", "--",
        "/bin/sh", "-c", bind, "sh", str(box.folder), place, *drop,
    ]  # fmt: skip
    return Path(place), prefix


def _open_to(folder: Path, uid: int) -> bool:
    """Whether a user with no groups may enter each folder down to this one."""
    for step in (folder, *folder.parents):
        facts = step.stat()
        if not facts.st_mode & (0o100 if facts.st_uid == uid else 0o001):
            return False
    return True


def _options(
    box: Box, folder: Path, cwd: str, env: Mapping[str, str], files: list[int]
) -> list[str]:
    """bubblewrap's options; the descriptors that they name are added to `files`."""
    options = [*_NAMESPACES, "--hostname", box.name, "--clearenv"]
    options += ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if Path("/", name).is_symlink():
            options += ["--symlink", f"usr/{name}", f"/{name}"]
        elif Path("/", name).is_dir():
            options += ["--ro-bind", f"/{name}", f"/{name}"]
    hosts = f"127.0.0.1 localhost {box.name}\n::1 localhost\n"
    texts = {"passwd": _PASSWD, "group": _GROUP, "nsswitch.conf": _NSSWITCH, "hosts": hosts}
    for name, text in texts.items():
        files.append(_memory_file(name, text.encode()))
        options += ["--perms", "0444", "--ro-bind-data", str(files[-1]), f"/etc/{name}"]
    for name in _ETC:
        options += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    options += ["--proc", "/proc", "--dev", "/dev"]
    options += ["--perms", "1777", "--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm"]
    options += ["--bind", str(folder / "tmp"), "/tmp", "--bind", str(folder / box.home), HOME]
    options += ["--dir", "/var", "--symlink", "../tmp", "/var/tmp", "--dir", "/run"]
    # bubblewrap's own / and /dev are memory without a bound: nothing may be written there.
    options += ["--remount-ro", "/dev", "--remount-ro", "/"]
    files.append(_memory_file("filter", refusing_filter(memory_watched=box.memory_watched)))
    options += ["--seccomp", str(files[-1]), "--chdir", cwd]
    for name, value in _environment().items():
        options += ["--setenv", name, value]
    for number, (name, value) in enumerate(env.items()):
        options += ["--setenv", f"__given_{number}", f"{name}={value}"]
    return options


def _environment() -> dict[str, str]:
    return {
        "HOME": HOME,
        "PATH": f"{HOME}/.local/bin:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/bash",
    }


def _limits(box: Box) -> str:
    """What `ulimit` is told. It works inside: there the kernel counts the box's own processes only
    (since 5.14), and bubblewrap itself has to write files.

    Data, not addresses: programs such as node reserve far more addresses than they use.
    """
    wanted = (
        ("u", resource.RLIMIT_NPROC, box.spec.pids, 1),
        ("d", resource.RLIMIT_DATA, box.spec.memory, 1024),
        ("f", resource.RLIMIT_FSIZE, box.file_bytes, 1024),
        # What waits in a socket is memory of no process: without a control group, fewer sockets.
        ("n", resource.RLIMIT_NOFILE, 1024 if box.memory_watched else 4096, 1),
        ("c", resource.RLIMIT_CORE, 0, 1024),
    )
    options = []
    for letter, kind, value, unit in wanted:
        hard = resource.getrlimit(kind)[1]  # nobody inside may go above what we have ourselves
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        options.append(f"-{letter} {allowed // unit}")
    return " ".join(options)


def _memory_file(name: str, content: bytes) -> int:
    """A descriptor to read `content` from, once."""
    number = os.memfd_create(name)
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number
