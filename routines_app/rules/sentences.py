"""Every status as a sentence: a lead, the rest, a second line and the one useful action.

The wording is the design guide's, section 5. The lead is what the bell, screen readers and
messages use. A test asks for the sentence of every member; a code that isn't known reads as
"Ended as …".
"""

from dataclasses import dataclass

from routines_app.rules.money import dollars, took
from routines_app.rules.status import RunStatus


@dataclass(frozen=True)
class Act:
    """The one useful action of a sentence. `code` names it for the page: run_now, edit_check,
    raise_cap, allow_longer, turn_on, see_run, start_machine, restore, choose_machine, models,
    see_output, see_failures, change_plan, apps.
    """

    code: str
    words: str


@dataclass(frozen=True)
class Sentence:
    """What a row says. `lead` ends with a full stop, or is carried on by `rest`."""

    lead: str
    rest: str = ""
    second: str = ""
    act: Act | None = None

    @property
    def text(self) -> str:
        """Lead and rest as one line."""
        return f"{self.lead} {self.rest}".strip()


@dataclass(frozen=True)
class RunFacts:
    """What the sentences are made of; times are already in words, for the reader's zone.

    Seconds for lengths, micro-dollars for money. What isn't known stays empty, and the sentence
    goes without it.
    """

    machine: str = "the machine"
    agent: str = "The agent"
    person: str = ""
    source: str = "by the schedule"  # "by the schedule", "by Ada"
    asked: str = ""  # "4 seconds ago"
    place: int = 0  # its place in the line for the machine, 1 is next
    spent: int = 0
    cap: int = 0
    elapsed: float = 0.0
    doing: str = ""  # what it was at: "running make test"
    command: str = ""
    exit_code: int | None = None
    check_seconds: float | None = None
    last_line: str = ""
    printed: str = ""  # what the check wrote to stderr
    reason: str = ""
    variant: str = ""
    since: str = ""
    headline: str = ""
    files_changed: int = 0
    other_run: str = ""  # "9:00"
    limit_seconds: float = 0.0
    plan: str = ""
    script: bool = False  # it runs a script, so that no model would have been called
    turned_off: bool = False  # this run's end turned the routine off


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
            _two(_stop(made.second), "Fifth failure in a row: the routine turned itself off."),
            made.act,
        )
    return made


def _made(status: RunStatus, facts: RunFacts) -> Sentence:
    if not status.final:
        return _open(status, facts)
    if status.refused:
        return _refusal(status, facts)
    if status.failed:
        return _failure(status, facts)
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
            if facts.elapsed > 40:
                return Sentence(
                    f"Waking {facts.machine}.",
                    second="Slower than usual. We’ll give up at 3 minutes.",
                )
            return Sentence(f"Waking {facts.machine}.", "Usually a moment.")
        case RunStatus.CHECKING:
            return Sentence("Checking", "whether there is anything to do.", facts.command)
        case RunStatus.RUNNING:
            doing = f"{_capital(facts.doing)}." if facts.doing else ""
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
            changed = _files(facts.files_changed)
            if facts.headline:
                return Sentence("Done.", _stop(_capital(facts.headline)), changed)
            return Sentence("Done.", _two("It left no summary.", changed))
        case RunStatus.DONE_UNCHANGED:
            since = f" since {facts.since}" if facts.since else ""
            return Sentence("Nothing to report.", f"It looked, and nothing had changed{since}.")
        case RunStatus.NOTHING_TO_DO:
            exit_words = f"exit {facts.exit_code}" if facts.exit_code is not None else ""
            if facts.printed:
                exit_words = f"{exit_words}, and it printed an error"
            if facts.check_seconds is not None:
                exit_words = f"{exit_words}, {took(round(facts.check_seconds, 1))}"
            so = "it didn’t go on" if facts.script else "no model was called"
            return Sentence("Nothing to do.", f"The check found nothing, so {so}.", exit_words)
        case RunStatus.STOP_PERSON:
            who = facts.person or "a person"
            after = f"after {took(int(facts.elapsed))}." if facts.elapsed else "before it began."
            return Sentence(f"Stopped by {who}", after, "What it had made was kept.")
        case RunStatus.STOP_DELETED:
            return Sentence("Stopped.", "The routine was deleted while it ran.")
        case _:
            raise AssertionError(f"{status} isn't an ending above the line")


