"""`make stack`, as a person meets it: it serves, mends what dies, and stops in order."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from foundation import postgres
from tests.chaos.product import Product
from tests.ready import give_database
from tests.run import PRODUCTION
from tests.running_app import ROOT
from tests.tools import free_environment, wait_until


@pytest.fixture
def stack(open_folder: Path) -> Iterator[Product]:
    product = Product("production", open_folder, {"MACHINE_PROVIDER": "memory"})
    yield product
    if not product.has_ended():
        product.stop(signal.SIGKILL)
    server = postgres.running_server(product.var / "postgres")
    if server is not None:
        server.stop()


def children(product: Product) -> list[int]:
    parts = ("web", "beat", "clock", "runner", "redis")
    return [pid for part in parts for pid in product.pids(part)]


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.redis
@pytest.mark.long
def test_it_serves_mends_itself_and_stops_in_order(stack: Product) -> None:
    stack.start()
    assert f"Routines runs at http://localhost:{stack.port}" in stack.said
    assert (stack.var / "secrets.json").stat().st_mode & 0o777 == 0o600
    kept = (stack.var / "secrets.json").read_text()
    assert not any(secret in stack.said for secret in stack.keys().values())

    def ask(path: str) -> int:
        asked = HTTPConnection("localhost", stack.port, timeout=10)
        asked.request("GET", path)
        status = asked.getresponse().status
        asked.close()
        return status

    assert ask("/accounts/login/") == 200, "plain http is allowed on localhost"
    wait_until(lambda: ask("/readyz") == 200, 60)
    assert [len(stack.pids(part)) for part in ("web", "beat", "clock", "runner", "redis")] == [
        *(1, 1, 1, 2, 1)
    ]

    os.kill(stack.pids("beat")[0], signal.SIGKILL)
    wait_until(lambda: "beat had died and runs again." in stack.said, 20)

    before = children(stack)
    began = time.monotonic()
    assert stack.stop(signal.SIGINT) == 0
    assert time.monotonic() - began < 25
    assert "killed" not in stack.said
    assert not any(is_there(pid) for pid in before)
    assert postgres.running_server(stack.var / "postgres") is None
    assert (stack.var / "secrets.json").read_text() == kept


@pytest.mark.redis
@pytest.mark.long
def test_killed_itself_it_leaves_no_process_behind(stack: Product) -> None:
    give_database(stack.var)
    stack.start()
    before = children(stack)
    assert len(before) == 6
    stack.stop(signal.SIGKILL)
    wait_until(lambda: not any(is_there(pid) for pid in before), 30)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            {"SECURE_SSL": "no"},
            "SECURE_SSL is no, but SITE_URL is https://routines.example. "
            "Without https only http://localhost works.",
        ),
        ({"LEASE_SECONDS": "never"}, "LEASE_SECONDS is 'never'. Write a number of seconds."),
        ({"SWEEP_SECONDS": "0"}, "SWEEP_SECONDS is '0'. Write a number of seconds above 0."),
        (
            {"LEASE_RENEW_SECONDS": "40"},
            "LEASE_RENEW_SECONDS is more than half of LEASE_SECONDS. A lease that is renewed so "
            "late is lost; renew it at least twice as often.",
        ),
    ],
)
def test_production_refuses_settings_that_would_break_a_promise(
    setting: dict[str, str], said: str
) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=free_environment(**PRODUCTION, **setting),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr.strip().endswith(said)
