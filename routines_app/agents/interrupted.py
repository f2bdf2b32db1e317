"""What a command had printed when its turn was interrupted is kept as a step."""

from collections.abc import Callable
from contextlib import suppress

from routines_app.agents.turn import NewStep, StepKind, TurnInterrupted
from routines_app.agents.wording import middle_cut


def keep_what_was_printed(
    record: Callable[[NewStep], None],
    interruption: TurnInterrupted,
    kind: StepKind,
    title: str,
) -> None:
    """Store the command that was interrupted, with its output so far; nothing when none ran.

    The caller raises the interruption again.
    """
    partial = interruption.partial
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
