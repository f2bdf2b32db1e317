"""A routine's own folder on its machine: state.md before and after, and what changed in it."""

from machines.providers.base import MachineError, NotFound, Provider, Ref
from machines.routine_folder import ensure_folder, state_file_of
from routines_app.agents.wording import storable

STATE_BYTES = 64_000
_OURS = "/.routine/"


def read_state(provider: Provider, ref: Ref, slug: str) -> str:
    """The text of the routine's state.md, made from the seed when there is none.

    Longer than 64,000 bytes it is cut, and says so in its last line. Raises MachineError.
    """
    ensure_folder(provider, ref, slug)
    with provider.open_read(ref, state_file_of(slug), 1_000_000_000) as stream:
        data = stream.read(STATE_BYTES + 1)
    text = storable(data[:STATE_BYTES].decode("utf-8", "replace"))
    if len(data) > STATE_BYTES:
        text += "\n(state.md is longer than 64,000 bytes: the rest is left out)"
    return text


def folder_marks(provider: Provider, ref: Ref, folder: str) -> dict[str, tuple[int, float]]:
    """Path to (bytes, Unix seconds of the last change) of the files in a folder and those below
    it, ours left out; at most 2,000 of them. Empty when the folder can't be read."""
    marks: dict[str, tuple[int, float]] = {}
    waiting = [folder]
    try:
        while waiting and len(marks) < 2_000:
            for entry in provider.list_files(ref, waiting.pop()):
                if _OURS in f"{entry.path}/" or entry.path.endswith("/.git"):
                    continue
                if entry.kind == "folder":
                    waiting.append(entry.path)
                elif entry.kind == "file":
                    marks[entry.path] = (entry.size, entry.modified)
    except NotFound:
        return marks
    except MachineError:
        return marks
    return marks


def files_changed(before: dict[str, tuple[int, float]], after: dict[str, tuple[int, float]]) -> int:
    """How many files are new, gone or different."""
    return sum(before.get(path) != after.get(path) for path in before.keys() | after.keys())
