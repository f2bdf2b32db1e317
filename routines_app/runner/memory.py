"""A routine's memory on its machine: state.md as a run finds and leaves it."""

from machines.providers.base import Provider, Ref
from machines.routine_folder import ensure_folder, state_file_of
from routines_app.agents.wording import storable

STATE_BYTES = 64_000


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
