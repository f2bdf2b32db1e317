"""What every measurement stands on: a durable PostgreSQL and a Redis of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql

from foundation import postgres
from tests.run import PRODUCTION, ROOT
from tests.tools import Redis, free_environment, missing_tools, start_redis

_TEMPLATE = "bench_template"
_BARE = """
CREATE TABLE bare_job (
    id bigserial PRIMARY KEY, number integer, requested_at timestamptz, started_at timestamptz)
"""


@dataclass
class Ground:
    """The servers of one run, in a folder that is removed at the end."""

    folder: Path
    server: postgres.Server
    redis: Redis | None
    _made: set[str] = field(default_factory=set)

    def use(self, name: str) -> bool:
        """Point Django at the database of this name, made from the migrated template at first;
        whether it was made now."""
        from django.db import connection

        new = name not in self._made
        connection.close()
        if new:
            self._execute("CREATE DATABASE {} TEMPLATE {}", name, _TEMPLATE)
            self._made.add(name)
        connection.settings_dict["NAME"] = name
        return new

    def url(self) -> str:
        """The address of the database in use."""
        from django.db import connection

        return self.server.url(str(connection.settings_dict["NAME"]))

    def environment(self, **more: str) -> dict[str, str]:
        """What a process of the product needs to work on the database in use."""
        return free_environment(**{**_settings(self), "DATABASE_URL": self.url(), **more})

    @contextmanager
    def process(
        self, name: str, *command: str, stdin: int = subprocess.DEVNULL, **more: str
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A Python module as a process, killed at the end; what it says goes to a file."""
        with (self.folder / f"{name}.log").open("ab") as log:
            started = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=ROOT,
                env=self.environment(**more),
                stdin=stdin,
                stdout=subprocess.PIPE if stdin == subprocess.PIPE else log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield started
        finally:
            started.terminate()
            try:
                started.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, 9)
                started.wait(10)

    def said(self, name: str) -> str:
        """The end of what a process of this name has said."""
        return (self.folder / f"{name}.log").read_text(errors="replace")[-3000:]

    def _execute(self, words: str, *names: str) -> None:
        with psycopg.connect(self.server.url(), autocommit=True) as session:
            session.execute(sql.SQL(words).format(*(sql.Identifier(name) for name in names)))  # type: ignore[arg-type]


def _settings(ground: Ground) -> dict[str, str]:
    return {
        **PRODUCTION,
        "ALLOWED_HOSTS": "localhost",
        "SITE_URL": "https://localhost",
        "REDIS_URL": ground.redis.url if ground.redis else "redis://localhost:1/0",
        "ROUTINES_VAR": str(ground.folder),
        "MACHINE_PROVIDER": "memory",
        "DATABASE_KEEP_SECONDS": "60",
        "PYTHONWARNINGS": "ignore",
    }


@contextmanager
def stand() -> Iterator[Ground]:
    """Start the servers, load the product on them, and clear everything away at the end."""
    folder = Path(tempfile.mkdtemp(prefix="routines-bench-", dir="/tmp"))
    folder.chmod(0o711)  # PostgreSQL runs as another user when we are root
    chosen = os.environ.get("PG_BIN")
    server = postgres.start(folder / "postgres", pg_bin=Path(chosen) if chosen else None)
    try:
        if "redis" in missing_tools():
            yield _loaded(Ground(folder, server, None))
        else:
            with start_redis(folder) as redis:
                yield _loaded(Ground(folder, server, redis))
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _loaded(ground: Ground) -> Ground:
    """Django and Celery set up in this process, and the template database migrated."""
    ground._execute("CREATE DATABASE {}", _TEMPLATE)
    (ground.folder / "static").mkdir()
    os.environ.update(_settings(ground), DATABASE_URL=ground.server.url(_TEMPLATE))
    os.environ["DJANGO_SETTINGS_MODULE"] = "routines_app.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    import routines_app.celery  # noqa: F401

    call_command("migrate", interactive=False, verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(_BARE)
    connection.close()
    return ground
