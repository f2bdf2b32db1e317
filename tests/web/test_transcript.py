"""A run's steps as its page words them, without a database."""

from datetime import UTC, datetime

import pytest

from routines_app.agents.turn import StepKind
from routines_app.models import Step
from routines_app.web.transcript import TranscriptLine, transcript

AT = datetime(2026, 3, 22, 8, tzinfo=UTC)


def line(
    kind: StepKind, content: str = "", seconds: float = 0.0, **facts: object
) -> TranscriptLine:
    """The line of one step."""
    step = Step(
        number=1, kind=kind, title="make", content=content, seconds=seconds, facts=facts, at=AT
    )
    return transcript([step], AT)[0]


@pytest.mark.parametrize(
    ("kind", "reason", "seconds", "note"),
    [
        (StepKind.RAN, "timeout", 120.3, "ended at 2 minutes · 2 lines"),
        (StepKind.RAN, "timeout", 95.2, "ended at 1m 35s · 2 lines"),
        (StepKind.CHECK, "timeout", 60.1, "ended at 60 seconds · $0.00"),
        (StepKind.RAN, "cancelled", 3.0, "stopped · 2 lines"),
        (StepKind.RAN, "oom", 3.0, "out of memory · 2 lines"),
        (StepKind.RAN, "exit", 3.0, "exit 137 · 2 lines"),
    ],
)
def test_what_we_ended_doesnt_show_the_signals_code(
    kind: StepKind, reason: str, seconds: float, note: str
) -> None:
    assert line(kind, "a\nb", seconds, exit_code=137, reason=reason, lines=2).note == note
