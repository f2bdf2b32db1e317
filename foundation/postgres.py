"""A private PostgreSQL server in a folder of ours: started, found again, stopped.

It listens on a unix socket alone, in a folder that only its user can enter. It outlives a
killed owner on purpose: the next start takes it over, and no data is at stake.
"""

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from urllib.parse import quote

from foundation.clock import monotonic
from foundation.postgres_data import (
    PORT,
    SUPERUSER,
    clean_environment,
    forget_socket_folder,
    make_data,
    make_socket_folder,
    place_elsewhere,
    ready_folder,
    refuse_another_version,
    version_of,
)
from foundation.postgres_programs import (
    Account,
    PostgresUnusable,
    Programs,
    copy_programs,
    find_account,
    find_programs,
)

__all__ = ["DURABLE", "FAST", "PostgresUnusable", "Server", "running_server", "start"]

DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
"""A commit that was answered is on the disk."""
FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
"""For throw-away data: a crash of the computer may lose everything."""

_ALWAYS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_min_messages": "warning",
    "lc_messages": "C",
}
_START_SECONDS = 60.0
_FAST_STOP_SECONDS = 15.0
_HARD_STOP_SECONDS = 5.0

_children: set[int] = set()
"""Servers that this process started, by pid: it must wait for them when they end."""


@dataclass(frozen=True)
class Server:
    """A running private server."""

    data: Path
    socket_folder: Path
    pid: int
    version: int

    def url(self, database: str = "postgres") -> str:
        """The connection address of one of its databases, as DATABASE_URL takes it."""
        return (
            f"postgresql://{SUPERUSER}@/{quote(database)}"
            f"?host={quote(str(self.socket_folder))}&port={PORT}"
        )

    def is_running(self) -> bool:
        """Whether the server process is there now."""
        return _is_postmaster(self.pid, self.data)

    def stop(self) -> None:
        """Stop it: open sessions are cut, what was committed is kept. Harmless when stopped.

        Raises PostgresUnusable when even a kill doesn't end it.
        """
        for number, seconds in (
            (signal.SIGINT, _FAST_STOP_SECONDS),
            (signal.SIGQUIT, _HARD_STOP_SECONDS),
            (signal.SIGKILL, _HARD_STOP_SECONDS),
        ):
            if not self.is_running():
                break
            os.kill(self.pid, number)
            if _comes_true(lambda: not self.is_running(), seconds):
                break
        else:
            raise PostgresUnusable(f"PostgreSQL (process {self.pid}) doesn't stop.")
        forget_socket_folder(self.socket_folder, self.data)


def start(
    folder: Path, *, pg_bin: Path | None = None, settings: dict[str, str] | None = None
) -> Server:
    """Start the server whose data is in `folder`, made on first use; or take over a running one.

    `pg_bin` picks the programs' folder (None: the bundled ones, else the system's).
    `settings` are PostgreSQL's own (None: DURABLE). The caller makes sure that nobody else
    starts the same folder at the same time.

    Raises PostgresUnusable with a sentence for a person: no programs, a folder that can't be
    written or that another version made, a server that doesn't come up.
    """
    running = running_server(folder)
    if running is not None:
        return running
    folder = ready_folder(folder)
    data = (folder / "data").resolve()
    made_by = version_of(data)
    account = find_account(data)
    programs = find_programs(pg_bin, made_by)
    refuse_another_version(folder, programs, made_by)
    if account is not None and made_by is None and not account.reaches(folder):
        data = place_elsewhere(folder, account)
    programs = _reachable(programs, account, data.parent)
    if made_by is None:
        make_data(data, programs, account, durable=settings in (None, DURABLE))
    elif account is not None and not account.reaches(data):
        raise PostgresUnusable(
            f"PostgreSQL runs as the user {account.name}, who can't enter {data}. "
            "Let that user enter the folders above it (chmod o+x), "
            "or run Routines as an ordinary user."
        )
    _forget_dead_server(data)
    chosen = {**_ALWAYS, **(DURABLE if settings is None else settings)}
    return _launch(folder, programs, account, chosen)


