"""The ground that `make up` stands on: a folder claimed, a port taken, a database running.

All of it comes before Django's settings are read, since they need the folder and the database.
"""

import errno
import fcntl
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from foundation import env, postgres
from foundation.postgres import PostgresUnusable, Server

DATABASE = "routines"
_RUNNING = "running"  # in the folder: who has claimed it, and where that one is to be opened
_CLAIMED = re.compile(r"(http://localhost:\d+) \(process (\d+)\)")


class CannotStart(Exception):
    """Routines can't start here; the message says why and what to do."""


@dataclass
class Ground:
    """What this process holds while it serves: the folder, the port's listening sockets."""

    var: Path
    port: int
    listeners: list[socket.socket]
    server: Server | None

    @property
    def address(self) -> str:
        """Where a person opens it. A name, since passkeys don't work on a number."""
        return f"http://localhost:{self.port}"

    @property
    def database_elsewhere(self) -> Path | None:
        """Where the database is kept, when its user can't enter `var`; None when it's there."""
        if self.server is None or self.server.data.is_relative_to(self.var.resolve()):
            return None
        return self.server.data.parent

    def mend_database(self) -> bool:
        """Start the private database again if it has died; whether it had.

        Raises CannotStart when it doesn't come up, or only at another address.
        """
        if self.server is None or self.server.is_running():
            return False
        before, self.server = self.server, start_database(self.var)
        if self.server.url() != before.url():
            raise CannotStart("The database had died. Start Routines again: make up")
        return True


_held: list[Ground] = []


def ground() -> Ground:
    """What `stand` made, for the command that serves on it.

    Raises CannotStart when nothing was made.
    """
    if not _held:
        raise CannotStart("Start Routines with: make up")
    return _held[-1]


@contextmanager
def stand(default_var: Path) -> Iterator[Ground]:
    """Claim the folder, take the port, start the database; give all of it back at the end.

    The folder is ROUTINES_VAR or `default_var`, the port PORT or 8000. With DATABASE_URL set,
    that database is used and none is started; otherwise DATABASE_URL is set for the settings.

    Raises CannotStart with a sentence for a person.
    """
    try:
        var = env.path("ROUTINES_VAR", default_var)
        port = env.integer("PORT", 8000)
    except env.SettingError as error:
        raise CannotStart(str(error)) from error
    claim = claim_folder(var, f"http://localhost:{port}")
    held = Ground(var, port, [], None)
    try:
        held.listeners = listen(port)
        if not os.environ.get("DATABASE_URL"):
            held.server = start_database(var)
            os.environ["DATABASE_URL"] = held.server.url(DATABASE)
        _held.append(held)
        yield held
    finally:
        for listener in held.listeners:
            listener.close()
        if held.server is not None:
            held.server.stop()
        os.close(claim)


def claim_folder(var: Path, address: str) -> int:
    """Make `var` ours until the returned file descriptor is closed or this process ends.

    Raises CannotStart when it can't be written, or when another Routines runs on it.
    """
    try:
        if not var.exists():
            var.mkdir(parents=True)
            # Started by root, PostgreSQL runs as another user, who has to pass through.
            var.chmod(0o711 if os.geteuid() == 0 else 0o700)
        file = os.open(var / _RUNNING, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CannotStart(
            f"The folder {var} can't be written ({error.strerror}). Make it yours, "
            "or choose another: make up ROUTINES_VAR=/path/to/folder"
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        other = os.read(file, 200).decode(errors="replace").strip()
        os.close(file)
        raise CannotStart(
            f"Routines is running already, at {other or 'another address'}. "
            "Open it there, or stop it first (Ctrl-C where it runs)."
        ) from error
    os.ftruncate(file, 0)
    os.pwrite(file, f"{address} (process {os.getpid()})".encode(), 0)
    return file


def running_address(var: Path) -> str | None:
    """Where the Routines that runs on `var` is to be opened; None when none runs."""
    try:
        claimed = _CLAIMED.fullmatch((var / _RUNNING).read_text(errors="replace"))
    except OSError:
        return None
    return claimed[1] if claimed and _is_alive(int(claimed[2])) else None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True  # another person's
    except (ProcessLookupError, OverflowError):
        return False
    return True


def listen(port: int) -> list[socket.socket]:
    """Listening sockets on this computer alone, over IPv4 and, where there is one, IPv6.

    Raises CannotStart when the port is taken, needs root, or is no port.
    """
    listeners: list[socket.socket] = []
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        listener: socket.socket | None = None
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(512)
        except (OSError, OverflowError) as error:
            if listener is not None:
                listener.close()
            if family == socket.AF_INET6 and not _is_taken(error):
                continue  # a computer without IPv6
            for opened in listeners:
                opened.close()
            raise CannotStart(_why_no_port(port, error)) from error
        listeners.append(listener)
    return listeners


def _is_taken(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EADDRINUSE


def _why_no_port(port: int, error: Exception) -> str:
    other = port + 1 if 1024 <= port < 65535 else 8001
    if isinstance(error, OverflowError) or port < 1:
        return f"{port} is no port. Choose one from 1024 to 65535: make up PORT={other}"
    if isinstance(error, PermissionError):
        return f"Port {port} needs root. Choose another: make up PORT={other}"
    return f"Port {port} is taken by another program. Choose another: make up PORT={other}"


def start_database(var: Path) -> Server:
    """The private PostgreSQL below `var`, with the product's database in it.

    PG_BIN picks the programs. Raises CannotStart with a sentence for a person.
    """
    chosen = env.optional("PG_BIN")
    try:
        server = postgres.start(var / "postgres", pg_bin=Path(chosen) if chosen else None)
    except PostgresUnusable as error:
        raise CannotStart(str(error)) from error
    try:
        with psycopg.connect(server.url(), autocommit=True, connect_timeout=10) as session:
            known = session.execute("select from pg_database where datname = %s", [DATABASE])
            if known.fetchone() is None:
                session.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))
    except psycopg.Error as error:
        server.stop()
        raise CannotStart(f"PostgreSQL started but doesn't answer: {error}") from error
    return server


def database_url(var: Path) -> str:
    """Where the embedded database of `var` answers, for commands beside a running `make up`.

    When none runs, an address that gives a connection error.
    """
    running = postgres.running_server(var / "postgres")
    if running is not None:
        return running.url(DATABASE)
    return Server(var, var / "postgres" / "socket", 0, 0).url(DATABASE)
