"""Production's processes on a real Redis: beat ticks, the clock scans, both stop in order."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from celery import Celery

from foundation import postgres
from foundation.embedded import DATABASE, start_database
from tests.ready import give_database
from tests.run import PRODUCTION
from tests.running_app import ROOT
from tests.tools import Redis, free_environment, free_port, wait_until

pytestmark = [pytest.mark.redis, pytest.mark.long]


@contextmanager
def process(
    folder: Path, name: str, command: list[str], environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{name}.log").open("wb") as log:
        started = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield started
    finally:
        started.kill()
        started.wait(10)


@pytest.fixture
def environment(open_folder: Path, redis_server: Redis) -> Iterator[dict[str, str]]:
    """Production's settings over a migrated database."""
    give_database(open_folder)
    server = start_database(open_folder)
    settings = {
        **PRODUCTION,
        "DATABASE_URL": server.url(DATABASE),
        "REDIS_URL": redis_server.url,
        "ROUTINES_VAR": str(open_folder),
        "ALLOWED_HOSTS": "localhost",
        "PYTHONWARNINGS": "error::RuntimeWarning",
    }
    environment = free_environment(**settings)
    command = [sys.executable, "manage.py", "prepare"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    yield environment
    running = postgres.running_server(open_folder / "postgres")
    assert running is not None
    running.stop()


def test_beat_ticks_and_the_clock_scans(
    environment: dict[str, str], open_folder: Path, redis_server: Redis
) -> None:
    celery = ["celery", "-A", "routines_app.celery"]
    beat = [*celery, "beat", "--scheduler", "celery.beat:Scheduler"]
    clock = [*celery, "worker", "-Q", "clock", "--pool", "threads", "--concurrency", "2"]
    app = Celery("asks", broker=redis_server.url, set_as_current=False)
    with (
        process(open_folder, "beat", beat, environment) as beating,
        process(open_folder, "clock", clock, environment) as working,
    ):

        def scans() -> int:
            stats = app.control.inspect(timeout=1).stats() or {}
            totals = [one["total"].get("routines_app.tasks.scan", 0) for one in stats.values()]
            return int(sum(totals))

        wait_until(lambda: scans() >= 2, 60)
        for one in (beating, working):
            one.send_signal(signal.SIGTERM)
        assert (beating.wait(30), working.wait(30)) == (0, 0)
    app.close()
    said = (open_folder / "clock.log").read_text() + (open_folder / "beat.log").read_text()
    assert "Traceback" not in said, said


def test_the_site_answers_over_https_alone(environment: dict[str, str], open_folder: Path) -> None:
    port = free_port()
    command = [
        "uvicorn",
        "routines_app.asgi:application",
        "--port",
        str(port),
        "--no-proxy-headers",
    ]

    def ask(path: str, **headers: str) -> int:
        asked = HTTPConnection("localhost", port, timeout=10)
        try:
            asked.request("GET", path, headers=headers)
            return asked.getresponse().status
        except OSError:
            return 0
        finally:
            asked.close()

    trusting = {**environment, "TRUSTED_PROXIES": "127.0.0.1,::1"}
    with process(open_folder, "web", command, trusting) as web:
        wait_until(lambda: ask("/healthz") == 200, 30)
        assert ask("/") == 301
        assert ask("/accounts/login/", **{"X-Forwarded-Proto": "https"}) == 200
        web.send_signal(signal.SIGTERM)
        web.wait(20)
    said = (open_folder / "web.log").read_text()
    assert "Traceback" not in said, said
