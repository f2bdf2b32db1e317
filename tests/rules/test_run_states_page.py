"""docs/run-states.md says what the enum says."""

import re
from pathlib import Path

from routines_app.rules.status import RunStatus

PAGE = Path(__file__).resolve().parents[2] / "docs" / "run-states.md"


def test_the_page_lists_each_status_once_as_it_is() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (\w+) \| ([^|]+) \| (\w+) \|", PAGE.read_text(), re.MULTILINE
    )
    said = {
        code: (shape, counts == "yes, unless ours", rings) for code, shape, counts, rings in rows
    }
    assert len(rows) == len(said)
    assert said == {
        status.value: (status.shape.value, status.may_count, status.rings.value)
        for status in RunStatus
    }
