"""A routine's folder on a machine in memory, and what the two looks at it tell."""

from collections.abc import Callable, Iterator
from typing import BinaryIO

from machines.providers.base import FileEntry, ProviderUnavailable, Ref, Spec
from machines.providers.memory import MemoryProvider
from machines.providers.memory_files import MemoryFile
from routines_app.rules.changed_path import whole_path
from routines_app.rules.status import RunStatus
from routines_app.runner.ending import Ending, FileChange
from routines_app.runner.folder import RunFolders

HERE = "~/routines/brief"
STATE = "- read: yesterday\n"


class Disk(MemoryProvider):
    """A machine in memory; what is `broken` can't be read, and `meanwhile` comes first."""

    def __init__(self) -> None:
        super().__init__()
        self.ref = self.create("m", Spec())
        self.broken: set[str] = set()
        self.meanwhile: Callable[[], None] | None = None
        self.reads = 0
        self.put("state.md", STATE)

    def put(self, path: str, content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        # past the provider, which measures the whole disk at each write
        self._machine(self.ref).home.put(whole_path(path, HERE), MemoryFile(data))

    def drop(self, path: str) -> None:
        self.delete(self.ref, whole_path(path, HERE))

    def run(self, script: str) -> None:
        self.wake(self.ref)
        list(self.exec(self.ref, "r", ["bash", "-c", script], cwd=HERE).events)

    def open_read(self, ref: Ref, path: str, max_bytes: int) -> BinaryIO:
        self.reads += 1
        if self.meanwhile is not None:
            self.meanwhile()
        if path in self.broken:
            raise ProviderUnavailable(f"{path} couldn't be used: Input/output error.")
        return super().open_read(ref, path, max_bytes)

    def list_files(self, ref: Ref, path: str) -> Iterator[FileEntry]:
        if path in self.broken:
            raise ProviderUnavailable(f"{path} couldn't be used: Input/output error.")
        return super().list_files(ref, path)


def nothing() -> None:
    """A check that finds no reason to end."""


def looked(disk: Disk, works_in: str = HERE) -> RunFolders:
    """The folders of a routine as its turn finds them."""
    folders = RunFolders()
    folders.look(disk, disk.ref, HERE, works_in, STATE, nothing)
    return folders


def ended(folders: RunFolders, state_after: str | None = STATE) -> Ending:
    return folders.into(Ending(RunStatus.DONE_CHANGED, {"kept": 1}, state_after=state_after))


def changes(folders: RunFolders) -> dict[str, FileChange]:
    return {change.path: change for change in ended(folders).changes}
