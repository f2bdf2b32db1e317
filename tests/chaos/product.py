"""The running product, in either way to run it, with the handles that chaos needs."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from foundation import postgres
from foundation.embedded import DATABASE
from tests.database import FOLDER
from tests.ready import ROOT, give_database
from tests.tools import free_environment, free_port, wait_until

Topology = Literal["embedded", "production"]

QUICK = {
    "LEASE_SECONDS": "4",
    "LEASE_RENEW_SECONDS": "1",
    "REAP_SECONDS": "1",
    "SWEEP_SECONDS": "2",
}
"""So that what a dead runner left is found within seconds."""


@dataclass
class Product:
    """One installation in a folder of its own: `manage.py up`, or `manage.py stack`."""

    topology: Topology
    folder: Path
    more: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    redis_port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def var(self) -> Path:
        """Where it keeps everything."""
        return self.folder / "var"

    @property
    def failpoint(self) -> Path:
        """The file that names where its next process dies."""
        return self.folder / "failpoint"

    @property
    def died(self) -> Path:
        """The file that says that one has died there."""
        return self.folder / "failpoint.hit"

    @property
    def said(self) -> str:
        """What it printed since its last start."""
        return (self.folder / "out").read_text()

    def start(self) -> None:
        """Start it and wait until its site answers."""
        command = {"embedded": "up", "production": "stack"}[self.topology]
        environment = {
            "ROUTINES_VAR": str(self.var),
            "PORT": str(self.port),
            "REDIS_PORT": str(self.redis_port),
            "MACHINE_PROVIDER": "local",
            "ROUTINES_FAILPOINT_FILE": str(self.failpoint),
            **self.more,
        }
        with (self.folder / "out").open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", command],
                cwd=ROOT,
                env=free_environment(**environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until(lambda: "Routines runs at" in self.said or self.has_ended(), 90)
        assert not self.has_ended() or self.died.exists(), self.said

    def has_ended(self) -> bool:
        """Whether the process that was started is over."""
        return self.process is None or self.process.poll() is not None

    def stop(self, number: int = signal.SIGTERM, seconds: float = 60) -> int:
        """End it by a signal; its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(seconds)

    def arm(self, point: str) -> None:
        """Have the next process that comes by this point die there."""
        self.died.unlink(missing_ok=True)
        draft = self.folder / "failpoint.draft"
        draft.write_text(point)
        draft.rename(self.failpoint)

    def bring_back(self) -> None:
        """Start again what died. The stack does that by itself."""
        if self.topology == "embedded":
            assert self.process is not None
            self.process.wait(20)
            self.start()

    def pids(self, name: str) -> list[int]:
        """The processes of a part of the stack: web, beat, clock, runner, redis."""
        marks = {
            "web": f"--port {self.port}",
            "beat": "celery beat",
            "clock": " -Q clock ",
            "runner": " -Q runner ",
            "redis": "redis-server",
        }
        assert self.process is not None
        children = subprocess.run(
            ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(self.process.pid)],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.splitlines()
        spaced = [re.sub(r"-A \S+ ", "", line) for line in children]
        return [int(line.split()[0]) for line in spaced if marks[name] in line]

    def database_url(self) -> str:
        """Where its database answers."""
        server = postgres.running_server(self.var / "postgres")
        assert server is not None
        return server.url(DATABASE)

    def keys(self) -> dict[str, str]:
        """The keys that its rows are sealed with, as the settings take them."""
        if self.topology == "embedded":
            return {}  # made and kept below ROUTINES_VAR
        kept = json.loads((self.var / "secrets.json").read_text())
        return {name: kept[name] for name in ("SECRET_KEY", "ENCRYPTION_KEY")}


@contextmanager
def installed(topology: Topology, **more: str) -> Iterator[Product]:
    """A product that runs, with this process's Django on its database; all gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="routines-chaos-", dir="/tmp"))
    folder.chmod(0o755)
    product = Product(topology, folder, more)
    if FOLDER in os.environ:  # within a test run
        give_database(product.var)
    try:
        product.start()
        _look_into(product)
        yield product
        assert product.stop() == 0, product.said
    finally:
        if not product.has_ended():
            product.stop(signal.SIGKILL)
        server = postgres.running_server(product.var / "postgres")
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _look_into(product: Product) -> None:
    """Set this process's Django up on the product's database and machines; once a process."""
    os.environ.update(
        {
            "DJANGO_SETTINGS_MODULE": "routines_app.settings",
            "ROUTINES_VAR": str(product.var),
            "DATABASE_URL": product.database_url(),
            "MACHINE_PROVIDER": "local",
            **product.keys(),
        }
    )
    import django

    django.setup()
