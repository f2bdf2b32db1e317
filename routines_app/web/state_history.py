"""What each run did to a routine's state.md."""

from __future__ import annotations

from dataclasses import dataclass

from machines.models import Machine
from machines.routine_folder import state_file_of
from routines_app.models import Run
from routines_app.web.memory import lines_changed

SHOWN = 12


@dataclass(frozen=True)
class Edition:
    """One run's change of the file, in lines."""

    run: Run
    added: int
    taken: int


def history_of(machine: Machine, path: str) -> list[Edition] | None:
    """The last runs that read this file, newest first; None for any file but a state.md."""
    parts = path.split("/")
    if len(parts) != 3 or f"~/{path}" != state_file_of(parts[1]):
        return None
    runs = (
        Run.objects.select_related("routine")
        .filter(
            machine=machine,
            workspace=machine.workspace,
            routine__slug=parts[1],
            effects_begun_at__isnull=False,
            finished_at__isnull=False,
        )
        .order_by("-number")[:SHOWN]
    )
    return [_edition(run) for run in runs]


def _edition(run: Run) -> Edition:
    added, taken = lines_changed(run.state_before, run.state_after)
    return Edition(run, added, taken)
