"""What went wrong with a run, as sentences: stopped by a limit, or failed."""

import re

from routines_app.rules.money import dollars, lasted, took
from routines_app.rules.said import (
    Act,
    RunFacts,
    Sentence,
    capital,
    full_stop,
    rounded,
    two,
    while_at,
)
from routines_app.rules.status import RunStatus

CHANGE = Act("edit_work", "Change what it does")

# Timeouts, errors of the provider's own, rate limits and broken streams; not a key that it doesn't
# take, a quota that is used up or a name that it doesn't know, which stay as they are.
_PASSES = re.compile(r"^(didn.t answer|turned it away|answered with an error|broke off)\b")

# The reason is the model's own word only where it said something; else it is ours, or the word of
# the library that asks and reads.
_SAID = ("said no", "turned it away", "answered with an error", "was sent more than it can read")


def failure(status: RunStatus, facts: RunFacts) -> Sentence:
    """The sentence of a failure. Raises AssertionError for a status that is none."""
    match status:
        case (
            RunStatus.FAIL_CHECK_MISSING
            | RunStatus.FAIL_CHECK_DENIED
            | RunStatus.FAIL_CHECK_TIMEOUT
            | RunStatus.FAIL_CHECK_CRASH
        ):
            return _check_failed(status, facts)
        case RunStatus.STOP_COST:
            at = f"Stopped at {dollars(facts.spent)} of {dollars(facts.cap)}{while_at(facts)}."
            second = "What it had written was kept."
            if facts.next_worst > facts.cap - facts.spent > 0:
                left = dollars(facts.cap - facts.spent)
                next_one = f"The next request could have cost {dollars(facts.next_worst)}"
                second = f"{second} {next_one}, and {left} was left, so it wasn’t sent."
            return Sentence("Hit its cost cap.", at, second, Act("raise_cap", "Raise the cap"))
        case RunStatus.STOP_TIME:
            limit = took(facts.limit_seconds) if facts.limit_seconds else lasted(facts.elapsed)
            if facts.variant == "steps":
                limit = "its last allowed step"
            return Sentence(
                "Ran out of time.",
                f"Stopped at {limit}{while_at(facts)}.",
                "What it had written was kept.",
                Act("allow_longer", "Allow longer"),
            )
        case RunStatus.FAIL_MODEL:
            what = facts.variant or "didn’t answer after three tries"
            rest = f"The model {full_stop(what)}"
            if facts.reason and facts.reason not in what:
                its = "It said: " if what.startswith(_SAID) else ""
                rest = f"{rest} {its}{full_stop(facts.reason)}"
            return Sentence("Failed.", rest, _kept(facts), act_of_model(what))
        case RunStatus.FAIL_TOOL:
            return _tool_refused(facts)
        case RunStatus.FAIL_SCRIPT:
            code = f"exit {facts.exit_code}" if facts.exit_code is not None else "an error"
            ended_by_us = facts.reason in ("output", "cancelled")
            return Sentence(
                "Failed.",
                "The script was ended." if ended_by_us else f"The script ended with {code}.",
                facts.last_line,
                Act("see_output", "See the output"),
            )
        case RunStatus.FAIL_AGENT:
            why = full_stop(facts.reason or "it gave no reason")
            return Sentence("Failed.", f"It said it couldn’t finish: {why}", act=CHANGE)
        case RunStatus.FAIL_RESTART:
            at = f" {rounded(int(facts.elapsed))} in" if facts.elapsed else ""
            back = f": the {dollars(facts.spent)} it had spent is refunded" if facts.spent else ""
            return Sentence(
                "Interrupted.",
                f"Our servers restarted{at}.",
                f"That’s on us{back}. What it wrote was kept. It wasn’t repeated, so nothing was "
                "posted twice.",
                Act("run_now", "Run it now"),
            )
        case RunStatus.FAIL_EMPTY:
            what = facts.variant or f"ran, spent {dollars(facts.spent)} and produced nothing"
            advice, act = _AFTER_NOTHING.get(facts.variant, (_SAY_WHAT, CHANGE))
            second = two(full_stop(facts.reason), advice)
            return Sentence("Failed.", f"It {full_stop(what)}", second, act)
        case RunStatus.FAIL_MACHINE:
            what = _MACHINE_TROUBLES.get(facts.variant, "stopped answering")
            reason = full_stop(facts.reason) if facts.reason else ""
            see = Act("start_machine", f"See {facts.machine}")
            at = f"{_named(facts)} {what}{while_at(facts)}."
            return Sentence("Failed.", at, reason, see)
        case RunStatus.FAIL_PLATFORM:
            what = facts.reason or "We couldn’t start it in three tries."
            return Sentence(
                "Failed.", f"{what} That’s on us.", "We’ve been told.", Act("run_now", "Run it now")
            )
        case _:
            raise AssertionError(f"{status} isn't a failure")


