"""Whether this host can run local machines, asked once at start-up."""

import platform
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from machines.providers.base import Exit, MachineError, Spec
from machines.providers.local import LocalProvider

_TOOLS = {
    "bwrap": ("bubblewrap", "bubblewrap"),
    "bash": ("bash", "bash"),
    "tar": ("tar", "tar"),
    "du": ("du", "coreutils"),
}

# What keeps an ordinary user from making a user namespace, and the command that mends it.
_SWITCHES = (
    ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1",
     "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
    ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
)  # fmt: skip


def probe_local(root: Path | None = None, sysctls: Path = Path("/proc/sys")) -> str | None:
    """What is missing for local machines, with the one command that mends it; None: nothing.

    Runs one real command in a machine of its own, made beneath `root` (None: a temporary folder)
    and deleted again.
    """
    if platform.system() != "Linux":
        return f"Local machines need Linux; this is {platform.system()}. Use Docker."
    for tool, (name, package) in _TOOLS.items():
        if shutil.which(tool) is None:
            return f"Local machines need {name}. Install it: apt-get install {package}"
    try:
        if root is not None:
            root.mkdir(mode=0o711, parents=True, exist_ok=True)
        with TemporaryDirectory(dir=root, prefix=".probe-", ignore_cleanup_errors=True) as folder:
            trouble = _trial(Path(folder))
    except OSError as error:
        return f"Local machines can't be kept in {root}: {error.strerror or error}."
    return (
        trouble
        and f"Local machines don't work on this host. {trouble} {_mend(trouble, sysctls)}".strip()
    )


def _trial(folder: Path) -> str | None:
    """Run `true` in a machine; what went wrong, or None."""
    folder.chmod(0o711)
    provider = LocalProvider(folder)
    try:
        ref = provider.create("probe", Spec())
        provider.wake(ref)
        last = list(provider.exec(ref, "probe", ["true"], timeout=20.0).events)[-1]
        provider.destroy(ref)
    except MachineError as error:
        return error.sentence
    return None if last == Exit(0, "exit") else f"A trial command ended with {last}."


def _mend(trouble: str, sysctls: Path) -> str:
    """The one command that is likely to help; "" when nothing tells which."""
    if "Unknown option" in trouble:
        return "Local machines need bubblewrap 0.8 or newer: apt-get install bubblewrap"
    for name, value, command in _SWITCHES:
        with suppress(OSError):
            if (sysctls / name).read_text().strip() == value:
                return f"Let bubblewrap make user namespaces: {command}"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return (
            "Start this container with: --security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined --security-opt systempaths=unconfined"
        )
    return ""
