"""What every test may ask for: a database, a Redis, a browser, the running product."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.database import end_run, start_server
from tests.tools import Redis, browser_program, missing_tools, start_redis

pytest_plugins = ["tests.running_app", "tests.browser"]


def pytest_unconfigure(config: pytest.Config) -> None:
    end_run()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this computer has no tool for; with CI set nothing may be missing."""
    if os.environ.get("CI"):
        return
    missing = missing_tools()
    for item in items:
        for marker, reason in missing.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
) -> None:
    """Start the run's PostgreSQL before the first test database is made."""
    start_server()
