"""`manage.py stack`: production's processes on this computer, without containers.

The same code as in production, each process for itself: a private PostgreSQL, a private Redis,
web, beat, the clock's worker and the runners. One that dies is started again.
"""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep

from foundation import env
from foundation.clock import monotonic
from foundation.embedded import DATABASE, CannotStart, claim_folder, listen, start_database
from foundation.postgres import Server
from routines_app.management.process import ROOT, Process

_LAST_SECONDS = 10.0  # for what has no turns to end


@dataclass
class Stack:
    """The whole of it, in one folder."""

    var: Path
    port: int
    runners: int
    drain_seconds: float
    server: Server
    processes: list[Process] = field(default_factory=list)

    def begin(self, environment: dict[str, str], redis: Process) -> None:
        """Start Redis, prepare what they all need, start the rest."""
        self.processes = [redis]
        redis.start()
        self._prepare(environment)
        commands = {
            "web": [
                *("uvicorn", "routines_app.asgi:application", "--host", "127.0.0.1"),
                *("--port", str(self.port), "--no-access-log", "--no-server-header"),
                "--no-proxy-headers",
            ],
            "beat": [*_CELERY, "beat", "--scheduler", "celery.beat:Scheduler"],
            "clock": worker("clock", "clock", 4),
        }
        threads = int(environment.get("RUNNER_THREADS", "4"))
        for number in range(1, self.runners + 1):
            commands[f"runner-{number}"] = worker("runner", f"runner-{number}", threads)
        for name, words in commands.items():
            process = Process(name, [sys.executable, "-m", *words], environment, self.log_of(name))
            self.processes.append(process)
            process.start()

    def log_of(self, name: str) -> Path:
        """Where a process's words are kept."""
        return self.var / "logs" / f"{name}.log"

    def mend(self) -> list[str]:
        """Start again what has died; the names of what was."""
        mended = [process.name for process in self.processes if process.mend()]
        if not self.server.is_running():
            self.server = start_database(self.var)
            mended.append("postgres")
        return mended

    def end(self) -> list[str]:
        """Stop all in order: no new work, then the turns, then what they need.

        Returns the names of those that had to be killed.
        """
        by_kind: dict[str, list[Process]] = {"first": [], "runner": [], "clock": [], "redis": []}
        for process in self.processes:
            kind = process.name.partition("-")[0]
            by_kind[kind if kind in by_kind else "first"].append(process)
        killed = []
        for kind, seconds in (
            ("first", 0.0),
            ("runner", self.drain_seconds),
            ("clock", _LAST_SECONDS),
            ("redis", _LAST_SECONDS),
        ):
            for process in by_kind[kind]:
                process.ask_to_end()
            deadline = monotonic() + seconds
            if kind != "first":  # they end while the turns are drained
                killed += [p.name for p in by_kind[kind] if not p.has_ended(deadline - monotonic())]
        killed += [p.name for p in by_kind["first"] if not p.has_ended(_LAST_SECONDS)]
        self.server.stop()
        return killed

    def _prepare(self, environment: dict[str, str]) -> None:
        log = self.log_of("prepare")
        with log.open("ab") as out:
            done = subprocess.run(
                [sys.executable, "manage.py", "prepare"],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode != 0:
            raise CannotStart(f"manage.py prepare failed; {log} says why.")


_CELERY = ["celery", "-A", "routines_app.celery"]


def worker(queue: str, name: str, threads: int) -> list[str]:
    """The command of one Celery worker."""
    return [
        *_CELERY,
        "worker",
        *("-Q", queue, "-n", f"{name}@%h", "--pool", "threads", "--concurrency", str(threads)),
        *("--without-gossip", "--without-mingle"),
    ]


def main(arguments: Sequence[str]) -> int:
    """Run the stack until Ctrl-C or SIGTERM; the exit code."""
    stop: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: stop.append(got))
    try:
        var = env.path("ROUTINES_VAR", ROOT / "var" / "stack")
        port = env.integer("PORT", 8000)
        claim = claim_folder(var, f"http://localhost:{port}")
        try:
            return _serve(var, port, env.integer("RUNNERS", 2), stop)
        finally:
            os.close(claim)
    except (CannotStart, env.SettingError) as error:
        print(error, file=sys.stderr)
        return 1


