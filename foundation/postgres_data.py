"""The folder of a private PostgreSQL: made, checked, placed where its user can enter it."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from foundation.postgres_programs import Account, PostgresUnusable, Programs

SUPERUSER = "routines"
PORT = 5432
_LONGEST_SOCKET_PATH = 103
"""Bytes: macOS allows 103, Linux 107."""


def ready_folder(folder: Path) -> Path:
    """The folder, there and writable, with its links resolved.

    Raises PostgresUnusable when it can't be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        writable = False
    if not writable:
        raise PostgresUnusable(
            f"The folder {folder} can't be written. Make it yours (chown), "
            "or start Routines as the user who owns it."
        )
    link = folder / "data"
    if link.is_symlink() and not link.exists():
        link.unlink()
    return folder.resolve()


def version_of(data: Path) -> int | None:
    """The major version that made the data; None when there is no data yet.

    Raises PostgresUnusable when the data belongs to another user.
    """
    try:
        return int((data / "PG_VERSION").read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise PostgresUnusable(
            f"The database in {data} belongs to another user. "
            "Start Routines as the user who first started it."
        ) from error


def refuse_another_version(folder: Path, programs: Programs, made_by: int | None) -> None:
    """Raise PostgresUnusable when the programs can't run what another version made."""
    if made_by is None or made_by == programs.version:
        return
    raise PostgresUnusable(
        f"The database in {folder} was made by PostgreSQL {made_by}, and the PostgreSQL to run "
        f"it is {programs.version} (in {programs.bin}). Name the folder of a PostgreSQL "
        f"{made_by} (make up PG_BIN=/path/to/bin), or move {folder} away to begin with an "
        "empty database."
    )


def place_elsewhere(folder: Path, account: Account) -> Path:
    """A data folder that the account reaches, linked from `folder`, which it doesn't.

    Raises PostgresUnusable when no such place is found.
    """
    parent = Path("/var/lib")
    home = Path(tempfile.mkdtemp(prefix="routines-", dir=parent if parent.is_dir() else None))
    home.chmod(0o711)
    if not account.reaches(home):
        home.rmdir()
        raise PostgresUnusable(
            f"PostgreSQL runs as the user {account.name}, who can enter neither {folder} nor "
            f"{parent}. Move Routines to a folder that every user can enter, such as /srv."
        )
    (folder / "data").symlink_to(home / "data")
    return home / "data"


def make_data(data: Path, programs: Programs, account: Account | None, *, durable: bool) -> None:
    """Make an empty database folder at `data`.

    Raises PostgresUnusable with what initdb said when it fails.
    """
    # Made aside and renamed, so that a kill leaves no half-made database.
    half = data.with_name("data.making")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(mode=0o700)
    if account is not None:
        os.chown(half, account.uid, account.gid)
    command = [str(programs.bin / "initdb"), "-D", str(half), "-U", SUPERUSER]
    command += ["--auth=trust", "--encoding=UTF8", "--no-instructions"]
    if programs.version >= 17:
        command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    else:
        command += ["--locale=C.UTF-8" if sys.platform == "linux" else "--locale=C"]
    if not durable:
        command.append("--no-sync")
    made = subprocess.run(
        command,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        cwd=half,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise PostgresUnusable(f"PostgreSQL couldn't make its database: {made.stderr.strip()}")
    try:
        half.rename(data)
    except OSError as error:
        raise PostgresUnusable(
            f"{data} holds files that are no database. Move them away, then start again."
        ) from error


def clean_environment() -> dict[str, str]:
    """Little, so that neither a stray PGDATA nor our secrets reach the server."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


def make_socket_folder(data: Path, account: Account | None) -> Path:
    """Where the server listens: beside the data, or in /tmp where that path is too long."""
    beside = data.with_name("socket")
    if len(os.fsencode(beside / f".s.PGSQL.{PORT}.lock")) <= _LONGEST_SOCKET_PATH:
        beside.mkdir(mode=0o700, exist_ok=True)
        sockets = beside
    else:
        # A new name each time: a known one could be taken by another user beforehand.
        sockets = Path(tempfile.mkdtemp(prefix=_short_prefix(data), dir="/tmp"))
    sockets.chmod(0o700)
    if account is not None:
        os.chown(sockets, account.uid, account.gid)
    return sockets


def forget_socket_folder(sockets: Path, data: Path) -> None:
    """Remove a short folder that `make_socket_folder` made; leave one beside the data."""
    if sockets.name.startswith(_short_prefix(data)):
        shutil.rmtree(sockets, ignore_errors=True)


def _short_prefix(data: Path) -> str:
    return f"routines-{hashlib.sha256(os.fsencode(data)).hexdigest()[:8]}-"
