"""What a command had printed when its turn was interrupted, or its machine failed, is kept as a
step."""

from collections.abc import Callable
from contextlib import suppress

from routines_app.agents.turn import ComputerFailed, NewStep, StepKind, TurnInterrupted
from routines_app.agents.wording import middle_cut


def keep_what_was_printed(
    record: Callable[[NewStep], None],
    ended_by: TurnInterrupted | ComputerFailed,
    kind: StepKind,
    title: str,
) -> None:
    """Store the command that was cut short, with its output so far; nothing when none ran.

    The caller raises it again.
    """
    partial = ended_by.partial
    if partial is None:
        return
    step = NewStep(
        kind,
        title,
        content=middle_cut(partial.output),
        seconds=partial.seconds,
        facts={"interrupted": True, "lines": len(partial.output.splitlines())},
    )
    # The sink stores it, and only then says once more that the turn has to end.
    with suppress(TurnInterrupted):
        record(step)
