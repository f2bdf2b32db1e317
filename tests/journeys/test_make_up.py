"""`make up`, as a person meets it: it serves, stops, survives kills, and refuses in sentences."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

import psycopg
import pytest

from foundation import postgres
from foundation.embedded import DATABASE
from tests.running_app import ROOT, RunningApp
from tests.tools import free_environment, wait_until

NewApp = Callable[..., RunningApp]


def run_sql(app: RunningApp, statement: str) -> list[tuple[object, ...]]:
    server = postgres.running_server(app.var / "postgres")
    assert server is not None
    with psycopg.connect(server.url(DATABASE)) as session:
        cursor = session.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_it_serves_says_where_and_stops_on_a_signal(new_app: NewApp) -> None:
    app = new_app(empty=True)
    app.start()
    wait_until(lambda: f"Routines runs at {app.url}" in app.output, 10)
    assert (app.var / "secret_key").stat().st_mode & 0o777 == 0o600
    assert run_sql(app, "select count(*) from django_migrations")[0][0] != 0

    began = time.monotonic()
    assert app.stop(signal.SIGTERM, seconds=25) == 0
    assert time.monotonic() - began < 25
    assert postgres.running_server(app.var / "postgres") is None
    assert "Traceback" not in app.output


def test_ctrl_c_stops_it_too(new_app: NewApp) -> None:
    app = new_app()
    app.start()
    assert app.stop(signal.SIGINT, seconds=25) == 0
    assert postgres.running_server(app.var / "postgres") is None
    assert "Traceback" not in app.output


def test_what_was_kept_is_there_after_a_kill(new_app: NewApp) -> None:
    app = new_app()
    app.start()
    run_sql(app, "create table kept as select 'yes' as words")
    key = (app.var / "secret_key").read_text()
    assert app.stop(signal.SIGKILL) == -signal.SIGKILL

    app.start()

    assert run_sql(app, "select words from kept") == [("yes",)]
    assert (app.var / "secret_key").read_text() == key
    assert app.stop() == 0


def test_a_database_that_dies_is_started_again(new_app: NewApp) -> None:
    app = new_app()
    app.start()
    run_sql(app, "create table kept as select 'yes' as words")
    server = postgres.running_server(app.var / "postgres")
    assert server is not None
    os.kill(server.pid, signal.SIGKILL)

    wait_until(lambda: "PostgreSQL had died and runs again." in app.output, 15)
    wait_until(app.answers, 15)

    assert run_sql(app, "select words from kept") == [("yes",)]
    assert app.stop() == 0
    assert postgres.running_server(app.var / "postgres") is None


def test_a_taken_port_is_named_with_another(new_app: NewApp) -> None:
    app = new_app(empty=True)
    with socket.socket() as other:
        other.bind(("127.0.0.1", app.port))
        other.listen()
        app.start(wait=False)
        assert app.process is not None
        assert app.process.wait(30) == 1
    assert app.output.strip() == (
        f"Port {app.port} is taken by another program. Choose another: make up PORT={app.port + 1}"
    )


def test_a_second_one_is_told_where_the_first_serves(new_app: NewApp) -> None:
    first = new_app()
    first.start()
    second = RunningApp(first.var, first.port + 1)
    command = [sys.executable, "manage.py", "up"]
    environment = free_environment(ROUTINES_VAR=str(second.var), PORT=str(second.port))
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=30
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Routines is running already, at {first.url} (process ")
    assert first.answers()
    assert first.stop() == 0


def test_without_a_sandbox_it_names_the_command_that_brings_one(
    new_app: NewApp, tmp_path: Path
) -> None:
    app = new_app(
        empty=True, MACHINE_PROVIDER="local", PATH=str(tmp_path)
    )  # no program is found there
    app.start(wait=False)
    assert app.process is not None
    assert app.process.wait(60) == 1
    assert app.output.strip() == (
        "Local machines need bubblewrap. Install it: apt-get install bubblewrap"
    )
    assert postgres.running_server(app.var / "postgres") is None


def test_a_number_of_this_computer_leads_to_its_name(live_app: RunningApp) -> None:
    def ask(path: str, **headers: str) -> tuple[int, str | None]:
        asked = HTTPConnection("127.0.0.1", live_app.port, timeout=10)
        asked.request("GET", path, headers=headers)
        answer = asked.getresponse()
        asked.close()
        return answer.status, answer.headers["Location"]

    assert ask("/anything?x=1") == (302, f"{live_app.url}/anything?x=1")
    assert ask("/healthz") == (200, None)
    assert ask("/nothing-here", Authorization="Bearer x") == (404, None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_is_told_which_folder_cant_be_written(new_app: NewApp) -> None:
    app = new_app(empty=True)
    app.var.mkdir(mode=0o755)
    # It drops its rights after its imports, as that user may not reach this Python.
    program = (
        "import os, sys; from pathlib import Path; from foundation.embedded import *\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try:\n    claim_folder(Path(sys.argv[1]), 'http://localhost:1')\n"
        "except CannotStart as error:\n    sys.exit(str(error))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(app.var)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr == (
        f"The folder {app.var} can't be written (Permission denied). Make it yours, "
        "or choose another: make up ROUTINES_VAR=/path/to/folder\n"
    )