def _refusal(status: RunStatus, facts: RunFacts) -> Sentence:
    lead = "Didn’t run."
    machine = facts.machine
    match status:
        case RunStatus.SKIP_OFF:
            by = f"By {facts.person}." if facts.person else ""
            return Sentence(lead, "The routine was turned off.", by, Act("turn_on", "Turn it on"))
        case RunStatus.SKIP_PAUSED:
            by = f"By {facts.person}." if facts.person else ""
            return Sentence(lead, "The workspace was paused.", by)
        case RunStatus.SKIP_AUTO_OFF:
            return Sentence(
                lead,
                "It turned itself off after five failures in a row.",
                act=Act("see_failures", "See what failed"),
            )
        case RunStatus.SKIP_BUDGET:
            rest = facts.reason or "The workspace’s budget for this month is spent."
            return Sentence(lead, rest, "Starts again next month, or raise it.")
        case RunStatus.SKIP_PLAN_COUNT:
            rest = facts.reason or "More routines are on than the plan covers."
            second = "Turn one off, or change plan."
            return Sentence(lead, rest, second, Act("change_plan", "Change plan"))
        case RunStatus.SKIP_PLAN_QUOTA:
            rest = facts.reason or "The plan’s runs for today are used."
            return Sentence(lead, rest, act=Act("change_plan", "Change plan"))
        case RunStatus.SKIP_COLD:
            return Sentence(
                lead, f"{machine} was in cold storage.", act=Act("restore", "Restore it")
            )
        case RunStatus.SKIP_WAKE_REFUSED:
            why = facts.reason or "the reason wasn’t given"
            return Sentence(
                lead,
                f"{machine} wasn’t allowed to start: {_stop(why)}",
                act=Act("start_machine", f"See {machine}"),
            )
        case RunStatus.SKIP_WAKE_TIMEOUT:
            return Sentence(
                lead,
                f"{machine} didn’t wake within 3 minutes.",
                "Our side. We’ve been told too.",
                Act("run_now", "Run it now"),
            )
        case RunStatus.SKIP_MACHINE_GONE:
            return Sentence(
                lead, f"{machine} has been deleted.", act=Act("choose_machine", "Choose another")
            )
        case RunStatus.SKIP_OVERLAP:
            other = f"The {facts.other_run} run" if facts.other_run else "The run before it"
            return Sentence(lead, f"{other} was still going.", act=Act("see_run", "See that run"))
        case RunStatus.SKIP_TOO_FREQUENT:
            return Sentence(lead, facts.reason or "It was asked again too soon.")
        case RunStatus.SKIP_MISSED:
            rest = facts.reason or "Our scheduler was down at that time."
            second = "" if rest.startswith("This computer") else "That’s on us."
            return Sentence(lead, rest, second, Act("run_now", "Run it now"))
        case RunStatus.SKIP_SUPERSEDED:
            return Sentence(
                lead,
                "A newer event took its place in the burst.",
                act=Act("see_run", "See the newer one"),
            )
        case RunStatus.SKIP_CHANGED:
            return Sentence(lead, "The schedule was changed while it waited.")
        case RunStatus.SKIP_WAITED:
            return Sentence(
                lead,
                facts.reason or "It waited for a place until its time had passed.",
                act=Act("see_run", "See what was running"),
            )
        case RunStatus.SKIP_NO_MODEL:
            why = facts.reason or "none is connected"
            return Sentence(
                lead,
                f"{facts.agent} has no model to use: {_stop(why)}",
                "Found before anything was spent.",
                Act("models", "Connect a model"),
            )
        case RunStatus.SKIP_CONNECTOR:
            app = facts.reason or "An app that it needs"
            return Sentence(lead, f"{app} isn’t connected.", act=Act("apps", "Connect it"))
        case RunStatus.FAIL_NO_GRANT:
            whose = f"{facts.person}’s approval" if facts.person else "The approval"
            return Sentence("Held back.", f"{whose} doesn’t cover where this now posts.")
        case _:
            raise AssertionError(f"{status} isn't a refusal")