def running_server(folder: Path) -> Server | None:
    """The server that runs on this folder's data now and is ready; None when none does."""
    data = (folder / "data").resolve()
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    if len(lines) < 8 or not lines[7].startswith("ready"):
        return None
    pid, sockets = int(lines[0]), Path(lines[4])
    if not _is_postmaster(pid, data) or not (sockets / f".s.PGSQL.{lines[3]}").is_socket():
        return None
    return Server(data=data, socket_folder=sockets, pid=pid, version=version_of(data) or 0)


def _reachable(programs: Programs, account: Account | None, near: Path) -> Programs:
    """The same programs where the account can run them."""
    if account is None or account.reaches(programs.bin / "postgres"):
        return programs
    if not programs.is_bundled:
        raise PostgresUnusable(
            f"PostgreSQL runs as the user {account.name}, who can't reach {programs.bin}. "
            "Name another PostgreSQL: make up PG_BIN=/path/to/bin"
        )
    return copy_programs(programs, near)


def _launch(
    folder: Path, programs: Programs, account: Account | None, settings: dict[str, str]
) -> Server:
    data = (folder / "data").resolve()
    sockets = make_socket_folder(data, account)
    command = [str(programs.bin / "postgres"), "-D", str(data)]
    for name, value in {**settings, "unix_socket_directories": str(sockets)}.items():
        command += ["-c", f"{name}={value}"]
    log = folder / "log"
    if log.exists():
        log.replace(folder / "log.before")
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            cwd=data,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            # Its own session: Ctrl-C in a terminal must reach us alone, since work is still
            # written down while we stop.
            start_new_session=True,
        )
    _children.add(process.pid)
    process.returncode = 0  # from here on it is known by its pid, and may outlive us
    server: Server | None = None
    try:
        _comes_true(
            lambda: not _is_alive(process.pid) or running_server(folder) is not None,
            _START_SECONDS,
        )
        server = running_server(folder)
    finally:
        if server is None:
            Server(data, sockets, process.pid, programs.version).stop()
    if server is not None:
        return server
    lines = log.read_text(errors="replace").strip().splitlines()[-5:]
    raise PostgresUnusable("\n".join([f"PostgreSQL didn't start; its log is {log}.", *lines]))


def _forget_dead_server(data: Path) -> None:
    """Clear what a killed server left, once nothing of it runs.

    PostgreSQL itself refuses to start when the number in the stale file has been given to
    another process meanwhile, as happens each time a container restarts.
    """
    if not (data / "postmaster.pid").exists() or not Path("/proc/self").exists():
        return
    # A killed server's own children notice within moments and leave.
    if not _comes_true(lambda: not _works_in(data), _START_SECONDS):
        raise PostgresUnusable(
            f"Another PostgreSQL is using {data}. Stop it, then start Routines again."
        )
    (data / "postmaster.pid").unlink(missing_ok=True)
    for left in data.with_name("socket").glob(".s.PGSQL.*"):
        left.unlink(missing_ok=True)


def _works_in(data: Path) -> bool:
    """Whether any process has the data as its working folder, as PostgreSQL's always have."""
    return any(
        entry.name.isdigit() and _working_folder(int(entry.name)) == str(data)
        for entry in Path("/proc").iterdir()
    )


def _working_folder(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:  # it ended (a zombie has none), or it is another user's
        return None


def _is_postmaster(pid: int, data: Path) -> bool:
    """Whether this process is the data's server, and not one that got its number later."""
    if not _is_alive(pid):
        return False
    if Path("/proc/self").exists():
        return _working_folder(pid) == str(data)
    return (data / "postmaster.pid").exists()


def _is_alive(pid: int) -> bool:
    try:
        if pid in _children and os.waitpid(pid, os.WNOHANG)[0] == pid:
            _children.discard(pid)
            return False
        os.kill(pid, 0)
    except (ChildProcessError, ProcessLookupError):  # the first: another thread waited for it
        _children.discard(pid)
        return False
    except PermissionError:  # another user's
        pass
    return True


def _comes_true(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds, at most so many seconds; whether it came to hold."""
    deadline = monotonic() + seconds
    while not condition():
        if monotonic() > deadline:
            return False
        sleep(0.02)
    return True
