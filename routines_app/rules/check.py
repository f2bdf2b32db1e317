"""What a check's exit means. Source: reliability, decision 2.

0 carries on. 1 to 125 is "nothing to do". 126, 127, 128 and above, a signal the time limit
or a full disk is a failure.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from routines_app.rules.status import RunStatus

CHECK_SECONDS = 60.0
# A name is looked at from its first letter alone: stderr may be one word of any length.
_NOT_FOUND = re.compile(r"(?<![^\s:])([^\s:]++): (?:command not found|No such file or directory)")


@dataclass(frozen=True)
class CarryOn:
    """The check found something: the turn begins."""


@dataclass(frozen=True)
class EndHere:
    """The run ends with the check: nothing to do, or a failure."""

    status: RunStatus
    facts: dict[str, object] = field(default_factory=dict)


def read_check(
    exit_code: int,
    reason: Literal["exit", "timeout", "output", "oom", "disk", "cancelled"],
    output: str,
    stderr: str,
    seconds: float,
) -> CarryOn | EndHere:
    """What follows from how the check ended.

    A check cut at its output's bound has printed plenty: it found something.
    """
    facts: dict[str, object] = {"exit_code": exit_code, "check_seconds": round(seconds, 3)}
    last = last_line(stderr) or last_line(output)
    if last:
        facts["last_line"] = last
    if reason == "timeout":
        return EndHere(RunStatus.FAIL_CHECK_TIMEOUT, facts | {"limit_seconds": CHECK_SECONDS})
    if reason == "output" or (reason == "exit" and exit_code == 0):
        return CarryOn()
    if reason == "exit" and exit_code == 127:
        return EndHere(RunStatus.FAIL_CHECK_MISSING, facts | {"command": missing_command(stderr)})
    if reason == "exit" and exit_code == 126:
        return EndHere(RunStatus.FAIL_CHECK_DENIED, facts)
    if reason == "exit" and 1 <= exit_code <= 125:
        if stderr.strip():
            facts["printed"] = last_line(stderr)
        return EndHere(RunStatus.NOTHING_TO_DO, facts)
    if reason == "disk":
        facts["last_line"] = "The machine’s disk is full."
    return EndHere(RunStatus.FAIL_CHECK_CRASH, facts)


def last_line(text: str) -> str:
    """The last line that isn't empty, cut at 300 characters; "" when there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def missing_command(stderr: str) -> str:
    """The command that the shell didn't find, by its own message; "" when it isn't named.

    >>> missing_command("bash: line 1: gti: command not found")
    'gti'
    """
    found = _NOT_FOUND.search(stderr)
    return found.group(1)[:80] if found else ""
