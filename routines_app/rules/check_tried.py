"""What a tried check would have meant for a run, in words: "nothing to do, so no model …"."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from routines_app.rules.check import CHECK_SECONDS, CarryOn, missing_command, read_check
from routines_app.rules.status import RunStatus

ExitReason = Literal["exit", "timeout", "output", "oom", "disk", "cancelled"]

_ODD_EXIT = (
    "Only 0 and 1 are ordinary exits here. A run would read this one as “nothing to do”, and never"
    " ring, but many commands say an error of their own by it. Read what it printed."
)


class Meaning(StrEnum):
    """What a run would do after such a check."""

    GOES_ON = "goes_on"
    NOTHING = "nothing"
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Tried:
    """How the command ended, what that means, and a warning for any exit but 0 and 1.

    `problem`: what to fix before such a check is saved; "" when it may be.
    """

    ended: str
    meaning: Meaning
    said: str
    warning: str = ""
    problem: str = ""


def what_it_means(
    machine: str, exit_code: int, reason: ExitReason, output: str, stderr: str, seconds: float
) -> Tried:
    """The exit of a tried check in words; `seconds` is how long it took.

    >>> said = what_it_means("harbour-1", 1, "exit", "", "", 0.4)
    >>> said.ended, said.said
    ('exit 1, 0.4 s', 'nothing to do, so no model would be called')
    """
    read = read_check(exit_code, reason, output, stderr, seconds)
    ended = f"exit {exit_code}, {seconds:.1f} s"
    if isinstance(read, CarryOn):
        said = "it found something, so the work would begin"
        if reason == "output":
            return Tried(
                f"cut after {seconds:.1f} s", Meaning.GOES_ON, said,
                "It printed more than is read, so it was ended there. Have it print less.",
            )  # fmt: skip
        return Tried(ended, Meaning.GOES_ON, said)
    if read.status is RunStatus.NOTHING_TO_DO:
        said = "nothing to do, so no model would be called"
        return Tried(ended, Meaning.NOTHING, said, "" if exit_code == 1 else _ODD_EXIT)
    why, problem = _failure(machine, read.status, reason, stderr)
    if reason == "timeout":
        ended = f"still going after {CHECK_SECONDS:.0f} seconds"
    return Tried(ended, Meaning.FAILS, "a run would fail here, and ring", why, problem)


def _failure(machine: str, status: RunStatus, reason: ExitReason, stderr: str) -> tuple[str, str]:
    """Why it is a failure, and what to fix in the command itself ("" for what isn't its fault)."""
    match status:
        case RunStatus.FAIL_CHECK_MISSING:
            command = missing_command(stderr)
            called = f"called “{command}”" if command else "of that name"
            problem = (
                f"{machine} has no command {called}. Check the spelling, or leave it empty to "
                "always run."
            )
            return problem, problem
        case RunStatus.FAIL_CHECK_DENIED:
            problem = (
                "The check isn’t allowed to run that file. Make it executable, or run it by its "
                "program, such as bash."
            )
            return problem, problem
        case RunStatus.FAIL_CHECK_TIMEOUT:
            return f"A check has {CHECK_SECONDS:.0f} seconds. Ask it for less, or limit it.", ""
    if reason == "disk":
        return f"The disk of {machine} is full. Delete something on it first.", ""
    if reason == "oom":
        return f"It used more memory than {machine} has.", ""
    return "An exit of 128 or above is a failure: it crashed, or gave up as git does.", ""
