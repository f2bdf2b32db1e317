"""What every test may ask for: a database, a Redis, a browser, the running product."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.database import end_run, start_server
from tests.order import long_ones_first
from tests.tools import Redis, missing_tools, start_redis

pytest_plugins = ["tests.browser", "tests.running_app"]


def pytest_unconfigure() -> None:
    end_run()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, and skip what this computer has no tool for."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = long_ones_first(items, _is_long, workers)
    if os.environ.get("CI"):  # nothing may be missing there
        return
    for marker, reason in missing_tools().items():
        for item in items:
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def _is_long(item: pytest.Item) -> bool:
    starts_an_app = {"new_app", "live_app"} & set(getattr(item, "fixturenames", ()))
    return bool(starts_an_app) or item.get_closest_marker("long") is not None


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
