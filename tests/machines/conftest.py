import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def machines_root() -> Iterator[Path]:
    """A folder for local machines that every user may enter, as a real one is."""
    with tempfile.TemporaryDirectory(prefix="machines-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)
