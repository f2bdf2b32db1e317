"""Runs the provider contract for local machines as a user who isn't root.

Everything is imported first, because the interpreter's own files may be closed to that user.
"""

import ctypes
import inspect
import os
import sys
import traceback
from pathlib import Path

from machines.providers.local import LocalProvider
from tests.contracts.machine_provider_contract import MachineProviderContract

NOBODY = 65534
_PR_SET_DUMPABLE = 4


def become(uid: int) -> None:
    """Be an ordinary user for good."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    # A process that changed its user can't read its own /proc/self/fd until it is dumpable again.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def main(root: Path) -> int:
    os.chown(root, NOBODY, NOBODY)
    become(NOBODY)
    contract = MachineProviderContract()
    failures = 0
    tests = [name for name in dir(contract) if name.startswith("test_")]
    for name in tests:
        test = getattr(contract, name)
        assert list(inspect.signature(test).parameters) == ["provider"]
        try:
            test(LocalProvider(root / name[-60:].replace("_", "-")))
        except Exception:
            failures += 1
            print(name)
            traceback.print_exc(file=sys.stdout)
    print(f"{len(tests)} tests, {failures} failed" if failures else "all kept")
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
