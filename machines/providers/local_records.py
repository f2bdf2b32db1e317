"""What a local machine is, on disk: its folder, its uid, its state and its locks.

    <root>/uids.json              the next uid to give; none is ever given twice
    <root>/<id>/machine.json      uid, state, spec, the disk's last measure
    <root>/<id>/running.json      the processes of the command that runs, for `reconcile`
    <root>/<id>/home, tmp         the machine's own, closed to every other user

Several processes may use one root: each lock is a file's, and a crash gives it back.
"""

import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from machines.providers.base import (
    MachineBusy,
    MachineState,
    NotFound,
    ProviderUnavailable,
    Ref,
    Spec,
    Unsupported,
)
from machines.providers.local_process import started_at

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_FIRST_UID = 200_000
_SMALL_FIRST_UID = 20_000  # for a root that is one only inside a container's small range


@dataclass(frozen=True)
class Record:
    """A machine's facts. `disk_bytes` as last measured."""

    uid: int
    spec: Spec
    state: MachineState = "asleep"
    disk_bytes: int = 0


@dataclass(frozen=True)
class Running:
    """The processes of a command: (pid, start in the kernel's ticks), and whose run it is."""

    run_id: str
    processes: tuple[tuple[int, int], ...]


class Folder:
    """One machine's folder."""

    def __init__(self, root: Path, ref: Ref) -> None:
        self.ref = ref
        self.path = root / ref.machine_id
        self.home = self.path / "home"
        self.tmp = self.path / "tmp"

    def record(self) -> Record:
        """The facts. Raises NotFound for an unknown machine."""
        try:
            facts = json.loads((self.path / "machine.json").read_text())
        except FileNotFoundError as error:
            raise NotFound(f"There is no machine {self.ref.machine_id}.") from error
        except (OSError, ValueError) as error:
            raise ProviderUnavailable(
                f"The record of machine {self.ref.machine_id} can't be read: {error}."
            ) from error
        record = Record(**{**facts, "spec": Spec(**facts["spec"])})
        if os.geteuid() not in (0, record.uid):
            raise ProviderUnavailable(
                f"Machine {self.ref.machine_id} belongs to uid {record.uid} of this host. "
                "Start the product as the user who made it, or as root."
            )
        return record

    def owner(self, record: Record) -> int | None:
        """The uid to hand files to and to drop to; None when we are that user."""
        return record.uid if os.geteuid() == 0 else None

    def change(
        self,
        *,
        state: MachineState | None = None,
        spec: Spec | None = None,
        disk_bytes: int | None = None,
    ) -> Record:
        """Set some facts; what is None stays."""
        self.record()
        with _locked(self.path / "record.lock"):
            old = self.record()
            new = replace(
                old,
                state=state or old.state,
                spec=spec or old.spec,
                disk_bytes=old.disk_bytes if disk_bytes is None else disk_bytes,
            )
            write_json(self.path / "machine.json", asdict(new))
        return new

    def hold(self) -> int:
        """Have the machine for oneself, until `release`. Raises MachineBusy."""
        self.record()
        held = os.open(self.path / "busy.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(held)
            raise MachineBusy("The machine is running another command. Try again later.") from error
        return held

    @contextmanager
    def held_asleep(self) -> Iterator[Record]:
        """Have a sleeping machine for oneself. Raises MachineBusy while it is awake."""
        held = self.hold()
        try:
            record = self.record()
            if record.state == "awake":
                raise MachineBusy("The machine is awake. Put it to sleep first.")
            yield record
        finally:
            release(held)

    def note_running(self, run_id: str, pids: list[int]) -> None:
        """Record the processes of the command that is about to begin."""
        known = ((pid, started_at(pid)) for pid in pids)
        running = Running(run_id, tuple((pid, at) for pid, at in known if at is not None))
        write_json(self.path / "running.json", asdict(running))

    def running(self) -> Running | None:
        """The processes that were recorded, dead or alive; None when there is no record."""
        try:
            facts = json.loads((self.path / "running.json").read_text())
        except FileNotFoundError:
            return None
        return Running(facts["run_id"], tuple((pid, at) for pid, at in facts["processes"]))

    def forget_running(self) -> None:
        (self.path / "running.json").unlink(missing_ok=True)


def make_folder(root: Path, ref: Ref, spec: Spec) -> None:
    """Make a machine's folder, or give an existing one a new spec. Raises Unsupported for an id
    that can't be a folder's and a host's name."""
    if not _ID.fullmatch(ref.machine_id):
        raise Unsupported("A machine's id is 1 to 63 of a-z, 0-9 and -, and starts with no -.")
    try:
        root.mkdir(mode=0o711, parents=True, exist_ok=True)
        with _locked(root / "root.lock"):
            folder = Folder(root, ref)
            if (folder.path / "machine.json").exists():
                folder.change(spec=spec)
                return
            uid = _next_uid(root) if os.geteuid() == 0 else os.geteuid()
            new = root / f".new-{secrets.token_hex(8)}"
            new.mkdir(mode=0o711)
            for name in ("home", "tmp"):
                make_private(new / name, uid)
            write_json(new / "machine.json", asdict(Record(uid, spec)))
            new.rename(folder.path)
    except OSError as error:
        raise ProviderUnavailable(
            f"A machine can't be made in {root}: {error.strerror or error}."
        ) from error


def unfinished(root: Path) -> list[Path]:
    """Folders that a crash left halfway, in the making or in the clearing away."""
    if not root.is_dir():
        return []
    with _locked(root / "root.lock"):  # whoever makes one holds it
        return [*root.glob(".new-*"), *root.glob(".gone-*")]


def make_private(path: Path, uid: int) -> None:
    """Make a folder that only `uid` may enter."""
    path.mkdir(mode=0o700)
    if os.geteuid() != uid:
        os.chown(path, uid, uid)
    path.chmod(0o700)


def machines_in(root: Path, provider: str) -> list[Folder]:
    """Every machine beneath the root."""
    if not root.is_dir():
        return []
    return [
        Folder(root, Ref(provider, path.name))
        for path in sorted(root.iterdir())
        if (path / "machine.json").exists() and not path.name.startswith(".")
    ]


def write_json(path: Path, facts: object) -> None:
    """Replace a small file in one step."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            json.dump(facts, file)
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)


def _next_uid(root: Path) -> int:
    """A uid that no machine of this root has ever had."""
    counter = root / "uids.json"
    uid = first_uid()
    with suppress(FileNotFoundError):
        uid = int(json.loads(counter.read_text())["next"])
    write_json(counter, {"next": uid + 1})
    return uid


def first_uid(uid_map: Path = Path("/proc/self/uid_map")) -> int:
    """The first of the uids that machines get, among those that this root may become."""
    for line in uid_map.read_text().splitlines():
        start, _, length = map(int, line.split())
        if start <= _FIRST_UID and start + length > _FIRST_UID + 100_000:
            return _FIRST_UID
    return _SMALL_FIRST_UID


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait for a lock that is held for moments only."""
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        release(held)


def release(held: int) -> None:
    """Give a lock back. To close it isn't enough: a process that another thread starts at this
    very moment has a copy of the descriptor for a while, and the lock would stay as long."""
    fcntl.flock(held, fcntl.LOCK_UN)
    os.close(held)