def _failure(status: RunStatus, facts: RunFacts) -> Sentence:
    match status:
        case (
            RunStatus.FAIL_CHECK_MISSING
            | RunStatus.FAIL_CHECK_DENIED
            | RunStatus.FAIL_CHECK_TIMEOUT
            | RunStatus.FAIL_CHECK_CRASH
        ):
            return _check_failure(status, facts)
        case RunStatus.STOP_COST:
            at = f"Stopped at {dollars(facts.spent)} of {dollars(facts.cap)}{_while(facts)}."
            second = "What it had written was kept."
            return Sentence("Hit its cost cap.", at, second, Act("raise_cap", "Raise the cap"))
        case RunStatus.STOP_TIME:
            limit = took(facts.limit_seconds) if facts.limit_seconds else took(facts.elapsed)
            if facts.variant == "steps":
                limit = "its last allowed step"
            return Sentence(
                "Ran out of time.",
                f"Stopped at {limit}{_while(facts)}.",
                "What it had written was kept.",
                Act("allow_longer", "Allow longer"),
            )
        case RunStatus.FAIL_MODEL:
            what = facts.variant or "didn’t answer after three tries"
            rest = f"The model {_stop(what)}"
            if facts.reason and facts.reason not in what:
                rest = f"{rest} It said: {_stop(facts.reason)}"
            kept = "What it had read was kept."
            return Sentence("Failed.", rest, kept, Act("run_now", "Run it now"))
        case RunStatus.FAIL_TOOL:
            tool = facts.variant or "A tool"
            why = _stop(facts.reason or "it gave no reason")
            return Sentence("Failed.", f"{tool} refused: {why}")
        case RunStatus.FAIL_SCRIPT:
            code = f"exit {facts.exit_code}" if facts.exit_code is not None else "an error"
            return Sentence(
                "Failed.",
                f"The script ended with {code}.",
                facts.last_line,
                Act("see_output", "See the output"),
            )
        case RunStatus.FAIL_AGENT:
            why = _stop(facts.reason or "it gave no reason")
            return Sentence("Failed.", f"It said it couldn’t finish: {why}")
        case RunStatus.FAIL_RESTART:
            at = f" {took(facts.elapsed)} in" if facts.elapsed else ""
            return Sentence(
                "Interrupted.",
                f"Our servers restarted{at}.",
                "Kept what it wrote. Not repeated, so nothing is posted twice"
                + (
                    f"; the {dollars(facts.spent)} it had spent is refunded."
                    if facts.spent
                    else "."
                ),
                Act("run_now", "Run it now"),
            )
        case RunStatus.FAIL_EMPTY:
            what = facts.variant or f"ran, spent {dollars(facts.spent)} and produced nothing"
            return Sentence("Failed.", f"It {_stop(what)}")
        case RunStatus.FAIL_MACHINE:
            what = _MACHINE_TROUBLES.get(facts.variant, "stopped answering")
            reason = _stop(facts.reason) if facts.reason else ""
            return Sentence("Failed.", f"{facts.machine} {what}{_while(facts)}.", reason)
        case RunStatus.FAIL_PLATFORM:
            what = facts.reason or "We couldn’t start it in three tries."
            return Sentence(
                "Failed.", f"{what} That’s on us.", "We’ve been told.", Act("run_now", "Run it now")
            )
        case _:
            raise AssertionError(f"{status} isn't a failure")


_MACHINE_TROUBLES = {
    "memory": "ran out of memory",
    "disk": "has no room left on its disk",
    "silent": "stopped answering",
    "refused": "refused",
}


def _check_failure(status: RunStatus, facts: RunFacts) -> Sentence:
    fix = Act("edit_check", "Fix the check")
    exit_words = f"exit {facts.exit_code}" if facts.exit_code is not None else ""
    last = facts.last_line
    match status:
        case RunStatus.FAIL_CHECK_MISSING:
            named = f' called "{facts.command}"' if facts.command else " that the check names"
            return Sentence("Failed.", f"{facts.machine} has no command{named}.", exit_words, fix)
        case RunStatus.FAIL_CHECK_DENIED:
            return Sentence("Failed.", "The check isn’t allowed to run that file.", exit_words, fix)
        case RunStatus.FAIL_CHECK_TIMEOUT:
            limit = f"{facts.limit_seconds or 60:g} seconds"
            return Sentence("Failed.", f"The check was still going after {limit}.", last, fix)
        case _:
            return Sentence("Failed.", "The check crashed.", _two(exit_words, last, ". "), fix)


def _while(facts: RunFacts) -> str:
    return f" while {facts.doing}" if facts.doing else ""


def _files(count: int) -> str:
    match count:
        case 0:
            return ""
        case 1:
            return "Changed 1 file."
        case _:
            return f"Changed {count} files."


def _two(first: str, second: str, between: str = " ") -> str:
    return between.join(part for part in (first, second) if part)


def _stop(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
