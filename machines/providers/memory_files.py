"""A file tree in memory with the rules of a machine's home."""

import io
import posixpath
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from foundation.clock import now
from machines.providers.base import EntryKind, FileEntry, QuotaExceeded, too_large
from machines.providers.paths import (
    HOME,
    a_folder,
    beneath_home,
    escape,
    no_folder,
    no_ordinary_file,
    no_such,
    shown,
    split,
)

_MOST_LINKS = 40


def _instant() -> float:
    return now().timestamp()


@dataclass
class MemoryFile:
    data: bytes = b""
    mode: int = 0o644
    modified: float = field(default_factory=_instant)


@dataclass
class MemoryLink:
    target: str
    modified: float = field(default_factory=_instant)


@dataclass
class MemoryPipe:
    modified: float = field(default_factory=_instant)


@dataclass
class MemoryFolder:
    children: dict[str, "Node"] = field(default_factory=dict)
    modified: float = field(default_factory=_instant)


Node = MemoryFile | MemoryLink | MemoryPipe | MemoryFolder


class Tree:
    """A home. Paths and errors are those of the provider's file methods."""

    def __init__(self) -> None:
        self.root = MemoryFolder()

    def find(self, path: str) -> Node:
        """What a path leads to, through links that stay beneath home."""
        return self._walk(beneath_home(path), path, _MOST_LINKS)

    def folder(self, path: str) -> MemoryFolder:
        """A folder that exists."""
        found = self.find(path)
        if not isinstance(found, MemoryFolder):
            raise no_folder(path)
        return found

    def make_folder(self, path: str) -> MemoryFolder:
        """A folder, with every missing one on the way made."""
        place = self.root
        relative = beneath_home(path)
        reached = "."
        for name in [] if relative == "." else relative.split("/"):
            place.children.setdefault(name, MemoryFolder())
            reached = posixpath.join(reached, name)
            place = self.folder(reached)
        return place

    def put(self, path: str, node: Node) -> None:
        """Set what a name is; a link there is replaced, never followed."""
        folder, name = split(path)
        place = self.make_folder(folder)
        if isinstance(place.children.get(name), MemoryFolder):
            raise a_folder(path)
        place.children[name] = node

    def open_read(self, path: str, max_bytes: int) -> BinaryIO:
        found = self.find(path)
        if isinstance(found, MemoryFolder):
            raise a_folder(path)
        if not isinstance(found, MemoryFile):
            raise no_ordinary_file(path)
        if len(found.data) > max_bytes:
            raise too_large(path, max_bytes)
        return io.BytesIO(found.data)

    @contextmanager
    def open_write(self, path: str, mode: int, room: int) -> Iterator[BinaryIO]:
        self.make_folder(split(path)[0])
        stream = io.BytesIO()
        yield stream
        data = stream.getvalue()
        if len(data) > room:
            raise QuotaExceeded(
                "That doesn't fit on the machine's disk. Delete something on it first."
            )
        self.put(path, MemoryFile(data, mode & 0o777))

    def list_files(self, path: str) -> Iterator[FileEntry]:
        relative = beneath_home(path)
        for name, node in list(self.folder(path).children.items()):
            yield FileEntry(
                path=shown(posixpath.normpath(posixpath.join(relative, name))),
                kind=_kind(node),
                size=len(node.data) if isinstance(node, MemoryFile) else 0,
                modified=node.modified,
            )

    def move(self, source: str, target: str) -> None:
        folder, name = split(source)
        place = self.folder(folder)
        if name not in place.children:
            raise no_such(source)
        self.put(target, place.children[name])
        if beneath_home(source) != beneath_home(target):
            del place.children[name]

    def delete(self, path: str) -> None:
        folder, name = split(path)
        place = self.folder(folder)
        if name not in place.children:
            raise no_such(path)
        del place.children[name]

    def size(self) -> int:
        """Bytes of all files."""
        return sum(len(node.data) for _, node in self.walk() if isinstance(node, MemoryFile))

    def walk(self) -> Iterator[tuple[str, Node]]:
        """Every path beneath home with what is there, parents first."""
        waiting: list[tuple[str, MemoryFolder]] = [("", self.root)]
        while waiting:
            prefix, folder = waiting.pop()
            for name, node in folder.children.items():
                yield prefix + name, node
                if isinstance(node, MemoryFolder):
                    waiting.append((f"{prefix}{name}/", node))

    def _walk(self, relative: str, path: str, links_left: int) -> Node:
        place: Node = self.root
        names = [] if relative == "." else relative.split("/")
        for index, name in enumerate(names):
            if not isinstance(place, MemoryFolder):
                raise no_folder(path)
            if name not in place.children:
                raise no_such(path)
            place = place.children[name]
            if isinstance(place, MemoryLink):
                rest = [*names[:index], place.target, *names[index + 1 :]]
                joined = posixpath.normpath("/".join(rest))
                leads_out = joined == ".." or joined.startswith("../")
                if place.target.startswith("/") or leads_out or links_left == 0:
                    raise escape(path)
                return self._walk(joined, path, links_left - 1)
        return place


def write_tar(tree: Tree) -> bytes:
    """The tree as a tar file."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, node in tree.walk():
            member = tarfile.TarInfo(f"./{path}")
            member.mtime = int(node.modified)
            match node:
                case MemoryFile(data=data, mode=mode):
                    member.size, member.mode = len(data), mode
                    tar.addfile(member, io.BytesIO(data))
                    continue
                case MemoryFolder():
                    member.type, member.mode = tarfile.DIRTYPE, 0o755
                case MemoryLink(target=target):
                    member.type, member.linkname = tarfile.SYMTYPE, target
                case MemoryPipe():
                    member.type = tarfile.FIFOTYPE
            tar.addfile(member)
    return content.getvalue()


def read_tar(content: BinaryIO) -> Tree:
    """The tree of a tar file whose members were checked."""
    tree = Tree()
    with tarfile.open(fileobj=content, mode="r:") as tar:
        for member in tar:
            path = beneath_home(member.name)
            if path == ".":
                continue
            if member.isdir():
                tree.make_folder(path)
            elif member.issym():
                tree.put(path, MemoryLink(member.linkname, member.mtime))
            elif member.isfifo():
                tree.put(path, MemoryPipe(member.mtime))
            elif member.islnk():
                tree.put(path, tree.find(member.linkname))
            else:
                stream = tar.extractfile(member)
                data = b"" if stream is None else stream.read()
                tree.put(path, MemoryFile(data, member.mode & 0o777, member.mtime))
    return tree


def placed(path: str, cwd: str) -> str:
    """A path that a command on the machine names, made absolute as it is inside."""
    if path == "~" or path.startswith("~/"):
        path = HOME + path[1:]
    return posixpath.normpath(posixpath.join(cwd, path))


def _kind(node: Node) -> EntryKind:
    match node:
        case MemoryFile():
            return "file"
        case MemoryFolder():
            return "folder"
        case MemoryLink():
            return "link"
        case MemoryPipe():
            return "other"
