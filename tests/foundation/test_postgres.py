"""The private PostgreSQL: it starts, is found again, survives kills, and refuses in sentences."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from foundation import postgres
from foundation.postgres import FAST, PostgresUnusable, Server
from foundation.postgres_programs import (
    Account,
    Programs,
    copy_programs,
    find_account,
    find_programs,
)
from tests.tools import wait_until

pytestmark = pytest.mark.queue


@pytest.fixture
def folder(open_folder: Path) -> Iterator[Path]:
    """A folder for a server; what runs in it at the end is stopped."""
    yield open_folder / "postgres"
    running = postgres.running_server(open_folder / "postgres")
    if running is not None:
        running.stop()


def begin(folder: Path, settings: dict[str, str] | None = FAST) -> Server:
    chosen = os.environ.get("PG_BIN")
    return postgres.start(folder, pg_bin=Path(chosen) if chosen else None, settings=settings)


def write(server: Server, text: str) -> None:
    with psycopg.connect(server.url()) as session:
        session.execute("create table if not exists kept (words text)")
        session.execute("insert into kept values (%s)", [text])


def read(server: Server) -> list[str]:
    with psycopg.connect(server.url()) as session:
        return [words for (words,) in session.execute("select words from kept order by words")]


def shown(server: Server, name: str) -> str:
    with psycopg.connect(server.url()) as session:
        row = session.execute("select current_setting(%s)", [name]).fetchone()
    assert row is not None
    return str(row[0])


def kill(server: Server) -> None:
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.is_running(), 5)


def test_what_was_written_is_there_after_a_stop_and_a_start(folder: Path) -> None:
    first = begin(folder)
    write(first, "before")
    first.stop()
    assert not first.is_running()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(first.url())

    assert read(begin(folder)) == ["before"]


def test_it_is_durable_unless_told_otherwise(folder: Path) -> None:
    server = begin(folder, None)
    assert [shown(server, name) for name in postgres.DURABLE] == ["on", "on", "on"]
    server.stop()
    assert shown(begin(folder, FAST), "fsync") == "off"


def test_it_listens_on_no_network(folder: Path) -> None:
    server = begin(folder)
    assert shown(server, "listen_addresses") == ""
    assert server.socket_folder.stat().st_mode & 0o777 == 0o700


def test_a_second_start_takes_over_the_running_server(folder: Path) -> None:
    first = begin(folder)
    assert begin(folder) == first


def test_a_killed_server_starts_again_with_its_commits(folder: Path) -> None:
    first = begin(folder, postgres.DURABLE)
    write(first, "committed")
    kill(first)

    second = begin(folder, postgres.DURABLE)

    assert second.pid != first.pid
    assert read(second) == ["committed"]


def test_a_stale_file_that_names_another_living_process_is_no_obstacle(folder: Path) -> None:
    first = begin(folder, postgres.DURABLE)
    write(first, "kept")
    kill(first)
    stale = first.data / "postmaster.pid"
    lines = stale.read_text().splitlines()
    # A program that isn't PostgreSQL but runs as the same user, as after a container restarts.
    owner = first.data.stat()
    with subprocess.Popen(
        ["sleep", "60"],
        user=owner.st_uid if os.geteuid() == 0 else None,
        cwd="/",
    ) as other:
        try:
            stale.write_text("\n".join([str(other.pid), *lines[1:]]) + "\n")
            assert postgres.running_server(folder) is None
            assert read(begin(folder)) == ["kept"]
            assert other.poll() is None
        finally:
            other.kill()


def test_a_server_outlives_its_killed_owner_and_is_found_again(folder: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from foundation import postgres\n"
        "chosen = os.environ.get('PG_BIN')\n"
        "postgres.start(Path(sys.argv[1]), pg_bin=Path(chosen) if chosen else None)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(folder)], check=False)
    assert ended.returncode == -signal.SIGKILL

    left = postgres.running_server(folder)
    assert left is not None
    assert begin(folder) == left
    left.stop()
    assert not left.is_running()
    assert not (left.data / "postmaster.pid").exists()


def test_a_half_made_database_is_made_again(folder: Path) -> None:
    half = folder / "data.making"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    write(begin(folder), "made")
    assert not half.exists()


def test_a_path_too_long_for_a_socket_gets_a_short_one(folder: Path) -> None:
    deep = folder.parent.joinpath(*["a-folder-with-a-long-name"] * 5)
    server = begin(deep)
    try:
        assert len(str(server.socket_folder)) < 60
        assert server.socket_folder.stat().st_mode & 0o777 == 0o700
        write(server, "deep")
        assert begin(deep) == server
    finally:
        server.stop()
    assert not server.socket_folder.exists()


def test_data_of_another_version_is_refused_by_name(folder: Path) -> None:
    server = begin(folder)
    server.stop()
    (server.data / "PG_VERSION").write_text("12\n")
    with pytest.raises(PostgresUnusable) as refusal:
        begin(folder)
    said = str(refusal.value)
    assert "made by PostgreSQL 12" in said
    assert f"is {server.version}" in said
    assert "PG_BIN=" in said
    assert (server.data / "base").is_dir()


def test_files_that_are_no_database_are_left_alone(folder: Path) -> None:
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "letter.txt").write_text("mine")
    with pytest.raises(PostgresUnusable, match="holds files that are no database"):
        begin(folder)
    assert (folder / "data" / "letter.txt").read_text() == "mine"


def test_a_chosen_folder_without_postgresql_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(PostgresUnusable, match=r"PG_BIN names .* no PostgreSQL that runs here"):
        postgres.start(folder, pg_bin=tmp_path)


def test_a_server_that_does_not_come_up_says_why(folder: Path) -> None:
    with pytest.raises(PostgresUnusable, match=r"didn't start; its log is(.|\n)*no_such_setting"):
        begin(folder, {"no_such_setting": "1"})


def test_data_keeps_its_own_version_where_several_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = []
    for version in (18, 16, 14):
        folder = tmp_path / str(version)
        folder.mkdir()
        (folder / "initdb").touch()
        program = folder / "postgres"
        program.write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}.3'\n")
        program.chmod(0o755)
        folders.append(folder)
    monkeypatch.setattr("foundation.postgres_programs._candidate_folders", lambda: iter(folders))
    assert find_programs(None, None) == Programs(folders[0], 18)
    assert find_programs(None, 16) == Programs(folders[1], 16)
    assert find_programs(None, 14) == Programs(folders[0], 18)
    with pytest.raises(PostgresUnusable, match="PostgreSQL 14; Routines needs 15"):
        find_programs(folders[2], None)
    monkeypatch.setattr("foundation.postgres_programs._candidate_folders", lambda: iter([]))
    with pytest.raises(PostgresUnusable, match="No PostgreSQL was found"):
        find_programs(None, None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another user for PostgreSQL")
def test_root_in_a_closed_folder_gets_its_data_where_the_account_reaches(folder: Path) -> None:
    closed = folder.parent / "closed"
    closed.mkdir(mode=0o700)
    server = begin(closed / "postgres")
    try:
        account = find_account(server.data)
        assert isinstance(account, Account)
        assert account.uid != 0
        assert not account.reaches(closed)
        assert (closed / "postgres" / "data").is_symlink()
        write(server, "kept")
        server.stop()
        assert read(begin(closed / "postgres")) == ["kept"]
    finally:
        server.stop()
        running = postgres.running_server(closed / "postgres")
        if running is not None:
            running.stop()
        subprocess.run(["rm", "-r", str(server.data.parent)], check=True)


def test_bundled_programs_run_where_they_are_copied(folder: Path) -> None:
    bundled = find_programs(None, None)
    if not bundled.is_bundled:
        pytest.skip("there is no wheel with PostgreSQL for this computer")
    copied = copy_programs(bundled, folder)
    said = subprocess.run([copied.bin / "initdb", "--version"], capture_output=True, check=True)
    assert f"{bundled.version}.".encode() in said.stdout
    assert copy_programs(bundled, folder) == copied
    with psycopg.connect(postgres.start(folder, pg_bin=copied.bin, settings=FAST).url()) as session:
        session.execute("select 1")


def test_a_stop_does_not_wait_for_open_sessions(folder: Path) -> None:
    server = begin(folder)
    with psycopg.connect(server.url()) as session:
        session.execute("select 1")
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 5
        session.close()
