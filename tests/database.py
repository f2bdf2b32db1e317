"""The test run's own PostgreSQL: one server for all workers, started when a test first asks.

Its folder is new for each run. A run that was killed leaves a server behind; the next run
finds its folder unlocked, stops it and removes it.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path

from foundation import postgres
from foundation.postgres_data import PORT, SUPERUSER

FOLDER = "ROUTINES_TEST_FOLDER"
"""Names the run's folder in the environment; workers inherit it."""
_PREFIX = "routines-tests-"
_lock: list[int] = []
"""The open file that says this run is alive, in the process that began it."""


def prepare_environment(environment: MutableMapping[str, str]) -> None:
    """Make the run's folder and point the settings at it; nothing is started yet."""
    if FOLDER not in environment:
        _remove_abandoned()
        draft = Path(tempfile.mkdtemp(prefix="routines-draft-", dir="/tmp"))
        draft.chmod(0o711)
        _lock.append(_locked(draft / "alive"))
        # Named only now: another run removes a folder of this name that nobody has locked.
        folder = draft.rename(draft.with_name(_PREFIX + draft.name.rpartition("-")[2]))
        environment[FOLDER] = str(folder)
    folder = Path(environment[FOLDER])
    sockets = folder / "postgres" / "socket"
    environment["DATABASE_URL"] = f"postgresql://{SUPERUSER}@/routines?host={sockets}&port={PORT}"
    environment["ROUTINES_VAR"] = str(folder / "var")
    (folder / "var" / "static").mkdir(parents=True, exist_ok=True)
    environment.pop("ROUTINES_CLOCK_OFFSET_FILE", None)


def start_server() -> postgres.Server:
    """The run's server, started by whichever worker asks first."""
    folder = Path(os.environ[FOLDER])
    with one_at_a_time(folder / "starting"):
        chosen = os.environ.get("PG_BIN")
        return postgres.start(
            folder / "postgres",
            pg_bin=Path(chosen) if chosen else None,
            settings=postgres.FAST,
        )


def end_run() -> None:
    """Stop the server and remove the folder; only in the process that began the run."""
    if not _lock:
        return
    _remove(Path(os.environ.pop(FOLDER)))
    os.close(_lock.pop())


def _locked(path: Path) -> int:
    held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return held


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Hold the lock of this name among the run's processes."""
    held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _remove_abandoned() -> None:
    """Clear the folders of runs that were killed; they hold no lock any more."""
    for folder in Path("/tmp").glob(f"{_PREFIX}*"):
        try:
            if folder.stat().st_uid != os.geteuid() or not (folder / "alive").exists():
                continue
            held = _locked(folder / "alive")
        except (BlockingIOError, FileNotFoundError):
            continue  # it lives, or has just been removed by its own run or another
        _remove(folder)
        os.close(held)


def _remove(folder: Path) -> None:
    server = postgres.running_server(folder / "postgres")
    if server is not None:
        server.stop()
    shutil.rmtree(folder, ignore_errors=True)
