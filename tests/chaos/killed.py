"""The product killed before and after the commit of each step of a fire's life.

`python -m tests.chaos` prints the table for both ways to run it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.chaos.product import QUICK, Product, Topology, installed
from tests.fakes.model_provider import FakeProvider, Meter

RAN = {"done_changed"}
INTERRUPTED = {"fail_restart"}
REFUSED = {"skip_paused"}
GIVEN_UP = {"fail_platform"}


@dataclass(frozen=True)
class Case:
    """Where the product dies, with which kind of routine, how often, and what must come of it."""

    point: str
    kind: str
    expected: frozenset[str]
    times: int = 1
    unknown: str = ""  # how the open step's title begins

    @property
    def name(self) -> str:
        """As the command line takes it."""
        return f"{self.point}/{self.kind}" + (f"x{self.times}" if self.times > 1 else "")


def _cases() -> list[Case]:
    requeued = [
        *("scan.before", "scan.after", "doorbell.before", "doorbell.after"),
        *("claim.before", "claim.after", "admission.before", "hold.before", "hold.after"),
        *("admission.after", "wake.before", "wake.after", "effects.before"),
    ]
    interrupted = {
        "effects.after": "",
        "check.before": "echo check",
        "check.after": "",
        "model.before": "Asking the model",
        "model.after": "Asking the model",
        "tool.before": "echo turn",
        "tool.after": "",
        "bill.before": "",
        "record.before": "",
    }
    recorded = ["record.after", "deliver.before", "deliver.after"]
    found = [Case(point, "model", frozenset(RAN)) for point in [*requeued, *recorded]]
    found += [
        Case(point, "model", frozenset(INTERRUPTED), unknown=title)
        for point, title in interrupted.items()
    ]
    found += [
        Case(point, "script", frozenset(RAN))
        for point in ("claim.after", "effects.before", "record.after")
    ]
    found += [
        Case(point, "script", frozenset(INTERRUPTED), unknown=title)
        for point, title in {**interrupted, "tool.before": "bash .routine/run.sh"}.items()
        if not point.startswith("model.")
    ]
    found += [
        Case(point, "refused", frozenset(REFUSED))
        for point in ("claim.after", "record.before", "record.after")
    ]
    return [*found, Case("claim.after", "script", frozenset(GIVEN_UP), times=3)]


CASES = _cases()
SHARE = ["claim.after/model", "tool.before/script"]
"""The cases that every test run takes."""


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    case: Case
    status: str
    attempts: int
    starts: tuple[int, int, int]
    unknown: str
    seconds: float
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        step, _, phase = self.case.point.partition(".")
        how = "again" if self.attempts > 1 else "once"
        if self.status == "fail_restart":
            how = "interrupted" + (f", unknown: {self.unknown}" if self.unknown else "")
        check, turn, asked = self.starts
        times = f" x{self.case.times}" if self.case.times > 1 else ""
        return (
            f"{step + times:<13} {phase:<7} {self.case.kind:<8} {self.status:<13} "
            f"{check} {turn} {asked}   {self.seconds:5.1f}  {how:<38} "
            f"{'; '.join(self.wrong) or '-'}"
        )


HEAD = (
    f"{'step':<13} {'killed':<7} {'routine':<8} {'row':<13} starts* {'s':>4}  {'outcome':<38} wrong"
)


def table(topology: Topology, names: Sequence[str] = ()) -> int:
    """Run the cases (all when none is named) and print the table; the number of violations."""
    chosen = [case for case in CASES if not names or case.name in names]
    assert chosen and len(chosen) >= len(set(names)), f"no such cases: {names}"
    began = time.monotonic()
    with (
        FakeProvider((), Meter(bytes_per_token=2.5)) as fake,
        installed(topology, **QUICK) as product,
    ):
        from tests.chaos.rows import Town

        town = Town(fake)
        print(f"\n{topology}: killed at each step\n{HEAD}", flush=True)
        done, wrong = [], 0
        for case in chosen:
            due = town.due(case.kind)  # type: ignore[arg-type]
            line = _killed(product, case, due)
            print(line, flush=True)
            wrong += len(line.wrong)
            done.append((case, due))
        for case, due in done:
            late = due.violations(set(case.expected))
            if late:
                print(f"At the end, {case.name}: {'; '.join(late)}")
            wrong += len(late)
    print(
        f"{topology}: {len(chosen)} cases, {wrong} violations, {time.monotonic() - began:.0f} s\n"
        "* starts of its check, of its turn's command, of its first model request",
        flush=True,
    )
    return wrong


def _killed(product: Product, case: Case, due: object) -> Line:
    from tests.chaos.rows import Due, comes_true

    assert isinstance(due, Due)
    began = time.monotonic()
    wrong: list[str] = []
    product.arm(case.point)
    due.fire()
    for left in reversed(range(case.times)):
        if not comes_true(product.died.exists, 40):
            wrong.append("nothing died")
            product.failpoint.unlink(missing_ok=True)
            break
        if left:
            product.arm(case.point)
        product.bring_back()
    if not comes_true(due.is_over, 60):
        wrong.append("it isn't over")
    run = due.row()
    wrong += due.violations(set(case.expected))
    unknown = due.unknown()
    if not unknown.startswith(case.unknown) or bool(unknown) != bool(case.unknown):
        wrong.append(f"the open step is {unknown!r}")
    return Line(
        case,
        run.status if run else "no row",
        run.attempt if run else 0,
        due.starts(),
        unknown.splitlines()[0] if unknown else "",
        time.monotonic() - began,
        tuple(wrong),
    )
