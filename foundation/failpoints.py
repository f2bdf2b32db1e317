"""Named places at which a process can be made to die, so that tests see what comes of it."""

import os
import signal
from pathlib import Path

_always = os.environ.get("ROUTINES_FAILPOINT", "")
_once = os.environ.get("ROUTINES_FAILPOINT_FILE", "")
_armed = bool(_always or _once)


def failpoint(name: str) -> None:
    """Die here, as by `kill -9`, when the environment names this place; else do nothing.

    ROUTINES_FAILPOINT names one, for each process and each time. ROUTINES_FAILPOINT_FILE is a
    file that names one and may change while processes run: the first to come by takes the file
    away (to the same name with `.hit`) and dies, so that whoever follows lives.
    """
    if _armed and (name == _always or _taken(name)):
        os.kill(os.getpid(), signal.SIGKILL)


def _taken(name: str) -> bool:
    """Whether the file named this place and we were the one to take it away."""
    if not _once:
        return False
    file = Path(_once)
    try:
        if file.read_text().strip() != name:
            return False
        file.rename(f"{_once}.hit")
    except FileNotFoundError:
        return False
    return True
