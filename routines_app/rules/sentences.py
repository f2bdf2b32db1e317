"""Every status as a sentence: a lead, the rest, a second line and the one useful action.

The wording is the design guide's, section 5. The lead is what the bell, screen readers and
messages use. A test asks for the sentence of every member; a code that isn't known reads as
"Ended as …".
"""

from routines_app.rules.failures import failure
from routines_app.rules.money import dollars, lasted, took
from routines_app.rules.refusals import refusal
from routines_app.rules.said import (
    Act,
    RunFacts,
    Sentence,
    capital,
    files_words,
    full_stop,
    rounded,
    two,
)
from routines_app.rules.status import RunStatus

__all__ = ["Act", "RunFacts", "Sentence", "sentence_of"]


def sentence_of(status: str, facts: RunFacts) -> Sentence:
    """The sentence of a status code. Never empty, whatever the facts lack."""
    try:
        known = RunStatus(status)
    except ValueError:
        return Sentence("Ended", f'as "{status}". The log has the detail.', "Reported to us.")
    made = _made(known, facts)
    if facts.turned_off and known.failed:
        return Sentence(
            made.lead,
            made.rest,
            two(full_stop(made.second), "Fifth failure in a row: the routine turned itself off."),
            made.act,
        )
    return made


def _made(status: RunStatus, facts: RunFacts) -> Sentence:
    if not status.final:
        return _open(status, facts)
    if status.refused:
        return refusal(status, facts)
    if status.failed:
        return failure(status, facts)
    return _ended(status, facts)


_ORDINALS = ("First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth")


def _open(status: RunStatus, facts: RunFacts) -> Sentence:
    asked = f"Asked for {facts.asked}, {facts.source}." if facts.asked else ""
    match status:
        case RunStatus.QUEUED if 1 < facts.place <= len(_ORDINALS):
            rest = f"{_ORDINALS[facts.place - 1]} in line for {facts.machine}."
            return Sentence("Waiting.", rest, asked)
        case RunStatus.QUEUED:
            return Sentence("Waiting.", f"Next in line for {facts.machine}.", asked)
        case RunStatus.WAKING:
            usual = facts.usual_wake
            if facts.elapsed > max(2 * usual, 10) if usual else facts.elapsed > 40:
                return Sentence(
                    f"Waking {facts.machine}.",
                    second="Slower than usual. We’ll give up at 3 minutes.",
                )
            often = f"about {rounded(usual)}" if usual else "a moment"
            return Sentence(f"Waking {facts.machine}.", f"Usually {often}.")
        case RunStatus.CHECKING:
            return Sentence("Checking", "whether there is anything to do.", facts.command)
        case RunStatus.RUNNING:
            doing = facts.doing
            if doing.startswith("running "):  # "Running. Running make." says it twice
                doing = f"at {doing.removeprefix('running ')}"
            doing = f"{capital(doing)}." if doing else ""
            second = f"{dollars(facts.spent)} so far, {took(int(facts.elapsed))}."
            return Sentence("Running.", doing, second)
        case RunStatus.STOPPING:
            who = facts.person or "Somebody"
            return Sentence("Stopping.", f"{who} asked it to.")
        case _:
            raise AssertionError(f"{status} isn't open")


def _ended(status: RunStatus, facts: RunFacts) -> Sentence:
    match status:
        case RunStatus.DONE_CHANGED:
            changed = files_words(facts.files_changed)
            if facts.headline:
                return Sentence("Done.", full_stop(capital(facts.headline)), changed)
            return Sentence("Done.", two("It left no summary.", changed))
        case RunStatus.DONE_UNCHANGED:
            since = f" since {facts.since}" if facts.since else ""
            return Sentence("Nothing to report.", f"It looked, and nothing had changed{since}.")
        case RunStatus.NOTHING_TO_DO:
            exit_words = f"exit {facts.exit_code}" if facts.exit_code is not None else ""
            if facts.printed:
                exit_words = f"{exit_words}, and it printed an error"
            if facts.check_seconds is not None:
                exit_words = f"{exit_words}, {lasted(facts.check_seconds)}"
            so = "it didn’t go on" if facts.script else "no model was called"
            return Sentence("Nothing to do.", f"The check found nothing, so {so}.", exit_words)
        case RunStatus.STOP_PERSON:
            who = facts.person or "a person"
            after = f"after {lasted(facts.elapsed)}." if facts.elapsed else "before it began."
            return Sentence(f"Stopped by {who}", after, "What it had made was kept.")
        case RunStatus.STOP_DELETED:
            return Sentence("Stopped.", "The routine was deleted while it ran.")
        case _:
            raise AssertionError(f"{status} isn't an ending above the line")
