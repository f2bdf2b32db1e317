"""A machine's errors in the turn's words."""

from machines.providers.base import (
    MachineError,
    NotFound,
    PathEscape,
    QuotaExceeded,
    TooLarge,
    Unsupported,
)
from routines_app.agents.turn import ComputerFailed, ComputerRefused, NotThere


def translated(error: MachineError) -> ComputerRefused | ComputerFailed:
    """What a turn is told of it: one call was refused, or the machine failed."""
    if isinstance(error, QuotaExceeded):
        return ComputerFailed("disk", error.sentence)
    if isinstance(error, NotFound):
        return NotThere(error.sentence)
    if isinstance(error, PathEscape | TooLarge | Unsupported):
        return ComputerRefused(error.sentence)
    return ComputerFailed("silent", error.sentence)
