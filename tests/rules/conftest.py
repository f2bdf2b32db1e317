"""Rules are tested without a database, on the pinned zone data."""

from zoneinfo import ZoneInfo, reset_tzpath

import pytest


@pytest.fixture(autouse=True, scope="session")
def _pinned_zone_data() -> None:
    reset_tzpath(())
    ZoneInfo.clear_cache()
