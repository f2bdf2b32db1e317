"""The product as a person runs it: `manage.py up` in a folder of its own, as a process."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from foundation import postgres
from tests.ready import ROOT, give_database
from tests.tools import free_environment, free_port, wait_until

__all__ = ["ROOT", "RunningApp", "live_app", "new_app"]


@dataclass
class RunningApp:
    """One `manage.py up`: its folder, its address, its process and what it printed."""

    var: Path
    port: int
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"http://localhost:{self.port}"

    @property
    def output(self) -> str:
        """Everything that it has printed since its last start."""
        return (self.var / "up.out").read_text()

    def start(self, wait: bool = True) -> None:
        """Start it; with `wait`, come back once its health page answers."""
        self.var.mkdir(exist_ok=True)
        with (self.var / "up.out").open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT,
                env=free_environment(
                    **{
                        "ROUTINES_VAR": str(self.var),
                        "PORT": str(self.port),
                        "MACHINE_PROVIDER": "memory",
                        **self.environment,
                    }
                ),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        if wait:
            wait_until(lambda: self.process.poll() is not None or self.answers(), 60)
            assert self.process.poll() is None, self.output

    def answers(self) -> bool:
        """Whether it serves its sign-in page."""
        try:
            with urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, ConnectionError, TimeoutError):
            return False

    def stop(self, number: int = signal.SIGTERM, seconds: float = 40) -> int:
        """Send it a signal and wait; its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        return self.process.wait(seconds)


@pytest.fixture
def new_app(open_folder: Path) -> Iterator[Callable[..., RunningApp]]:
    """Makes apps that aren't started yet; each is stopped at the end, with its database.

    Their database is one that has been migrated; with `empty`, the first start makes it.
    """
    made: list[RunningApp] = []

    def make(*, empty: bool = False, **environment: str) -> RunningApp:
        made.append(RunningApp(open_folder / f"var{len(made)}", free_port(), environment))
        if not empty:
            give_database(made[-1].var)
        return made[-1]

    yield make
    for app in made:
        if app.process is not None:
            app.stop(signal.SIGKILL)
        server = postgres.running_server(app.var / "postgres")
        if server is not None:
            server.stop()


@pytest.fixture
def live_app(new_app: Callable[..., RunningApp]) -> Iterator[RunningApp]:
    """The running product, in which nobody is yet; its `url` serves."""
    app = new_app()
    app.start()
    yield app
    assert app.stop() == 0, app.output
