"""A sleeping local machine's wake to its check's first byte, beside a bare bubblewrap start."""

import shutil
import subprocess
from time import perf_counter

from django.conf import settings

from machines.access import provider_for
from machines.models import Machine
from machines.providers.base import Out
from routines_app.admission import Woken, put_to_sleep, wake_machine
from tests.bench.ground import Ground
from tests.bench.report import Result, median, milliseconds, percentile
from tests.bench.sizes import Sizes
from tests.factories import make_machine, make_workspace
from tests.tools import missing_tools

_CHECK = ["bash", "-c", "echo x"]


def measure(ground: Ground, sizes: Sizes) -> list[Result]:
    """Wakes and bare starts, alternating; falling asleep again isn't counted."""
    name = "wake of a sleeping local machine to its check's first byte"
    goal = "p95 at most 3 x a bare bubblewrap start"
    if "sandbox" in missing_tools():
        return [Result(name, goal, "", None, missing_tools()["sandbox"])]
    ground.use("wake")
    settings.MACHINES_ROOT = ground.folder / "machines"
    settings.MACHINES_ROOT.mkdir(mode=0o711, exist_ok=True)
    machine = make_machine(make_workspace(), provider="local")
    bare, ours = [], []
    for _ in range(sizes.wakes + 2):
        bare.append(_bare())
        ours.append(_wake(machine))
        put_to_sleep(machine, "It was idle.")
    provider, ref = provider_for(machine)
    provider.destroy(ref)
    bare, ours = bare[2:], ours[2:]
    numbers = {
        "bare_p50_s": median(bare),
        "bare_p95_s": percentile(bare, 0.95),
        "ours_p50_s": median(ours),
        "ours_p95_s": percentile(ours, 0.95),
    }
    ratio = numbers["ours_p95_s"] / numbers["bare_p95_s"]
    return [
        Result(
            name,
            goal,
            f"p50 {milliseconds(numbers['ours_p50_s'])} beside "
            f"{milliseconds(numbers['bare_p50_s'])}, p95 {milliseconds(numbers['ours_p95_s'])} "
            f"beside {milliseconds(numbers['bare_p95_s'])}: {ratio:.2f} x",
            ratio <= 3,
            "" if ratio <= 3 else _WHY,
            {**numbers, "ratio": ratio},
        )
    ]


_WHY = (
    "a wake is two transactions under the workspace's and the machine's lock, a third of the time; "
    "our box has twenty mounts where the bare one has three, a gate that holds the command until "
    "its processes are known, and so a second shell"
)


def _wake(machine: Machine) -> float:
    began = perf_counter()
    woken = wake_machine(machine, "Morning brief")
    assert isinstance(woken, Woken) and not woken.already, woken
    session = woken.provider.exec(woken.ref, "bench", _CHECK)
    events = session.events
    first = next(events)
    took = perf_counter() - began
    assert isinstance(first, Out) and first.data == b"x\n", first
    for _ in events:
        pass
    return took


def _bare() -> float:
    program = shutil.which("bwrap")
    assert program is not None
    command = [program, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/",
               "--proc", "/proc", "--dev", "/dev", *_CHECK]  # fmt: skip
    began = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert started.stdout.read(1) == b"x"
        return perf_counter() - began
