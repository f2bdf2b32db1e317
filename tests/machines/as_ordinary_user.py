"""Runs the provider contract, and most escape attempts, as a user who isn't root.

Everything is imported first, because the interpreter's own files may be closed to that user; for
the same reason the attempts that start a Python of the host's are left out.
"""

import ctypes
import encodings.idna  # noqa: F401  (the resolver loads it late)
import inspect
import os
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from machines.providers.base import Ref
from machines.providers.local import LocalProvider
from tests.contracts.machine_provider_contract import MachineProviderContract, awake, ran
from tests.machines import test_local_escape

NOBODY = 65534
_PR_SET_DUMPABLE = 4
_NEED_THE_INTERPRETER = {
    "test_a_box_ends_with_the_runner_and_is_reconciled",
    "test_nothing_is_left_to_clear_away_where_we_take_in_orphans",
}


def become(uid: int) -> None:
    """Be an ordinary user for good."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    # A process that changed its user can't read its own /proc/self/fd until it is dumpable again.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def tests_to_run() -> Iterator[tuple[str, Callable[..., None]]]:
    """Every test that needs no more than a provider, a machine and a Python inside."""
    contract = MachineProviderContract()
    for owner in (contract, test_local_escape):
        for name in dir(owner):
            test = getattr(owner, name)
            if name.startswith("test_") and name not in _NEED_THE_INTERPRETER:
                wanted = set(inspect.signature(test).parameters)
                if wanted <= {"provider", "machine", "python"}:
                    yield name, test


def fixtures_for(test: Callable[..., None], root: Path) -> dict[str, object]:
    """What pytest would give this test."""
    provider = LocalProvider(root)
    wanted = set(inspect.signature(test).parameters)
    machine = awake(provider) if wanted & {"machine", "python"} else Ref("local", "one")

    def python(script: str) -> str:
        end, out, err = ran(
            provider, machine, "/usr/bin/python3", "-c", textwrap.dedent(script), timeout=20.0
        )
        assert end.code == 0, (end, out, err)
        return out.decode()

    everything = {"provider": provider, "machine": machine, "python": python}
    return {name: value for name, value in everything.items() if name in wanted}


def main(root: Path) -> int:
    os.chown(root, NOBODY, NOBODY)
    become(NOBODY)
    ran_so_far = failed = 0
    for name, test in tests_to_run():
        try:
            test(**fixtures_for(test, root / name))
            ran_so_far += 1
        except pytest.skip.Exception:
            continue
        except Exception:
            failed += 1
            print(name)
            traceback.print_exc(file=sys.stdout)
    print(f"{ran_so_far} kept, {failed} failed")
    return 1 if failed or ran_so_far < 80 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
