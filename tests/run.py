"""`make test`: every check, then every test, with their times.

What this computer lacks is installed where that is possible without asking (root on Debian);
elsewhere its tests are skipped by name. With CI set, nothing may be missing.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from foundation.postgres import PostgresUnusable
from foundation.postgres_programs import find_programs
from tests.tools import missing_tools

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
OLDEST_POSTGRES = Path("/usr/lib/postgresql/15/bin")
PACKAGES = {
    "browser": ["chromium", "fonts-liberation"],
    "redis": ["redis-server"],
    "sandbox": ["bubblewrap"],
    "git": ["git"],
}
PRODUCTION = {
    "ROUTINES_MODE": "production",
    "EMAIL_URL": "smtp://mail.example.org",
    "SECRET_KEY": "a-key-for-this-check-alone-0123456789-abcdefghijklmnopqrstuvwxyz",
    "ENCRYPTION_KEY": "another-key-for-this-check-alone-0123456789-abcdefghijklmnopq",
    "ALLOWED_HOSTS": "routines.example",
    "SITE_URL": "https://routines.example",
    "DATABASE_URL": "postgresql://routines@database.example/routines",
    "REDIS_URL": "redis://redis.example/0",
}


def main(arguments: Sequence[str]) -> int:
    """Run all; 0 when everything passed."""
    os.chdir(ROOT)
    # Tests start Python hundreds of times; where compiled code isn't kept, each compiles all anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    install_missing()
    chosen = [word for word in arguments if word != "--checks"]
    if "--checks" in arguments:
        failed = [done.name for done in checked() if not done.passed]
    else:
        failed = run_checks_and_queue(with_queue=not chosen) + run_tests(chosen)
    if failed:
        print(f"Failed: {', '.join(failed)}")
    return 1 if failed else 0


def run_checks_and_queue(with_queue: bool) -> list[str]:
    """Run the checks and beside them the queue's tests on the oldest PostgreSQL, if it's here.

    The long check works on one core alone. Returns the names of what failed.
    """
    if not (with_queue and OLDEST_POSTGRES.is_dir() and usual_version() != 15):
        return [done.name for done in checked() if not done.passed]
    with ThreadPoolExecutor(1) as beside:
        checking = beside.submit(lambda: list(checked(say=False)))
        print("The queue's tests on PostgreSQL 15, and the checks beside them", flush=True)
        older = {**os.environ, "PG_BIN": str(OLDEST_POSTGRES)}
        command = [*pytest_on(min(os.cpu_count() or 2, 8) - 1), "-m", "queue"]
        queue = subprocess.run(command, env=older, check=False).returncode
        failed = []
        for done in checking.result():
            done.say()
            failed += [] if done.passed else [done.name]
    return [*failed, *(["the queue's tests on PostgreSQL 15"] if queue else [])]


def workers() -> int:
    """How many processes run tests at once: more than cores, since many wait for others."""
    cores = os.cpu_count() or 2
    return min(cores + cores // 2, 8)


def pytest_on(processes: int) -> list[str]:
    """The command that runs tests in so many processes; in this one alone for fewer than two."""
    shared = ["-n", str(processes), "--dist", "worksteal"] if processes > 1 else []
    return [sys.executable, "-m", "pytest", *shared]


def checks() -> list[tuple[str, list[str], dict[str, str]]]:
    """Every check: its name, its command, what it needs in the environment."""
    python = sys.executable
    templates = sorted(str(path) for path in Path("templates").rglob("*.html"))
    found = [
        ("ruff check", [str(BIN / "ruff"), "check", "--quiet", "."], {}),
        ("ruff format", [str(BIN / "ruff"), "format", "--quiet", "--check", "."], {}),
        ("mypy", [str(BIN / "mypy"), "--no-error-summary"], {}),
        ("import-linter", [str(BIN / "lint-imports")], {}),
        (
            "production settings",
            [python, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
            PRODUCTION,
        ),
        (
            "migrations",
            [python, "-W", "ignore::RuntimeWarning", "manage.py", "makemigrations", "--check"],
            {},
        ),
    ]
    if templates:
        djade = [str(BIN / "djade"), "--check", "--target-version", "5.2", *templates]
        found.append(("djade", djade, {}))
    return found


@dataclass(frozen=True)
class Checked:
    """How a check went, what it printed, and how many seconds it took."""

    name: str
    passed: bool
    printed: str
    seconds: float

    def say(self) -> None:
        """Print its line, and what it said only when it failed."""
        print(f"{self.name:<22}{'ok' if self.passed else 'FAILED':<8}{self.seconds:6.1f} s")
        print(self.printed if not self.passed else "", end="", flush=True)


def checked(*, say: bool = True) -> Iterator[Checked]:
    """Run every check, one after another."""
    for name, command, more in checks():
        began = monotonic()
        done = subprocess.run(
            command,
            env={**os.environ, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        one = Checked(name, done.returncode == 0, done.stdout, monotonic() - began)
        if say:
            one.say()
        yield one


def run_tests(arguments: list[str]) -> list[str]:
    """Run the whole suite, or what the arguments choose; the names of what failed."""
    version = usual_version()
    print(f"\nAll tests on PostgreSQL {version}", flush=True)
    if missing := missing_tools():
        print("Not run here: " + "; ".join(f"{k} ({why})" for k, why in missing.items()))
    done = subprocess.run([*pytest_on(workers()), "--durations=10", *arguments], check=False)
    return ["tests"] if done.returncode != 0 else []


def usual_version() -> int:
    """The major version of the PostgreSQL that the tests use unless told otherwise."""
    chosen = os.environ.get("PG_BIN")
    try:
        return find_programs(Path(chosen) if chosen else None, None).version
    except PostgresUnusable as unusable:
        sys.exit(str(unusable))


def install_missing() -> None:
    """Install the programs that tests need and that are missing, as root on Debian alone."""
    missing = [*missing_tools(), *([] if shutil.which("git") else ["git"])]
    if not missing:
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        packages = [package for name in missing for package in PACKAGES[name]]
        print(f"Installing {', '.join(packages)}...", flush=True)
        quiet = {
            "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            "stdout": subprocess.DEVNULL,
            "check": False,
        }
        subprocess.run(["apt-get", "update", "-qq"], **quiet)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"]
        subprocess.run([*install, *packages], **quiet)
        missing_tools.cache_clear()
    if os.environ.get("CI") and (left := missing_tools()):
        sys.exit("CI lacks what tests need: " + "; ".join(left.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
