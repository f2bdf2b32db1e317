"""The few commands that a machine in memory understands by itself.

    true   false   echo WORDS   pwd   env   printenv NAME   cat [PATH...]   sleep SECONDS   yes
    mkdir [-p] PATH   touch PATH   rm PATH   ln -s TARGET PATH   mkfifo PATH
    bash -c / sh -c SCRIPT, where SCRIPT is such commands joined by ; or &&, each with an optional
    `> PATH`, `>> PATH` or `>&2` at its end, and `exit N`, `kill -N $$`

Anything else ends with 127, as a shell says it. Tests that need more answer for the command:
`MemoryProvider.answer`.
"""

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from machines.providers.base import MachineError
from machines.providers.memory_files import (
    MemoryFile,
    MemoryLink,
    MemoryPipe,
    Tree,
    placed,
)


class Ended(Exception):
    """The script said `exit`, or killed itself."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Shell:
    """What a command sees. `out` and `err` take output; `pause` waits that many seconds."""

    home: Tree
    tmp: Tree
    cwd: str
    env: dict[str, str]
    stdin: Iterable[bytes]
    out: Callable[[bytes], None]
    err: Callable[[bytes], None]
    pause: Callable[[float], None]

    def run(self, argv: list[str]) -> int:
        """Run one command; its exit code."""
        if argv[0] in ("bash", "sh") and argv[1:2] == ["-c"]:
            try:
                return self._script(argv[2])
            except Ended as ended:
                return ended.code
        return self._simple(argv)

    def _script(self, text: str) -> int:
        words = shlex.shlex(text, posix=True, punctuation_chars=";&>")
        words.whitespace_split = True
        code, command, skipping = 0, list[str](), False
        for word in [*words, ";"]:
            if word not in (";", "&&"):
                command.append(word)
                continue
            if command and not skipping:
                code = self._redirected(command)
            skipping = word == "&&" and code != 0
            command = []
        return code

    def _redirected(self, command: list[str]) -> int:
        if command[-2:] == [">&", "2"]:
            return replace(self, out=self.err)._simple(command[:-2])
        if len(command) > 2 and command[-2] in (">", ">>"):
            tree, path = self._place(command[-1])
            old = tree.open_read(path, 10**9).read() if command[-2] == ">>" else b""
            kept = [old]
            code = replace(self, out=kept.append)._simple(command[:-2])
            tree.put(path, MemoryFile(b"".join(kept)))
            return code
        return self._simple(command)

    def _simple(self, argv: list[str]) -> int:
        try:
            return self._known(argv)
        except MachineError as error:
            self.err(f"{argv[0]}: {error}\n".encode())
            return 1

    def _known(self, argv: list[str]) -> int:
        match argv:
            case ["true"]:
                return 0
            case ["false"]:
                return 1
            case ["exit", code]:
                raise Ended(int(code))
            case ["kill", signal, "$$"]:
                raise Ended(128 + int(signal.removeprefix("-")))
            case ["echo", *words]:
                self.out((" ".join(words) + "\n").encode())
            case ["pwd"]:
                self.out(f"{self.cwd}\n".encode())
            case ["env"]:
                self.out("".join(f"{k}={v}\n" for k, v in self.env.items()).encode())
            case ["printenv", name]:
                if name not in self.env:
                    return 1
                self.out(f"{self.env[name]}\n".encode())
            case ["sleep", seconds]:
                self.pause(float(seconds))
            case ["yes"]:
                while True:
                    self.out(b"y\n" * 1000)
            case ["cat"]:
                for piece in self.stdin:
                    self.out(piece)
            case _:
                return self._on_files(argv)
        return 0

    def _on_files(self, argv: list[str]) -> int:
        match argv:
            case ["cat", *paths]:
                for path in paths:
                    tree, place = self._place(path)
                    self.out(tree.open_read(place, 10**9).read())
            case ["mkdir", "-p", path] | ["mkdir", path]:
                tree, place = self._place(path)
                tree.make_folder(place)
            case ["touch", path]:
                tree, place = self._place(path)
                tree.put(place, MemoryFile())
            case ["rm", path]:
                tree, place = self._place(path)
                tree.delete(place)
            case ["ln", "-s", target, path]:
                tree, place = self._place(path)
                tree.put(place, MemoryLink(target))
            case ["mkfifo", path]:
                tree, place = self._place(path)
                tree.put(place, MemoryPipe())
            case _:
                self.err(f"{argv[0]}: command not found\n".encode())
                return 127
        return 0

    def _place(self, path: str) -> tuple[Tree, str]:
        """The tree that a path inside belongs to, and the path beneath it."""
        whole = placed(path, self.cwd)
        if whole == "/tmp" or whole.startswith("/tmp/"):
            return self.tmp, "./" + whole[5:]
        return self.home, whole
