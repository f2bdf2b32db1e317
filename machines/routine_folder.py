"""A routine's own folder on its machine: where it starts, and where it remembers."""

from machines.providers.base import NotFound, Provider, Ref

SEED_STATE = (
    "# State\n"
    "\n"
    "This file is the routine's memory. What is written here is what the next run knows.\n"
    "Keep it short: facts and what was done last, not a diary.\n"
)


def folder_of(slug: str) -> str:
    """Where the routine with this slug works.

    >>> folder_of("morning-issues")
    '~/routines/morning-issues'
    """
    return f"~/routines/{slug}"


def state_file_of(slug: str) -> str:
    """The file that a routine's next run reads first.

    >>> state_file_of("morning-issues")
    '~/routines/morning-issues/state.md'
    """
    return f"{folder_of(slug)}/state.md"


def ensure_folder(provider: Provider, ref: Ref, slug: str) -> str:
    """Make the routine's folder with its state.md, unless they are there; the folder's path.

    What was written in state.md stays. Raises MachineError.
    """
    folder = folder_of(slug)
    try:
        names = {entry.path for entry in provider.list_files(ref, folder)}
    except NotFound:
        names = set()
    if state_file_of(slug) not in names:
        provider.write_file(ref, state_file_of(slug), SEED_STATE.encode())
    return folder
