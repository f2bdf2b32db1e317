"""What every test may ask for: a database, a Redis, a browser, the running product."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.database import end_run, start_server
from tests.tools import Redis, missing_tools, start_redis

pytest_plugins = ["tests.browser", "tests.running_app"]


def pytest_unconfigure() -> None:
    end_run()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this computer has no tool for; with CI set nothing may be missing."""
    if os.environ.get("CI"):
        return
    for marker, reason in missing_tools().items():
        for item in items:
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Start the run's PostgreSQL before the first test database is made."""
    start_server()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """An empty folder that every user can enter, as pytest's own can't be."""
    folder = Path(tempfile.mkdtemp(prefix="routines-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    """A Redis of the test's own."""
    with start_redis(tmp_path_factory.mktemp("redis")) as redis:
        yield redis