def _serve(var: Path, port: int, runners: int, stop: list[int]) -> int:
    for listener in listen(port):  # a taken port is told now, not in a log
        listener.close()
    (var / "logs").mkdir(mode=0o700, exist_ok=True)
    kept = kept_secrets(var / "secrets.json")
    redis, url = _redis(var, kept["REDIS_PASSWORD"])
    drain = env.seconds("DRAIN_SECONDS", 20.0)
    stack = Stack(var, port, runners, drain, start_database(var))
    try:
        environment = production(var, port, kept, stack.server.url(DATABASE), url)
        stack.begin(environment, redis)
        told = False
        while not stop:
            for name in stack.mend():
                print(f"{name} had died and runs again.", flush=True)
            if not told and _answers(port):
                told = True
                print(f"Routines runs at http://localhost:{port}  (Ctrl-C stops it)")
                print(f"Logs, and the mail it would send, are in {var / 'logs'}.", flush=True)
            sleep(0.2)
    finally:
        print("Stopping...", flush=True)
        for name in stack.end():
            print(f"{name} didn't end in time and was killed.", flush=True)
    return 0


def production(
    var: Path, port: int, kept: dict[str, str], database: str, redis: str
) -> dict[str, str]:
    """The environment of every process: production's settings, over plain HTTP on localhost."""
    mine = {name: value for name, value in os.environ.items() if name != "PG_BIN"}
    return {
        **mine,
        "ROUTINES_MODE": "production",
        "DJANGO_SETTINGS_MODULE": "routines_app.settings",
        "SECRET_KEY": kept["SECRET_KEY"],
        "ENCRYPTION_KEY": kept["ENCRYPTION_KEY"],
        "SITE_URL": f"http://localhost:{port}",
        "ALLOWED_HOSTS": "localhost,127.0.0.1",
        "SECURE_SSL": "no",
        "EMAIL_TO_LOG": "yes",
        "NEARBY_MODELS": "yes",
        "LOCAL_MACHINES_WITHOUT_CGROUPS": "yes",
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "ROUTINES_VAR": str(var),
    }


def kept_secrets(file: Path) -> dict[str, str]:
    """The stack's secrets, made at its first start and kept for its owner alone."""
    if not file.exists():
        made = {
            name: secrets.token_urlsafe(48)
            for name in ("SECRET_KEY", "ENCRYPTION_KEY", "REDIS_PASSWORD")
        }
        half = file.with_suffix(".making")
        half.unlink(missing_ok=True)
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            json.dump(made, out)
        half.rename(file)
    found: dict[str, str] = json.loads(file.read_text())
    return found


def _redis(var: Path, password: str) -> tuple[Process, str]:
    program = shutil.which("redis-server")
    if program is None:
        raise CannotStart("redis-server isn't installed. On Debian: apt-get install redis-server")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", env.integer("REDIS_PORT", 0)))  # 0: whichever is free
        port = taken.getsockname()[1]
    # By its standard input, since a command line can be read by every user.
    config = (
        f'bind 127.0.0.1\nport {port}\nrequirepass {password}\nsave ""\nappendonly no\n'
        f"dir {var}\ndaemonize no\n"
    )
    mine = {"PATH": os.environ.get("PATH", "")}
    process = Process("redis", [program, "-"], mine, var / "logs" / "redis.log", config.encode())
    return process, f"redis://:{password}@127.0.0.1:{port}/0"


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as session:
            session.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return session.recv(64).split(b" ", 2)[1:2] == [b"200"]
    except OSError:
        return False
