"""The kinds of machines, by name."""

from pathlib import Path

from machines.providers.base import Provider, Unsupported
from machines.providers.local import LocalProvider
from machines.providers.memory import MemoryProvider


def provider(name: str, root: Path | None = None) -> Provider:
    """The provider of that name. `local` needs the folder that its machines live beneath.

    Each call makes a new one: what is in `memory` lives as long as the object does. Raises
    Unsupported for an unknown name or a missing folder.
    """
    match name:
        case "local" if root is not None:
            return LocalProvider(root)
        case "local":
            raise Unsupported("Local machines need a folder to live in.")
        case "memory":
            return MemoryProvider()
        case _:
            raise Unsupported(f"There is no kind of machine called {name}. Use local.")
