"""A computer in a temporary folder, for turns in tests: real bash, real files, no sandbox."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

from routines_app.agents.turn import CommandResult, ComputerRefused, FileEntry, NotThere


class FolderComputer:
    """Home is one folder of the test's own; commands run as the test's user."""

    def __init__(self, home: Path, name: str = "harbour-1") -> None:
        self.name = name
        self.home = home
        self.ran: list[list[str]] = []

    def _inside(self, path: str) -> Path:
        beneath = path.removeprefix("~").lstrip("/")
        found = Path(os.path.normpath(self.home / beneath))
        if not found.is_relative_to(self.home):
            raise ComputerRefused(f"{path} is outside home.")
        return found

    def run(
        self,
        argv: list[str],
        *,
        cwd: str,
        timeout: float,
        check: Callable[[], None],
        heard: Callable[[bytes], None] | None = None,
        max_output: int = 200_000,
    ) -> CommandResult:
        self.ran.append(argv)
        folder = self._inside(cwd)
        folder.mkdir(parents=True, exist_ok=True)
        began = monotonic()
        reason, told = "exit", 0
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(
                argv,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                while True:
                    try:
                        process.wait(timeout=0.05)
                        break
                    except subprocess.TimeoutExpired:
                        told += self._tell(out.fileno(), told, max_output, heard)
                        check()
                    if monotonic() - began >= timeout:
                        reason = "timeout"
                        break
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            self._tell(out.fileno(), told, max_output, heard)
            out.seek(0)
            data = out.read(max_output + 1)
        if len(data) > max_output:
            reason, data = "output", data[:max_output]
        code = process.returncode
        return CommandResult(
            exit_code=code if code >= 0 else 128 - code,
            reason=reason,  # type: ignore[arg-type]
            output=data.decode(errors="replace"),
            stderr="",
            seconds=monotonic() - began,
        )

    def _tell(self, out: int, told: int, most: int, heard: Callable[[bytes], None] | None) -> int:
        """Tell what was printed since; how many bytes that were."""
        piece = os.pread(out, most - told, told)
        if piece and heard is not None:
            heard(piece)
        return len(piece)

    def read_file(self, path: str, max_bytes: int = 1_000_000) -> bytes:
        found = self._inside(path)
        if not found.is_file():
            raise NotThere(f"There is no file {path}.")
        if found.stat().st_size > max_bytes:
            raise ComputerRefused(f"{path} is larger than {max_bytes:,} bytes.")
        return found.read_bytes()

    def write_file(self, path: str, data: bytes) -> None:
        found = self._inside(path)
        found.parent.mkdir(parents=True, exist_ok=True)
        found.write_bytes(data)

    def list_files(self, path: str) -> Iterator[FileEntry]:
        found = self._inside(path)
        if not found.is_dir():
            raise NotThere(f"There is no folder {path}.")
        for each in sorted(found.iterdir()):
            stat = each.lstat()
            kind = "folder" if each.is_dir() else "file"
            yield FileEntry(each.name, kind, stat.st_size, stat.st_mtime)  # type: ignore[arg-type]