_SAY_WHAT = "Say in the task what it shall bring, and what to do when there is nothing."
_AFTER_NOTHING = {  # what to try after a run that "It {…}", and the act that goes with it
    "gave an empty answer": (
        "Another run often brings one. If it stays empty, choose another model.",
        Act("run_now", "Run it now"),
    ),
    "refused": (
        "Say in the task what it is for and what may be left out, or choose another model.",
        CHANGE,
    ),
    "was cut off": (
        "Ask for less at once, or have it write its result to a file piece by piece.",
        CHANGE,
    ),
    "repeated itself": (
        "Say in the task what to do when that doesn’t help, or make the task smaller.",
        CHANGE,
    ),
}


def act_of_model(what: str) -> Act:
    """What helps where "The model {what}": another run only where the trouble passes by itself."""
    if _PASSES.search(what):
        return Act("run_now", "Run it now")
    if what == "was sent more than it can read":
        return CHANGE
    return Act("models", "See the model")


def _kept(facts: RunFacts) -> str:
    """What is left of a run that ended in the middle; "" where that is nothing."""
    match facts.files_changed:
        case 0:
            return "What had come of its answer was kept." if facts.left_text else ""
        case 1:
            return "The file that it had changed was kept."
        case count:
            return f"The {count:,} files that it had changed were kept."


def _tool_refused(facts: RunFacts) -> Sentence:
    tool = facts.variant or "A tool"
    rest = f"{tool} refused: {full_stop(facts.reason or 'it gave no reason')}"
    kept = "What it had made was kept." if facts.doing else ""  # it was ended in the middle
    match facts.what:
        case "sign_in":
            return Sentence("Failed.", rest, kept, Act("apps", "Connect it"))
        case "app":
            return Sentence("Failed.", rest, kept, Act("apps", f"Open {tool}"))
        case "command":
            return Sentence("Failed.", rest, act=Act("see_output", "See the output"))
        case "machine":
            return Sentence("Failed.", rest, act=Act("start_machine", f"See {facts.machine}"))
        case _:
            return Sentence("Failed.", rest, act=CHANGE)


_MACHINE_TROUBLES = {
    "memory": "ran out of memory",
    "disk": "has no room left on its disk",
    "silent": "stopped answering",
    "refused": "refused",
}


def _check_failed(status: RunStatus, facts: RunFacts) -> Sentence:
    fix = Act("edit_check", "Fix the check")
    exit_words = f"exit {facts.exit_code}" if facts.exit_code is not None else ""
    last = facts.last_line
    match status:
        case RunStatus.FAIL_CHECK_MISSING:
            named = f" called “{facts.command}”" if facts.command else " that the check names"
            return Sentence("Failed.", f"{_named(facts)} has no command{named}.", exit_words, fix)
        case RunStatus.FAIL_CHECK_DENIED:
            return Sentence("Failed.", "The check isn’t allowed to run that file.", exit_words, fix)
        case RunStatus.FAIL_CHECK_TIMEOUT:
            limit = f"{facts.limit_seconds or 60:g} seconds"
            return Sentence("Failed.", f"The check was still going after {limit}.", last, fix)
        case _:
            return Sentence("Failed.", "The check crashed.", two(exit_words, last, ". "), fix)


def _named(facts: RunFacts) -> str:
    return capital(facts.machine) if facts.machine == "the machine" else facts.machine
