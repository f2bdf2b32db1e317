"""A private database that was made and migrated once in this test run, for apps to begin with.

A first start on an empty folder is most of what starting an app costs, and has tests of its own.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from foundation.embedded import DATABASE, start_database
from tests.database import FOLDER, one_at_a_time
from tests.tools import free_environment

ROOT = Path(__file__).resolve().parent.parent


def give_database(var: Path) -> None:
    """Put a copy below `var`, as the last start would have left it; nothing runs on it yet."""
    run = Path(os.environ[FOLDER])
    with one_at_a_time(run / "readying"):
        if not (run / "ready").exists():
            _make(run / "ready.draft")
            (run / "ready.draft").rename(run / "ready")
    var.mkdir(exist_ok=True)
    # With owners: started by root, the server runs as another user.
    subprocess.run(["cp", "-Rp", str(run / "ready" / "postgres"), str(var)], check=True)


def _make(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    folder.chmod(0o711)
    server = start_database(folder)
    try:
        environment = free_environment(
            ROUTINES_VAR=str(folder), DATABASE_URL=server.url(DATABASE), MACHINE_PROVIDER="memory"
        )
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
    finally:
        server.stop()
    for left in ("log", "log.before", "socket"):
        path = folder / "postgres" / left
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
