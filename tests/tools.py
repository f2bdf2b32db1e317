"""Programs beside Python that some tests need: which are here, and how they are started."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic, sleep

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def browser_program() -> str | None:
    """The path of a Chromium; None when there is none."""
    return next((found for name in _BROWSERS if (found := shutil.which(name))), None)


@cache
def missing_tools() -> dict[str, str]:
    """Why tests of a marker can't run here, by marker; empty when everything is here."""
    missing = {}
    if browser_program() is None:
        missing["browser"] = "Chromium isn't installed"
    if shutil.which("redis-server") is None:
        missing["redis"] = "redis-server isn't installed"
    if why := _sandbox_problem():
        missing["sandbox"] = why
    return missing


def _sandbox_problem() -> str | None:
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap isn't installed"
    tried = subprocess.run(
        [program, "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, check=False
    )
    return None if tried.returncode == 0 else "bubblewrap can't make namespaces here"


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@dataclass(frozen=True)
class Redis:
    """A private redis-server on a port of its own; it keeps nothing on the disk."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """Its address, as REDIS_URL takes it."""
        return f"redis://127.0.0.1:{self.port}/0"

    def is_ready(self) -> bool:
        """Whether it answers."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as session:
                session.sendall(b"PING\r\n")
                return session.recv(16) == b"+PONG\r\n"
        except OSError:
            return False


@contextmanager
def start_redis(folder: Path) -> Iterator[Redis]:
    """A Redis that works in `folder`, stopped at the end."""
    program = shutil.which("redis-server")
    assert program is not None, "redis-server isn't installed"
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir"]
    with (folder / "redis.log").open("wb") as log:
        redis = Redis(
            port, subprocess.Popen([*command, str(folder)], stdout=log, stderr=subprocess.STDOUT)
        )
    try:
        wait_until(lambda: redis.is_ready() or redis.process.poll() is not None, 10)
        assert redis.process.poll() is None, (folder / "redis.log").read_text()
        yield redis
    finally:
        redis.process.terminate()
        redis.process.wait(10)


def wait_until(condition: Callable[[], object], seconds: float) -> None:
    """Wait until a condition holds; raise AssertionError when it doesn't in time."""
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, f"it didn't come true within {seconds} s"
        sleep(0.05)


def free_environment(**more: str) -> dict[str, str]:
    """An environment for a program that starts the product as a person would."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ROUTINES_", "PG", "PYTEST"))}
    for name in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE", "PORT"):
        kept.pop(name, None)
    if chosen := os.environ.get("PG_BIN"):
        kept["PG_BIN"] = chosen
    return {**kept, **more}
