"""Whether this process has been asked to stop, so that long work can end itself in order."""

import threading

_asked = threading.Event()


def ask_to_stop() -> None:
    """From now on `stopping()` is true in every thread; running work should give back or end."""
    _asked.set()


def stopping() -> bool:
    """Whether the process has been asked to stop."""
    return _asked.is_set()


def wait_until_stopping(seconds: float) -> bool:
    """Sleep so long, or less when the process is asked to stop meanwhile; whether it was."""
    return _asked.wait(seconds)
